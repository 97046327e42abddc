// RecordEdits in text outputs.
#include "data/edits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/testing/dataset_fixture.h"

namespace kin::data {
namespace {

using testing::HasSubstr;

// Adds a column of each type; replaces texts that begin with "old".
class TestEdits : public RecordEdits {
 public:
  explicit TestEdits(std::vector<std::string> replaced) : replaced_(std::move(replaced)) {}
  const std::vector<Column>& added() const override { return added_; }
  std::optional<Value> added_value(std::size_t column, RecordId record) const override {
    if (column == 0) return static_cast<std::int64_t>(row_number(record));
    if (column == 1) return 0.5;
    if (column == 2) return row_number(record) == 0;
    if (row_number(record) == 1) return {};
    return "q\"," + std::to_string(row_number(record));
  }
  const std::vector<std::string>& replaced() const override { return replaced_; }
  Result<bool> replace(std::size_t, RecordId, std::string_view old,
                       std::string& text) const override {
    if (!old.starts_with("old")) return false;
    text = "new, \"" + std::string(old.substr(3)) + "\n";
    return true;
  }

 private:
  std::vector<Column> added_{
      {"i", Type::kInteger}, {"r", Type::kReal}, {"t", Type::kBoolean}, {"s", Type::kText}};
  std::vector<std::string> replaced_;
};

Status write(Dataset& dataset, std::size_t rows, const std::filesystem::path& output,
             const RecordEdits& edits) {
  KIN_TRY(auto staged,
          dataset.write_staged(RecordSet(rows, true), output, {.threads = 2, .edits = &edits}));
  return staged.first.commit();
}

constexpr const char* kLines =
    "{ \"a\" : 1.0, \"m\": {\"text\":\"old\\u0041\" , \"x\":NaN}}\r\n"
    "{\"m\":{\"text\":\"keep\"}}\n"
    "{}\n";

TEST(Edits, ChangeNothingElseInAJsonRecord) {
  TestFolder folder;
  auto dataset = open_dataset({folder.write("a.jsonl", kLines)}).value();
  ASSERT_TRUE(write(*dataset, 3, folder.path("out.jsonl"), TestEdits({"m.text"})).ok());
  EXPECT_EQ(
      folder.read("out.jsonl"),
      "{ \"a\" : 1.0, \"m\": {\"text\":\"new, \\\"A\\n\" , \"x\":NaN},\"i\":0,\"r\":0.5,\"t\":true,"
      "\"s\":\"q\\\",0\"}\r\n"
      "{\"m\":{\"text\":\"keep\"},\"i\":1,\"r\":0.5,\"t\":false,\"s\":null}\n"
      "{\"i\":2,\"r\":0.5,\"t\":false,\"s\":\"q\\\",2\"}\n");
}

TEST(Edits, ChangeNothingElseInACsvRecord) {
  TestFolder folder;
  auto dataset =
      open_dataset({folder.write("a.csv", "text,\"x\"\r\nold1,\"1\"\r\nkeep, 2\r\n")}).value();
  ASSERT_TRUE(write(*dataset, 2, folder.path("out.csv"), TestEdits({"text"})).ok());
  EXPECT_EQ(folder.read("out.csv"),
            "text,\"x\",i,r,t,s\r\n"
            "\"new, \"\"1\n\",\"1\",0,0.5,true,\"q\"\",0\"\r\n"
            "keep, 2,1,0.5,false,\r\n");
}

TEST(Edits, EndTheLastLineOfAFileThatOthersFollow) {
  TestFolder folder;
  const std::string first = folder.write("a.jsonl", "{\"text\":\"old1\"}");
  auto dataset = open_dataset({first, folder.write("b.jsonl", "{\"text\":\"old2\"}")}).value();
  ASSERT_TRUE(write(*dataset, 2, folder.path("out.jsonl"), TestEdits({"text"})).ok());
  auto written = open_dataset({folder.path("out.jsonl").string()}).value();
  const auto seen = scan_all(*written, {.columns = {"i"}}).value();
  ASSERT_EQ(seen.values.size(), 2);
  EXPECT_EQ(seen.values.at(1)[0], "1");
}

TEST(Edits, GoThroughConversions) {
  TestFolder folder;
  auto csv = open_dataset({folder.write("a.csv", "text\nold1\nb\n")}).value();
  const TestEdits edits({"text"});
  ASSERT_TRUE(write(*csv, 2, folder.path("a.jsonl"), edits).ok());
  EXPECT_EQ(folder.read("a.jsonl"),
            "{\"text\":\"new, \\\"1\\n\",\"i\":0,\"r\":0.5,\"t\":true,\"s\":\"q\\\",0\"}\n"
            "{\"text\":\"b\",\"i\":1,\"r\":0.5,\"t\":false,\"s\":null}\n");
  ASSERT_TRUE(write(*csv, 2, folder.path("a.tsv"), edits).ok());
  EXPECT_EQ(folder.read("a.tsv"),
            "text\ti\tr\tt\ts\n\"new, \"\"1\n\"\t0\t0.5\ttrue\t\"q\"\",0\"\nb\t1\t0.5\tfalse\t\n");
  for (const char* from : {"a.csv", "b.jsonl"}) {
    folder.write("b.jsonl", "{\"text\":\"old1\"}\n{\"text\":\"b\"}\n");
    auto dataset = open_dataset({folder.path(from).string()}).value();
    const std::string name = std::string(from) + ".parquet";
    ASSERT_TRUE(write(*dataset, 2, folder.path(name), edits).ok());
    auto parquet = open_dataset({folder.path(name).string()}).value();
    EXPECT_EQ(parquet->columns().value(), (std::vector<std::string>{"text", "i", "r", "t", "s"}));
    const auto seen = scan_all(*parquet, {.columns = {"text", "i", "t", "s"}}).value();
    EXPECT_EQ(seen.values.at(0)[0], "new, \"1\n");
    EXPECT_EQ(seen.values.at(1)[1], "1");
    EXPECT_EQ(seen.values.at(0)[2], "true");
    EXPECT_EQ(seen.values.at(1)[3], std::nullopt);
  }
}

TEST(Edits, RefuseAColumnThatIsThereAndTextsInLists) {
  TestFolder folder;
  auto json = open_dataset({folder.write("a.jsonl", "{\"text\":\"a\"}\n{\"i\":1}\n")}).value();
  const Status there = write(*json, 2, folder.path("out.jsonl"), TestEdits({"text"}));
  ASSERT_FALSE(there.ok());
  EXPECT_THAT(there.error().message, HasSubstr("a.jsonl:2: the record has a field \"i\" already"));
  const Status list = write(*json, 2, folder.path("out.jsonl"), TestEdits({"m[].text"}));
  ASSERT_FALSE(list.ok());
  EXPECT_THAT(list.error().message, HasSubstr("m[].text cannot be replaced"));
}

}  // namespace
}  // namespace kin::data
