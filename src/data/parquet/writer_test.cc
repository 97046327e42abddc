#include "data/parquet/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/testing/parquet_fixture.h"

namespace kin::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ParquetWriter : public ParquetTest {
 protected:
  // Writes all rows, in parts of about `piece_bytes`.
  Result<WriteReport> write(const std::vector<std::string>& inputs, const std::string& output,
                            std::uint64_t piece_bytes = 64 << 20) {
    KIN_TRY(const std::vector<Input> found, find_inputs(inputs, folder.path("")));
    std::vector<ParquetFile> files;
    std::uint64_t rows = 0;
    for (const Input& input : found) {
      KIN_TRY(files.emplace_back(), read_parquet_footer(input, folder.path("")));
      files.back().first_row = rows;
      rows += files.back().rows;
    }
    const std::filesystem::path path = folder.path(output);
    KIN_TRY(const FileType type, file_type(path));
    const SkipLog skipped;
    // Not the session of the test, because the writer sets its threads.
    LazyDuckDb writer(folder.path(""));
    return write_parquet_rows(writer, files,
                              {RecordSet(rows, true),
                               skipped,
                               path,
                               path,
                               type,
                               {.threads = 2},
                               {2, 1 << 30, folder.path("")},
                               piece_bytes});
  }
};

TEST_F(ParquetWriter, TakesNamesThatDifferInCaseForOneColumnAndSaysSo) {
  const std::string a = make("a.parquet", "SELECT 1 AS id, 'x' AS text");
  const std::string b = make("b.parquet", "SELECT 2 AS ID, 'y' AS text");
  for (const std::uint64_t piece_bytes : {1, 1 << 20}) {
    const auto report = write({a, b}, "out.parquet", piece_bytes).value();
    EXPECT_THAT(report.notes, ElementsAre(testing::MatchesRegex(
                                  "column `ID` of .*b.parquet was taken for column `id` of other "
                                  "inputs")));
    EXPECT_EQ(ask("SELECT id, text FROM " + from("out.parquet")), "1|x|\n2|y|\n");
  }
}

TEST_F(ParquetWriter, CountsOnOneOfAFewRowsHavingAllTheBytes) {
  constexpr std::uint64_t kLong = 30'000'000;
  const std::string path =
      make("a.parquet",
           "SELECT repeat('x', CASE range WHEN 2 THEN 30000000 ELSE 1 END) AS text FROM "
           "range(4)");
  const Input input{path, {Format::kParquet, Compression::kNone}, 0, path};
  const ParquetFile file = read_parquet_footer(input, folder.path("")).value();
  const auto need = least_parquet_memory({&file, 1}, {Format::kJsonl, Compression::kNone});
  // DuckDB holds a row as it is read, as a vector and as text.
  EXPECT_GE(need.value(), 5 * kLong);
}

