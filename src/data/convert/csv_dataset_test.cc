#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/testing/dataset_fixture.h"

namespace kin::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kTricky =
    "\xef\xbb\xbfid,text,\"a \"\"note\"\"\"\r\n"
    "007,plain,\r\n"
    "008,\"two\nlines, and a comma\",\"x \"\"quoted\"\" y\"\r\n"
    "\r\n"
    "009,in\"side, spaced \r\n"
    "\"\",\"\",last";

TEST(CsvDataset, HandsOutValuesAsTheirText) {
  TestFolder folder;
  auto dataset = open_dataset({folder.write("a.csv", kTricky)}).value();
  EXPECT_THAT(dataset->columns().value(), ElementsAre("id", "text", "a \"note\""));
  const auto seen =
      scan_all(*dataset, {.columns = {"id", "text", "a \"note\""}, .threads = 2}).value();
  EXPECT_THAT(seen.values.at(0), ElementsAre("007", "plain", ""));
  EXPECT_THAT(seen.values.at(1), ElementsAre("008", "two\nlines, and a comma", "x \"quoted\" y"));
  EXPECT_THAT(seen.values.at(2), ElementsAre("009", "in\"side", " spaced "));
  EXPECT_THAT(seen.values.at(3), ElementsAre("", "", "last"));
  EXPECT_THAT(seen.where.at(1), testing::EndsWith("a.csv:3"));
  EXPECT_THAT(seen.where.at(2), testing::EndsWith("a.csv:6"));
  EXPECT_EQ(dataset->rows(), 4);
}

TEST(CsvDataset, PassesRecordsByteForByte) {
  TestFolder folder;
  auto dataset = open_dataset({folder.write("a.csv", kTricky)}).value();
  ASSERT_TRUE(dataset->write(keep_rows(4, {1, 3}), folder.path("out.csv"), 2).ok());
  EXPECT_EQ(folder.read("out.csv"),
            "id,text,\"a \"\"note\"\"\"\r\n008,\"two\nlines, and a comma\",\"x \"\"quoted\"\" "
            "y\"\r\n\"\",\"\",last\n");
}

TEST(CsvDataset, KeepsEmptyValuesOfTsv) {
  TestFolder folder;
  auto dataset = open_dataset({folder.write("a.tsv", "a\tb\n\t\nx, y\t\"q\tr\"\n \t \n")}).value();
  const auto seen = scan_all(*dataset, {.columns = {"a", "b"}, .threads = 1}).value();
  EXPECT_THAT(seen.values.at(0), ElementsAre("", ""));
  EXPECT_THAT(seen.values.at(1), ElementsAre("x, y", "q\tr"));
  EXPECT_THAT(seen.values.at(2), ElementsAre(" ", " "));
}

