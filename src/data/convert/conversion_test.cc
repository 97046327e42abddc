#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/testing/parquet_fixture.h"

namespace kin::data {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Conversion : public ParquetTest {
 protected:
  // Writes `rows` of the dataset of `inputs` to `output` and returns the notes.
  std::vector<std::string> convert(const std::vector<std::string>& inputs,
                                   const std::string& output,
                                   const std::vector<std::uint32_t>& rows) {
    auto dataset = open_dataset(inputs);
    if (!dataset) return {dataset.error().message};
    auto report = (*dataset)->write(keep_rows(100, rows), folder.path(output), 2);
    if (!report) return {"error: " + report.error().message};
    EXPECT_EQ(report->bytes, std::filesystem::file_size(folder.path(output)));
    return report->notes;
  }
  std::string make_parquet(const std::string& select) { return make("a.parquet", select); }
};

TEST_F(Conversion, JsonlToCsvWritesJsonTextForNestedValues) {
  const std::string a =
      folder.write("a.jsonl",
                   "{\"id\":1.50,\"text\":\"a, \\\"b\\\"\\n\",\"meta\":{\"k\":[1]}}\n"
                   "{\"dropped\":1}\n"
                   "{\"new\":true,\"id\":null,\"text\":\"{not nested}\"}\n");
  const auto notes = convert({a}, "out.csv", {0, 2});
  EXPECT_EQ(
      folder.read("out.csv"),
      "id,text,meta,new\n1.50,\"a, \"\"b\"\"\n\",\"{\"\"k\"\":[1]}\",\n,{not nested},,true\n");
  EXPECT_THAT(notes, ElementsAre("CSV has no nesting: column `meta` was written as JSON text",
                                 HasSubstr("no types and no nulls")));
}

TEST_F(Conversion, CsvToJsonlWritesStrings) {
  const std::string a = folder.write("a.csv", "id,text\n007,\"a \"\"b\"\"\nc\"\n008,\n");
  EXPECT_THAT(convert({a}, "out.jsonl", {0, 1}),
              ElementsAre("CSV has no types: every value was written as a string"));
  EXPECT_EQ(folder.read("out.jsonl"),
            "{\"id\":\"007\",\"text\":\"a \\\"b\\\"\\nc\"}\n{\"id\":\"008\",\"text\":\"\"}\n");
}

TEST_F(Conversion, CsvToTsvAndBackLosesNothing) {
  const std::string a = folder.write("a.csv", "id,\"te\txt\"\n1,\"a, b\"\n2,\"tab\there\"\n");
  EXPECT_THAT(convert({a}, "out.tsv", {0, 1}), IsEmpty());
  EXPECT_EQ(folder.read("out.tsv"), "id\t\"te\txt\"\n1\ta, b\n2\t\"tab\there\"\n");
  EXPECT_THAT(convert({folder.path("out.tsv").string()}, "back.csv", {0, 1}), IsEmpty());
  EXPECT_EQ(folder.read("back.csv"), "id,te\txt\n1,\"a, b\"\n2,tab\there\n");
}

TEST_F(Conversion, CsvToTsvKeepsAnEmptyFirstName) {
  const std::string a = folder.write("a.csv", ",text\n0,a\n");
  EXPECT_THAT(convert({a}, "out.tsv", {0}), IsEmpty());
  EXPECT_EQ(folder.read("out.tsv"), "\ttext\n0\ta\n");
}

TEST_F(Conversion, JsonlToParquetKeepsTheOrderOfLongRecords) {
  std::string lines;
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < 60; ++row) {
    rows.push_back(row);
    lines += fmt::format("{{\"id\":{},\"text\":\"{}\"}}\n", row,
                         std::string(row % 3 == 0 ? 10 : 500'000 + row, 'x'));
  }
  const std::string a = folder.write("a.jsonl", lines);
  ASSERT_THAT(convert({a}, "out.parquet", rows), ElementsAre(HasSubstr("one schema")));
  convert({folder.path("out.parquet").string()}, "back.jsonl", rows);
  EXPECT_TRUE(folder.read("back.jsonl") == lines);
}

TEST_F(Conversion, JsonlToParquetKeepsDatesAndLongNumbersAsText) {
  const std::string a =
      folder.write("a.jsonl",
                   "{\"id\":1,\"at\":\"2024-01-01\",\"meta\":{\"DATE\":\"2024-01-01 "
                   "10:00:00\",\"n\":[1,2]},\"big\":123456789012345678901234567890}\n"
                   "{\"id\":2,\"text\":\"x\",\"mixed\":1}\n"
                   "{\"id\":3,\"mixed\":\"a\",\"big\":5}\n");
  const auto notes = convert({a}, "out.parquet", {0, 1, 2});
  EXPECT_EQ(ask("SELECT id, \"at\", meta::VARCHAR, text, mixed, big FROM " + from("out.parquet")),
            "1|2024-01-01|{'DATE': '2024-01-01 10:00:00', 'n': [1, "
            "2]}|NULL|NULL|123456789012345678901234567890|\n"
            "2|NULL|NULL|x|1|NULL|\n3|NULL|NULL|NULL|\"a\"|5|\n");
  EXPECT_EQ(ask("SELECT typeof(\"at\"), typeof(meta.\"DATE\"), typeof(id) FROM " +
                from("out.parquet") + " LIMIT 1"),
            "VARCHAR|VARCHAR|BIGINT|\n");
  EXPECT_THAT(notes, Contains(HasSubstr("`mixed` holds values of different types")));
  EXPECT_THAT(notes, Contains(HasSubstr("`big` has numbers that do not fit 64 bits")));
  EXPECT_THAT(notes, Contains(HasSubstr("one schema for all records")));
}

TEST_F(Conversion, JsonlToParquetRefusesKeysThatDifferOnlyInCase) {
  const std::string a = folder.write("a.jsonl", "{\"ID\":1,\"text\":\"x\"}\n{\"id\":2}\n");
  EXPECT_THAT(convert({a}, "out.parquet", {0, 1}),
              ElementsAre(HasSubstr("the keys \"ID\" and \"id\" differ only in case")));
  EXPECT_FALSE(std::filesystem::exists(folder.path("out.parquet")));
  const std::string b =
      folder.write("b.jsonl", "{\"m\":{\"A\":1,\"a\":2}}\n{\"m\":{\"b\":0.10}}\n");
  EXPECT_THAT(convert({b}, "out.parquet", {0, 1}),
              Contains(HasSubstr("`m` has an object with keys that differ only in case")));
  EXPECT_EQ(ask("SELECT m FROM " + from("out.parquet")), "{\"A\":1,\"a\":2}|\n{\"b\":0.10}|\n");
}

TEST_F(Conversion, JsonlToParquetGivesEachOfManyKeysAColumn) {
  std::string lines;
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < 600; ++i) {
    lines += fmt::format("{{\"text\":\"t {}\",\"k{}\":{}}}\n", i, i % 300, i);
    if (i < 100 || i >= 300) rows.push_back(i);
  }
  auto dataset = open_dataset({folder.write("a.jsonl", lines)}).value();
  ASSERT_TRUE(dataset->write(keep_rows(600, rows), folder.path("out.parquet"), 2).ok());
  EXPECT_EQ(ask("SELECT count(*) FROM (DESCRIBE SELECT * FROM " + from("out.parquet") + ")"),
            "301|\n");
  EXPECT_EQ(ask("SELECT k299, typeof(k299), k0 FROM " + from("out.parquet") + " OFFSET 399"),
            "599|BIGINT|NULL|\n");
}

TEST_F(Conversion, JsonlToParquetKeepsEveryNumber) {
  const std::string a = folder.write(
      "a.jsonl",
      "{\"n\":{\"id\":12345678901234567890123},\"m\":9007199254740993,\"d\":0.1,"
      "\"u\":18446744073709551615,\"f\":0.30000000000000004,\"g\":0.12345678901234567891,"
      "\"x\":1.50,\"l\":[1,2.5]}\n"
      "{\"n\":{\"id\":5},\"m\":0.5,\"d\":3,\"u\":1,\"f\":1e300,\"g\":1,\"x\":\"s\\n\","
      "\"l\":[9007199254740993]}\n");
  const auto notes = convert({a}, "out.parquet", {0, 1});
  EXPECT_EQ(ask("SELECT n, m, d, u, f, g, x, l FROM " + from("out.parquet")),
            "{\"id\":12345678901234567890123}|9007199254740993|0.1|18446744073709551615|"
            "0.30000000000000004|0.12345678901234567891|1.50|[1,2.5]|\n"
            "{\"id\":5}|0.5|3.0|1|1e+300|1|\"s\\n\"|[9007199254740993]|\n");
  EXPECT_EQ(ask("SELECT typeof(m), typeof(d), typeof(u), typeof(f), typeof(g) FROM " +
                from("out.parquet") + " LIMIT 1"),
            "VARCHAR|DOUBLE|UBIGINT|DOUBLE|VARCHAR|\n");
  EXPECT_THAT(notes, Contains("`n` has numbers that do not fit 64 bits: they were written as JSON "
                              "text"));
  EXPECT_THAT(notes, Contains("`m` has numbers of more digits than a double holds: they were "
                              "written as text"));
}

TEST_F(Conversion, JsonlToParquetSaysWhyAColumnHasNoTypeOfItsOwn) {
  const std::string a =
      folder.write("a.jsonl", "{\"text\":\"x\",\"nothing\":null,\"object\":{},\"array\":[]}\n");
  EXPECT_THAT(convert({a}, "out.parquet", {0}),
              ElementsAre("`nothing` is null in every record: it was written as text",
                          "`object` holds only empty objects: they were written as JSON "
                          "text",
                          "`array` holds only empty arrays: they were written as arrays of "
                          "text",
                          HasSubstr("one schema")));
  EXPECT_EQ(ask("SELECT nothing, object, \"array\"::VARCHAR FROM " + from("out.parquet")),
            "NULL|{}|[]|\n");
}

TEST_F(Conversion, OfARepeatedKeyTheFirstValueIsWrittenInEveryFormat) {
  const std::string a =
      folder.write("a.jsonl", "{\"text\":\"a\",\"k\":1,\"text\":\"zz\",\"k\":2}\n");
  const std::string note = "some records have a key twice: the first value was written";
  EXPECT_THAT(convert({a}, "out.csv", {0}), Contains(note));
  EXPECT_EQ(folder.read("out.csv"), "text,k\na,1\n");
  EXPECT_THAT(convert({a}, "out.parquet", {0}), Contains(note));
  EXPECT_EQ(ask("SELECT text, k FROM " + from("out.parquet")), "a|1|\n");
}

TEST_F(Conversion, RefusesColumnNamesThatTheNewFormatCannotKeep) {
  const auto error = [&](std::string_view header, const std::string& output) {
    const auto said =
        convert({folder.write("a.csv", fmt::format("{}\n1,2\n", header))}, output, {0});
    return said.empty() ? "" : said.front();
  };
  EXPECT_THAT(error(",text", "o.parquet"), HasSubstr("a.csv:1: the column at place 1 has no name"));
  EXPECT_THAT(error("id,ID", "o.parquet"),
              HasSubstr("a.csv:1: the columns \"id\" and \"ID\" differ only in case"));
  EXPECT_THAT(error("id,id", "o.parquet"), HasSubstr("a.csv:1: the column \"id\" occurs twice"));
  EXPECT_THAT(error("id,id", "o.jsonl"), HasSubstr("a.csv:1: the column \"id\" occurs twice"));
  EXPECT_THAT(error("id,ID", "o.jsonl"), HasSubstr("no types"));
}

TEST_F(Conversion, CsvToParquetKeepsTextAndEmptyValues) {
  const std::string a = folder.write("a.csv", "id,it's\n007,\n2024-01-01,\"x\ny\"\n");
  EXPECT_THAT(convert({a}, "out.parquet", {0, 1}),
              ElementsAre("CSV has no types: every column was written as text"));
  EXPECT_EQ(ask("SELECT id, \"it's\" FROM " + from("out.parquet")), "007||\n2024-01-01|x\ny|\n");
}

TEST_F(Conversion, ParquetToJsonlKeepsNestingAndSaysWhatBecameText) {
  const std::string a = make_parquet(
      "SELECT i AS id, DATE '2024-01-01' + i::INT AS day, {'t': 'x' || i, 'l': [i]} AS meta, "
      "1.5::DECIMAL(9,2) AS price, 12345678901234567890.123456789::DECIMAL(38,9) AS large FROM "
      "range(3) r(i)");
  const auto notes = convert({a}, "out.jsonl", {0, 2});
  EXPECT_EQ(folder.read("out.jsonl"),
            "{\"id\":0,\"day\":\"2024-01-01\",\"meta\":{\"t\":\"x0\",\"l\":[0]},\"price\":1.5,"
            "\"large\":\"12345678901234567890.123456789\"}\n"
            "{\"id\":2,\"day\":\"2024-01-03\",\"meta\":{\"t\":\"x2\",\"l\":[2]},\"price\":1.5,"
            "\"large\":\"12345678901234567890.123456789\"}\n");
  EXPECT_THAT(
      notes,
      ElementsAre(
          "JSONL has no dates: column `day` was written as text",
          "JSONL has no decimals of more than 15 digits: column `large` was written as text"));
  convert({a}, "out.jsonl.zst", {0, 2});
  convert({folder.path("out.jsonl.zst").string()}, "again.jsonl", {0, 1});
  EXPECT_EQ(folder.read("again.jsonl"), folder.read("out.jsonl"));
}

TEST_F(Conversion, ParquetToCsvWritesOneHeader) {
  const std::string a = make_parquet(
      "SELECT range AS id, repeat('y', 60000) AS text, {'t': range} AS meta FROM range(5000)");
  const auto notes = convert({a}, "out.csv", {1, 77});
  EXPECT_EQ(folder.read("out.csv").substr(0, 13), "id,text,meta\n");
  EXPECT_THAT(notes, Contains("CSV has no nesting: column `meta` was written as JSON text"));
  auto back = open_dataset({folder.path("out.csv").string()}).value();
  const auto seen = scan_all(*back, {.columns = {"id", "meta"}, .threads = 1}).value();
  EXPECT_THAT(seen.values.at(1), ElementsAre("77", "{\"t\":77}"));
  EXPECT_EQ(back->rows(), 2);
}

TEST_F(Conversion, WritesFilesWithoutRecords) {
  const std::string a = folder.write("a.jsonl", "{\"id\":1,\"text\":\"x\"}\n");
  convert({a}, "none.jsonl", {});
  convert({a}, "none.parquet", {});
  EXPECT_EQ(folder.read("none.jsonl"), "");
  EXPECT_EQ(ask("SELECT name FROM parquet_schema(" + from("none.parquet") + ") OFFSET 1"),
            "id|\ntext|\n");
  convert({make_parquet("SELECT 1 AS id, [1] AS l")}, "none2.parquet", {});
  EXPECT_EQ(ask("SELECT count(*) FROM " + from("none2.parquet")), "0|\n");
}

}  // namespace
}  // namespace kin::data