TEST_F(ParquetWriter, WritesTheSameRowsInPiecesOfAnySize) {
  const std::string a =
      make("a.parquet", "SELECT range AS id, 'x' || range AS text FROM range(7000)",
           ", ROW_GROUP_SIZE 2048");
  const std::string b = make("b.parquet", "SELECT 'y' AS text, 2.5 AS score");
  const std::string c = make("c.parquet", "SELECT 'z' AS text, 8 AS id");
  for (const std::string name : {"out.parquet", "out.csv", "out.jsonl"}) {
    const std::string rows = "SELECT md5(list(hash(id, text, score))::VARCHAR) FROM " + from(name);
    ASSERT_TRUE(write({a, b, c}, name).ok());
    const std::string whole = ask(rows);
    EXPECT_EQ(whole.size(), 34) << whole;
    for (const std::uint64_t piece_bytes : {1, 1000, 20'000}) {
      const auto report = write({a, b, c}, name, piece_bytes);
      ASSERT_TRUE(report.ok()) << report.error().message;
      EXPECT_EQ(report->records, 7002);
      EXPECT_EQ(ask(rows), whole);
    }
  }
}

TEST_F(ParquetWriter, KeepsAllDigitsOfIntegersThatDifferInType) {
  const std::string a = make("a.parquet", "SELECT 18446744073709551615::UBIGINT AS id");
  const std::string b = make("b.parquet", "SELECT -9223372036854775807::BIGINT AS id");
  const auto report = write({a, b}, "out.parquet").value();
  EXPECT_THAT(report.notes,
              ElementsAre(testing::MatchesRegex("column `id` is UBIGINT in .*a.parquet and BIGINT "
                                                "in .*b.parquet: it was written as "
                                                "DECIMAL.20,0.")));
  EXPECT_EQ(ask("SELECT id::VARCHAR FROM " + from("out.parquet")),
            "18446744073709551615|\n-9223372036854775807|\n");
  ASSERT_TRUE(write({a, b}, "out.jsonl").ok());
  EXPECT_EQ(folder.read("out.jsonl"),
            "{\"id\":18446744073709551615}\n{\"id\":-9223372036854775807}\n");
}

TEST_F(ParquetWriter, RefusesTypesThatTogetherLoseDigits) {
  const std::string pairs[][2] = {
      {"9007199254740993::BIGINT", "0.5::DOUBLE"},
      {"16777217::INTEGER", "0.5::FLOAT"},
      {"1::DECIMAL(38,30)", "1::DECIMAL(38,2)"},
      {"{'a': 9007199254740993::BIGINT}", "{'b': 'x', 'a': 0.5::DOUBLE}"},
      {"[9007199254740993::BIGINT]", "[0.5::DOUBLE]"},
  };
  for (const auto& [one, other] : pairs) {
    const std::string a = make("a.parquet", "SELECT " + one + " AS x");
    const std::string b = make("b.parquet", "SELECT " + other + " AS x");
    for (const std::string name : {"out.parquet", "out.csv"}) {
      const auto report = write({a, b}, name);
      ASSERT_FALSE(report.ok()) << one;
      EXPECT_THAT(report.error().message, HasSubstr("column `x` is "));
      EXPECT_THAT(report.error().message, HasSubstr("a.parquet"));
      EXPECT_THAT(report.error().message, HasSubstr("b.parquet"));
    }
  }
  const std::string a =
      make("a.parquet", "SELECT 1::BIGINT AS x, {'a': 1::BIGINT, 'd': 0.5::DOUBLE} AS s");
  const std::string b =
      make("b.parquet", "SELECT 1::INTEGER AS x, {'a': 1::BIGINT, 'd': 0.5::DOUBLE, 'n': 1} AS s");
  EXPECT_THAT(write({a, b}, "out.parquet").value().notes,
              ElementsAre(HasSubstr("it was written as BIGINT")));
}

TEST_F(ParquetWriter, WritesNullForNumbersThatJsonLacksAndSaysSo) {
  const std::string a = make(
      "a.parquet",
      "SELECT 'NaN'::DOUBLE AS x, 0.5::FLOAT AS y, {'l': [1.5::DOUBLE, 'inf'::DOUBLE], 'n': 1} AS "
      "s, MAP {'k': '-inf'::FLOAT} AS m UNION ALL SELECT 2, NULL, NULL, NULL");
  const auto report = write({a}, "out.jsonl").value();
  EXPECT_EQ(folder.read("out.jsonl"),
            "{\"x\":null,\"y\":0.5,\"s\":{\"l\":[1.5,null],\"n\":1},\"m\":{\"k\":null}}\n"
            "{\"x\":2.0,\"y\":null,\"s\":null,\"m\":null}\n");
  const auto note = [](const std::string& name) {
    return "JSON has neither NaN nor infinity: column `" + name + "` has null in their place";
  };
  EXPECT_THAT(report.notes, ElementsAre(note("x"), note("s"), note("m")));
  ASSERT_TRUE(write({a}, "out.csv").ok());
  EXPECT_THAT(folder.read("out.csv"), HasSubstr("nan,0.5,\"{\"\"l\"\":[1.5,null],"));
}

TEST_F(ParquetWriter, WritesNoBlankLinesForNullsOfAnOnlyColumn) {
  const std::string a = make("a.parquet", "SELECT unnest([1, NULL, 3]) AS n");
  for (const std::string name : {"out.csv", "out.tsv"}) {
    ASSERT_TRUE(write({a}, name).ok());
    EXPECT_EQ(folder.read(name), "n\n1\n\"\"\n3\n");
    EXPECT_EQ(
        scan_all(*open_dataset({folder.path(name).string()}).value(), {.columns = {"n"}})->visits,
        3);
  }
}

TEST_F(ParquetWriter, KeepsKeysOfMetadataThatAreRepeatedOrDifferInCase) {
  const std::string a =
      make("a.parquet", "SELECT 1 AS id",
           ", KV_METADATA {info: 'x', \"dup1\": 'y', \"dup2\": 'z', \"INF1\": ''}");
  change_footer("a.parquet", [](ThriftValue& footer) {
    for (ThriftValue& pair : footer.field(5)->items) {
      std::string& key = pair.field(1)->bytes;
      if (key.starts_with("dup")) key = "same";
      if (key == "INF1") key = "INFO";
    }
    footer.field(5)->items.at(0).field(2)->bytes = "\xff";
  });
  const std::string query = "SELECT hex(key), hex(value) FROM parquet_kv_metadata(";
  ASSERT_TRUE(write({a}, "out.parquet").ok());
  EXPECT_EQ(ask(query + from("out.parquet") + ")"), ask(query + from("a.parquet") + ")"));
}

TEST_F(ParquetWriter, SaysWhichMetadataTheInputsDoNotAgreeOn) {
  const std::string a = make("a.parquet", "SELECT 1 AS id", ", KV_METADATA {one: 'x', two: 'y'}");
  const std::string b = make("b.parquet", "SELECT 2 AS id", ", KV_METADATA {two: 'n', one: 'x'}");
  const auto report = write({a, b}, "out.parquet").value();
  EXPECT_THAT(report.notes, ElementsAre("the inputs have different key-value metadata: the output "
                                        "has none for two"));
  EXPECT_EQ(ask("SELECT decode(key), decode(value) FROM parquet_kv_metadata(" +
                from("out.parquet") + ")"),
            "one|x|\n");
  EXPECT_THAT(write({a, b}, "out.csv").value().notes,
              testing::Not(testing::Contains(HasSubstr("metadata"))));
}

}  // namespace
}  // namespace kin::data