TEST(CsvDataset, WritesOneHeaderForSeveralFilesAndTheSameBytesWithAnyThreads) {
  TestFolder folder;
  std::string body;
  for (int i = 0; i < 60'000; ++i) {
    body += fmt::format("{},\"text {}{}\nmore \"\"{}\"\"\"\n", i, i,
                        std::string(static_cast<std::size_t>(i % 40), 'z'), i);
  }
  const std::string a = folder.write("a.csv", "id,text\n" + body);
  const std::string b = folder.write("b.csv", "id,text\n" + body);
  auto dataset = open_dataset({a, b}).value();
  const auto one = scan_all(*dataset, {.columns = {"id", "text"}, .threads = 1}).value();
  const auto four = scan_all(*dataset, {.columns = {"id", "text"}, .threads = 4}).value();
  EXPECT_EQ(one.visits, 120'000);
  EXPECT_TRUE(one.values == four.values);
  EXPECT_EQ(one.values.at(60'001)[1], "text 1z\nmore \"1\"");
  EXPECT_THAT(one.where.at(60'001), testing::EndsWith("b.csv:4"));
  for (const int threads : {1, 4}) {
    ASSERT_TRUE(
        dataset
            ->write(RecordSet(120'000, true), folder.path(fmt::format("o{}.csv", threads)), threads)
            .ok());
    ASSERT_TRUE(dataset
                    ->write(RecordSet(120'000, true),
                            folder.path(fmt::format("o{}.csv.gz", threads)), threads)
                    .ok());
  }
  EXPECT_TRUE(folder.read("o1.csv") == "id,text\n" + body + body);
  EXPECT_TRUE(folder.read("o4.csv") == folder.read("o1.csv"));
  EXPECT_TRUE(folder.read("o4.csv.gz") == folder.read("o1.csv.gz"));
  auto packed = open_dataset({folder.path("o1.csv.gz").string()}).value();
  EXPECT_TRUE(scan_all(*packed, {.columns = {"id", "text"}, .threads = 4})->values == one.values);
}

TEST(CsvDataset, GoesOnWhereAScanPaused) {
  TestFolder folder;
  std::string body = "id,text\n";
  for (int i = 0; i < 50'000; ++i)
    body += fmt::format("{},\"text\n{}{}\"\n", i, i, std::string(60, 'z'));
  const std::string a = folder.write("a.csv", body);
  const auto whole =
      scan_all(*open_dataset({a}).value(), {.columns = {"id"}, .threads = 2}).value();
  Seen all;
  Position position;
  bool finished = false;
  int parts = 0;
  for (; !finished; ++parts) {
    int asked = 0;
    auto part = scan_all(*open_dataset({a}).value(), {.columns = {"id"},
                                                      .threads = 2,
                                                      .start = position,
                                                      .pause = [&] { return ++asked > 2; }})
                    .value();
    all.values.merge(part.values);
    all.where.merge(part.where);
    all.visits += part.visits;
    position = part.end.position;
    finished = part.end.finished;
  }
  EXPECT_GT(parts, 1);
  EXPECT_EQ(all.visits, 50'000);
  EXPECT_TRUE(all.values == whole.values);
  EXPECT_TRUE(all.where == whole.where);
}

std::string error_of(const TestFolder& folder, std::string_view bytes,
                     const std::string& column = "text") {
  auto dataset = open_dataset({folder.write("bad.csv", bytes)});
  if (!dataset) return dataset.error().message;
  const auto seen = scan_all(**dataset, {.columns = {column}, .threads = 1});
  return seen ? "no error" : seen.error().message;
}

TEST(CsvDataset, NamesFileLineAndReasonOfWhatIsWrong) {
  TestFolder folder;
  EXPECT_THAT(
      error_of(folder, "id,text\n1,a\n2\n"),
      HasSubstr("bad.csv:3: malformed record: it has 1 values, but the header names 2 columns"));
  EXPECT_THAT(error_of(folder, "id,text\n1,\"a\nb\"\n2,\"x\"y\n"),
              HasSubstr("bad.csv:4: malformed record: something follows a closing quote"));
  EXPECT_THAT(error_of(folder, "id,text\n1,\"open\nand on\n"),
              HasSubstr("bad.csv:2: malformed record: a quoted value is not closed"));
  EXPECT_THAT(error_of(folder, "id,text\n1,\xff\n"),
              HasSubstr("bad.csv:2: malformed record: it is not valid UTF-8"));
  EXPECT_THAT(
      error_of(folder, "id,body\n1,a\n"),
      HasSubstr("bad.csv: column \"text\" is missing (use --field); the header names: id, body"));
  EXPECT_THAT(error_of(folder, ""), HasSubstr("bad.csv is empty: it has no header line"));
  EXPECT_THAT(error_of(folder, "id,text\n"), HasSubstr("bad.csv: there are no records"));
}

TEST(CsvDataset, LosesOnlyTheLineOfAStrayQuote) {
  TestFolder folder;
  for (const std::string name : {"a.csv", "a.tsv"}) {
    std::string body = "id,text\n0,\"two\nlines\"\n1,\"stray\n";
    for (int i = 2; i < 40'000; ++i) body += fmt::format("{},text {} and {}\n", i, i, i * 7);
    if (name == "a.tsv") std::replace(body.begin(), body.end(), ',', '\t');
    for (const int threads : {1, 4}) {
      auto dataset = open_dataset({folder.write(name, body)}).value();
      const auto seen = scan_all(
          *dataset, {.columns = {"id", "text"}, .threads = threads, .on_error = OnError::kSkip});
      ASSERT_TRUE(seen.ok());
      EXPECT_EQ(dataset->rows(), 40'000);
      ASSERT_EQ(dataset->skipped().count, 1);
      EXPECT_THAT(dataset->skipped().messages[0].second,
                  HasSubstr(name + ":4: malformed record: a quoted value is not closed"));
      EXPECT_THAT(seen->values.at(39'999), ElementsAre("39999", "text 39999 and 279993"));
      EXPECT_THAT(seen->where.at(2), testing::EndsWith(name + ":5"));
    }
  }
}

TEST(CsvDataset, TakesAQuotedValueOfMoreThan64MegabytesForAStrayQuote) {
  TestFolder folder;
  const std::string line = "1," + std::string(1 << 20, 'x') + "\n";
  std::string body = "id,text\n0,\"stray\n";
  for (int i = 0; i < 70; ++i) body += line;
  body += "2,\"closed\"\n";
  auto dataset = open_dataset({folder.write("a.csv", body)}).value();
  const auto seen =
      scan_all(*dataset, {.columns = {"id"}, .threads = 2, .on_error = OnError::kSkip}).value();
  EXPECT_EQ(dataset->rows(), 72);
  EXPECT_EQ(dataset->skipped().count, 1);
  EXPECT_THAT(seen.values.at(71), ElementsAre("2"));
}

}  // namespace
}  // namespace kin::data
