// Scans of pages give the same values as DuckDB.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/source_folder.h"
#include "data/pages/page_scan.h"
#include "data/testing/parquet_fixture.h"

namespace kin::data {
namespace {

class PageScan : public ParquetTest {
 protected:
  static bool by_pages(const std::string& path, const std::vector<std::string>& columns) {
    const Footer footer = read_footer(File::open_to_read(path).value()).value();
    return scanned_columns(footer, columns, 0).has_value();
  }

  // Compares the texts of all values with those of DuckDB.
  void check(const std::string& path, const std::vector<std::string>& columns) {
    ASSERT_TRUE(by_pages(path, columns));
    std::string expressions;
    for (const std::string& one : columns) {
      const bool nested = one.find('.') != std::string::npos;
      expressions += (expressions.empty() ? "" : ", ") +
                     fmt::format("({})::VARCHAR", nested ? one : sql_name(one));
    }
    const auto expected = duckdb->query(fmt::format(
        "SELECT {} FROM read_parquet({}, file_row_number = true) ORDER BY file_row_number",
        expressions, sql_text(path)));
    ASSERT_TRUE(expected.ok()) << expected.error().message;
    for (const int threads : {1, 3}) {
      const auto seen =
          scan_all(*open_dataset({path}).value(), {.columns = columns, .threads = threads});
      ASSERT_TRUE(seen.ok()) << seen.error().message;
      ASSERT_EQ(seen->values.size(), expected->size());
      for (std::uint32_t row = 0; row < expected->size(); ++row)
        ASSERT_EQ(seen->values.at(row), (*expected)[row]) << "row " << row;
    }
  }
};

TEST_F(PageScan, GivesNumbersAndTimesAsDuckDbDoes) {
  const std::string path = make(
      "a.parquet",
      "SELECT (i - 100)::TINYINT AS i8, (i * 300 - 30000)::SMALLINT AS i16, ((hash(i) % "
      "4294967296)::BIGINT - 2147483648)::INTEGER AS i32, (hash(i) // 2)::BIGINT - "
      "4611686018427387904 AS i64, (i % 256)::UTINYINT AS u8, (i * 311)::USMALLINT AS u16, "
      "(hash(i) "
      "% 4294967296)::UINTEGER AS u32, hash(i) AS u64, i % 3 = 0 AS b, CASE i WHEN 0 THEN "
      "'nan'::DOUBLE WHEN 1 THEN 'inf'::DOUBLE WHEN 2 THEN '-inf'::DOUBLE WHEN 3 THEN -0.0 WHEN 4 "
      "THEN 1e15 WHEN 5 THEN 1e16 WHEN 6 THEN 123456789 WHEN 7 THEN 1e-4 WHEN 8 THEN 1e-5 WHEN 9 "
      "THEN 1e300 ELSE (hash(i) % 1000000)::DOUBLE * pow(10, (i % 40) - 20) / 7 END AS d, CASE i "
      "WHEN 0 THEN 'nan'::FLOAT WHEN 1 THEN '-inf'::FLOAT WHEN 2 THEN 1e7 WHEN 3 THEN 1e15 WHEN 4 "
      "THEN 1e16 WHEN 5 THEN 123456 WHEN 6 THEN 16777216 ELSE ((hash(i) % 1000000)::DOUBLE * "
      "pow(10, "
      "(i % 30) - 15) / 7)::FLOAT END AS f, (DATE '2000-01-01' + (i * 15000 - "
      "1500000)::INTEGER)::DATE "
      "AS day, TIMESTAMP '1970-01-01 00:00:00' + to_seconds((hash(i) % 1000000007)::BIGINT) - "
      "to_years((i * 13)::INTEGER) + to_microseconds(CASE WHEN i % 4 = 0 THEN 0 ELSE i * 1000 END) "
      "AS "
      "at, (TIMESTAMP '2020-01-01 00:00:00' + to_hours(i))::TIMESTAMPTZ AS tz, (TIMESTAMP "
      "'2020-01-01 00:00:00.5' + to_hours(i))::TIMESTAMP_NS AS ns, (TIMESTAMP '2020-01-01 "
      "00:00:00.5' + to_hours(i))::TIMESTAMP_MS AS ms, (TIMESTAMP '2020-01-01 00:00:00' - "
      "to_hours(i))::TIMESTAMP_S AS s FROM range(200) t(i)");
  std::vector<std::string> columns;
  for (const std::string name : {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "b", "d",
                                 "day", "at", "tz", "ns", "ms", "s"}) {
    SCOPED_TRACE(name);
    check(path, {name});
    columns.push_back(name);
  }
  check(path, columns);
}

TEST_F(PageScan, GivesTextsOfDictionariesStructsAndManyPages) {
  const std::string path = make("a.parquet",
                                "SELECT CASE WHEN i % 7 > 0 THEN 'kind ' || (i % 11) END AS kind, "
                                "{'title': CASE WHEN i % 3 > "
                                "0 THEN 'T' || i END, 'inner': {'n': i}} AS meta, CASE WHEN i % 5 "
                                "= 0 THEN NULL WHEN i % 5 = 1 "
                                "THEN '' ELSE repeat('r' || i, (i % 200)::INT) END AS text, CASE "
                                "WHEN i % 4 > 0 THEN {'s': 'x' "
                                "|| i} END AS maybe FROM range(30000) t(i)",
                                ", ROW_GROUP_SIZE 12000");
  check(path, {"text", "kind", "meta.title", "meta.inner.n", "maybe.s"});
  EXPECT_FALSE(by_pages(path, {"meta"}));
  EXPECT_FALSE(by_pages(path, {"meta.Title"}));
  EXPECT_FALSE(by_pages(path, {"missing"}));
}

TEST_F(PageScan, GivesWhatArrowWrote) {
  for (const std::string name : {"all_v1", "all_v2", "plain_v2"}) {
    const std::string path = fmt::format("{}/tests/parquet/{}.parquet", source_folder(), name);
    SCOPED_TRACE(name);
    const std::vector<std::string> columns{"id",     "text", "word",       "at",
                                           "at_utc", "day",  "small",      "unsigned",
                                           "real",   "flag", "meta.title", "meta.size"};
    check(path, columns);
  }
  for (const std::string name : {"delta_length", "delta_bytes"}) {
    SCOPED_TRACE(name);
    check(fmt::format("{}/tests/parquet/{}.parquet", source_folder(), name), {"text", "word"});
  }
}

TEST_F(PageScan, VisitsWantedRowsAloneAndPartsOfRowGroups) {
  // Incompressible, so that the text column is worth dividing.
  const std::string path = make(
      "a.parquet", "SELECT i AS id, repeat(sha256(i::VARCHAR), 40) AS text FROM range(24000) t(i)",
      ", ROW_GROUP_SIZE 24000");
  auto dataset = open_dataset({path}).value();
  const auto whole = scan_all(*dataset, {.columns = {"text", "id"}, .threads = 2}).value();
  EXPECT_EQ(whole.visits, 24'000);
  const RecordSet only = keep_rows(24'000, {0, 1, 9'999, 12'345, 23'999});
  const auto some =
      scan_all(*dataset, {.columns = {"text", "id"}, .threads = 2, .only = &only}).value();
  EXPECT_EQ(some.visits, 5);
  for (const auto& [row, values] : some.values) EXPECT_EQ(values, whole.values.at(row));
}

}  // namespace
}  // namespace kin::data
