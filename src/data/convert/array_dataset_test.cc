// JSON arrays as datasets.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/testing/dataset_fixture.h"

namespace kin::data {
namespace {

using testing::HasSubstr;

std::string error_of(const TestFolder& folder, const std::string& bytes) {
  const auto dataset = open_dataset({folder.write("bad.json", bytes)});
  if (!dataset) return dataset.error().message;
  const auto seen = scan_all(**dataset, {.columns = {"text"}});
  return seen ? "no error" : seen.error().message;
}

TEST(ArrayDataset, ReadsTheElementsAsRecords) {
  TestFolder folder;
  const std::string bytes =
      "[\n  {\n    \"text\": \"a, ] } \\\" b\",\n    \"n\": [1, {}]\n  }\n  ,\n"
      "  {\"text\":\"c\"},{\"text\":\"d\"}\n]\n";
  auto dataset = open_dataset({folder.write("a.json", bytes)}).value();
  const auto seen = scan_all(*dataset, {.columns = {"text"}}).value();
  ASSERT_EQ(seen.values.size(), 3);
  EXPECT_EQ(seen.values.at(0)[0], "a, ] } \" b");
  EXPECT_EQ(seen.values.at(2)[0], "d");
  EXPECT_EQ(seen.where.at(1), folder.path("a.json").string() + ": row 1");
}

TEST(ArrayDataset, GoesToLinesByteForByteAndBackToAnArray) {
  TestFolder folder;
  const std::string a = folder.write("a.json", "[{\"b\" : 1.0,\"a\":\"\\u0041\"},\n{\"c\":\n2}]");
  const std::string b = folder.write("b.json", " [ ] ");
  auto dataset = open_dataset({a, b}).value();
  ASSERT_TRUE(dataset->write(RecordSet(2, true), folder.path("out.jsonl"), 2).ok());
  EXPECT_EQ(folder.read("out.jsonl"), "{\"b\" : 1.0,\"a\":\"\\u0041\"}\n{\"c\": 2}\n");
  ASSERT_TRUE(dataset->write(RecordSet(2, true), folder.path("out.json"), 2).ok());
  EXPECT_EQ(folder.read("out.json"), "[\n{\"b\" : 1.0,\"a\":\"\\u0041\"},\n{\"c\": 2}\n]\n");
  ASSERT_TRUE(dataset->write(keep_rows(2, {1}), folder.path("one.json"), 2).ok());
  EXPECT_EQ(folder.read("one.json"), "[\n{\"c\": 2}\n]\n");
  ASSERT_TRUE(dataset->write(RecordSet(2), folder.path("none.json"), 1).ok());
  EXPECT_EQ(folder.read("none.json"), "[\n]\n");
  const std::string lines = folder.write("c.json", "{\"d\":3}\n");
  auto mixed = open_dataset({a, lines}).value();
  ASSERT_TRUE(mixed->write(RecordSet(3, true), folder.path("mixed.json"), 1).ok());
  EXPECT_EQ(folder.read("mixed.json"), "{\"b\" : 1.0,\"a\":\"\\u0041\"}\n{\"c\": 2}\n{\"d\":3}\n");
}

TEST(ArrayDataset, ContinuesWhereAScanPaused) {
  TestFolder folder;
  std::string bytes = "[";
  for (int i = 0; i < 40'000; ++i)
    bytes += fmt::format("{}{{\"text\": \"number {}\"}}",
                         i == 0       ? ""
                         : i % 3 == 0 ? " ,\n"
                                      : ",",
                         i);
  const std::string path = folder.write("a.json", bytes + "]");
  Position at;
  std::uint32_t rows = 0;
  for (bool finished = false; !finished;) {
    auto dataset = open_dataset({path}).value();
    int asked = 0;
    const auto seen =
        scan_all(*dataset, {.columns = {"text"}, .start = at, .pause = [&] { return ++asked > 2; }})
            .value();
    for (const auto& [row, values] : seen.values) {
      EXPECT_EQ(row, rows);
      EXPECT_EQ(values[0], fmt::format("number {}", rows));
      ++rows;
    }
    at = seen.end.position;
    finished = seen.end.finished;
  }
  EXPECT_EQ(rows, 40'000);
}

TEST(ArrayDataset, NamesTheByteOfWhatIsWrong) {
  TestFolder folder;
  EXPECT_THAT(error_of(folder, "[{\"text\":\"a\"} {}]"),
              HasSubstr("bad.json: byte 14: a comma or ] is missing in the array"));
  EXPECT_THAT(error_of(folder, "[{\"text\":\"a\"},]"), HasSubstr("an element is missing"));
  EXPECT_THAT(error_of(folder, "[{\"text\":\"a\"}"), HasSubstr("the array has no end"));
  EXPECT_THAT(error_of(folder, "[{\"text\":\"a\"}] x"), HasSubstr("something follows the array"));
  EXPECT_THAT(error_of(folder, "[{\"text\":\"a\"}, 7]"),
              HasSubstr("bad.json: row 1, byte 15: malformed JSON: it is not an object"));
  EXPECT_THAT(error_of(folder, "[{\"text\":\"a\nb\"}]"), HasSubstr("a control character"));
  EXPECT_THAT(error_of(folder, "[]"), HasSubstr("there are no records"));
}

}  // namespace
}  // namespace kin::data
