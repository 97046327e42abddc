// Columns that are added to Parquet records, texts that are replaced, and other formats of output.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/source_folder.h"
#include "data/pages/footer.h"
#include "data/testing/parquet_fixture.h"

namespace kin::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Adds a column of each type, and writes the row in front of some texts.
class SampleEdits : public RecordEdits {
 public:
  explicit SampleEdits(std::vector<std::string> replaced) : replaced_(std::move(replaced)) {}
  const std::vector<Column>& added() const override { return added_; }
  std::optional<Value> added_value(std::size_t column, RecordId record) const override {
    const auto row = static_cast<std::int64_t>(row_number(record));
    if (row % 5 == 3) return {};
    switch (column) {
      case 0: return Value(row * 10);
      case 1: return Value(static_cast<double>(row) / 4);
      case 2: return Value(row % 2 == 0);
      default: return Value(fmt::format("tag {}", row));
    }
  }
  const std::vector<std::string>& replaced() const override { return replaced_; }
  Result<bool> replace(std::size_t, RecordId record, std::string_view old,
                       std::string& text) const override {
    if (row_number(record) % 2 == 0) return false;
    text = fmt::format("<{}>{}", row_number(record), old);
    return true;
  }

 private:
  std::vector<Column> added_{{"kin_number", Type::kInteger},
                             {"kin_real", Type::kReal},
                             {"kin_truth", Type::kBoolean},
                             {"kin_text", Type::kText}};
  std::vector<std::string> replaced_;
};

class ParquetEdits : public ParquetTest {
 protected:
  Result<WriteReport> write(const std::vector<std::string>& inputs, const RecordSet& keep,
                            const std::string& output, const WriteOptions& options) {
    KIN_TRY(const auto dataset, open_dataset(inputs));
    KIN_TRY(auto staged, dataset->write_staged(keep, folder.path(output), options));
    KIN_RETURN_IF_ERROR(staged.first.commit());
    return std::move(staged.second);
  }
  std::string make_texts(const std::string& name, const std::string& more = "") {
    return make(name,
                "SELECT range AS id, CASE WHEN range % 7 > 0 THEN 'text ' || (range % 20) END AS "
                "text, {'title': 'T' || range, 'n': range} AS meta" +
                    more + " FROM range(4000)",
                ", ROW_GROUP_SIZE 2048");
  }
  static std::string expected(const std::string& from) {
    return "SELECT id, CASE WHEN row % 2 = 0 THEN text ELSE '<' || row || '>' || text END, CASE "
           "WHEN "
           "row % 2 = 0 THEN meta.title ELSE '<' || row || '>' || meta.title END, meta.n, CASE "
           "WHEN "
           "row % 5 != 3 THEN row * 10 END, CASE WHEN row % 5 != 3 THEN row / 4 END, CASE WHEN row "
           "% "
           "5 != 3 THEN row % 2 = 0 END, CASE WHEN row % 5 != 3 THEN 'tag ' || row END FROM "
           "(SELECT "
           "*, id AS row FROM " +
           from + ") WHERE row % 3 != 1 ORDER BY id";
  }
};

TEST_F(ParquetEdits, AddsColumnsAndReplacesTexts) {
  const std::string a = make_texts("a.parquet");
  RecordSet keep(4'000, true);
  for (std::uint32_t row = 1; row < 4'000; row += 3) keep.erase(RecordId{row});
  const SampleEdits edits({"text", "meta.title"});
  const std::string columns =
      "SELECT id, text, meta.title, meta.n, kin_number, kin_real, kin_truth, kin_text FROM ";
  for (const std::string name : {"out.parquet", "out.jsonl"}) {
    const auto report = write({a}, keep, name, {.threads = 2, .edits = &edits});
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_EQ(report->records, keep.count());
    EXPECT_TRUE(ask(columns + from(name)) == ask(expected(from("a.parquet")))) << name;
  }
  EXPECT_EQ(ask("SELECT name, type, repetition_type, converted_type FROM parquet_schema(" +
                from("out.parquet") + ") WHERE name LIKE 'kin%'"),
            "kin_number|INT64|OPTIONAL|NULL|\nkin_real|DOUBLE|OPTIONAL|NULL|\n"
            "kin_truth|BOOLEAN|OPTIONAL|NULL|\nkin_text|BYTE_ARRAY|OPTIONAL|UTF8|\n");
  EXPECT_EQ(ask("SELECT DISTINCT compression FROM parquet_metadata(" + from("out.parquet") + ")"),
            "SNAPPY|\n");
}

TEST_F(ParquetEdits, EditsFilesOfDifferentSchemas) {
  const std::string a = make_texts("a.parquet");
  const std::string b = make("b.parquet", "SELECT 'other' AS text, 1 AS x, {'title': 'u'} AS meta");
  const SampleEdits edits({"text", "meta.title"});
  const auto report =
      write({a, b}, RecordSet(4'001, true), "out.parquet", {.threads = 2, .edits = &edits});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(ask("SELECT text, x, kin_number FROM " + from("out.parquet") + " WHERE x = 1"),
            "other|1|40000|\n");
  EXPECT_EQ(ask("SELECT text, kin_text FROM " + from("out.parquet") + " WHERE id = 11"),
            "<11>text 11|tag 11|\n");
}

TEST_F(ParquetEdits, DropsArrowsSchemaWhenColumnsAreAddedAndSaysSo) {
  const std::string a = fmt::format("{}/tests/parquet/all_v2.parquet", source_folder());
  const SampleEdits edits({"text"});
  auto dataset = open_dataset({a}).value();
  const WriteOptions options{.edits = &edits};
  const auto foreseen = dataset->foreseen_losses(folder.path("out.parquet"), options).value();
  EXPECT_THAT(foreseen, ElementsAre(HasSubstr("the output has no ARROW:schema")));
  const auto report = write({a}, RecordSet(240, true), "out.parquet", options).value();
  EXPECT_EQ(report.notes, foreseen);
  const std::string keys = "SELECT decode(key) FROM parquet_kv_metadata(";
  EXPECT_THAT(ask(keys + sql_text(a) + ")"), HasSubstr("ARROW:schema"));
  EXPECT_THAT(ask(keys + from("out.parquet") + ")"), testing::Not(HasSubstr("ARROW:schema")));
  EXPECT_EQ(
      ask("SELECT count(*), sum(kin_number) FROM " + from("out.parquet")),
      ask("SELECT count(*), sum(CASE WHEN range % 5 != 3 THEN range * 10 END) FROM range(240)"));
}

TEST_F(ParquetEdits, RefusesColumnsThatAreThereAndTextsThatAreNone) {
  const std::string a = make_texts("a.parquet", ", 1 AS kin_real");
  const auto there = write({a}, RecordSet(4'000, true), "out.parquet", {.edits = nullptr});
  EXPECT_TRUE(there.ok());
  const SampleEdits adds({});
  const auto twice = write({a}, RecordSet(4'000, true), "out.parquet", {.edits = &adds});
  ASSERT_FALSE(twice.ok());
  EXPECT_THAT(twice.error().message, HasSubstr("there is a column `kin_real` already"));
  const SampleEdits number({"id"});
  const auto wrong =
      write({make_texts("b.parquet")}, RecordSet(4'000, true), "out.parquet", {.edits = &number});
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error().message, HasSubstr("column `id` is not a text"));
}

TEST_F(ParquetEdits, WritesOtherCodecsAndRowGroups) {
  const std::string a = make_texts("a.parquet", ", [range, NULL] AS list");
  RecordSet keep(4'000, true);
  for (std::uint32_t row = 0; row < 4'000; row += 6) keep.erase(RecordId{row});
  const std::string query = "SELECT id, text, meta::VARCHAR, list::VARCHAR FROM ";
  const std::string all = ask(query + from("a.parquet") + " WHERE id % 6 != 0 ORDER BY id");
  using Packing = OutputFormat::Packing;
  for (const auto& [packing, name] : {std::pair(Packing::kNone, "UNCOMPRESSED"),
                                      {Packing::kSnappy, "SNAPPY"},
                                      {Packing::kGzip, "GZIP"},
                                      {Packing::kZstd, "ZSTD"},
                                      {Packing::kLz4, "LZ4_RAW"}}) {
    for (const std::optional<std::uint64_t> rows :
         {std::optional<std::uint64_t>(), std::optional<std::uint64_t>(700),
          std::optional<std::uint64_t>(1'000'000)}) {
      const auto report =
          write({a}, keep, "out.parquet",
                {.threads = 2, .format = {.compression = packing, .row_group_rows = rows}});
      ASSERT_TRUE(report.ok()) << report.error().message;
      EXPECT_TRUE(ask(query + from("out.parquet")) == all) << name;
      EXPECT_EQ(
          ask("SELECT DISTINCT compression FROM parquet_metadata(" + from("out.parquet") + ")"),
          std::string(name) + "|\n");
      const Footer footer =
          read_footer(File::open_to_read(folder.path("out.parquet")).value()).value();
      EXPECT_EQ(footer.groups.size(), !rows ? 2 : *rows == 700 ? 5 : 1);
      EXPECT_TRUE(rows != 700 || footer.groups.front().rows == 700);
    }
  }
  for (const std::string name : {"all_v1", "all_v2", "delta_bytes", "delta_numbers", "split"}) {
    const std::string fixture = fmt::format("{}/tests/parquet/{}.parquet", source_folder(), name);
    const auto report =
        write({fixture}, RecordSet(240, true), "out.parquet",
              {.format = {.compression = Packing::kZstd, .level = 9, .row_group_rows = 170}});
    ASSERT_TRUE(report.ok()) << report.error().message;
    const std::string values = "SELECT COLUMNS(*)::VARCHAR FROM ";
    EXPECT_TRUE(ask(values + from("out.parquet")) == ask(values + sql_text(fixture))) << name;
  }
}

TEST_F(ParquetEdits, RowsThatGoBehindAFullRowGroupMakeNoEmptyOne) {
  const std::string a = make_texts("a.parquet");
  for (const std::uint32_t rows : {1U, 700U, 1'400U}) {
    RecordSet keep(4'000);
    for (std::uint32_t row = 0; row < rows; ++row) keep.insert(RecordId{row});
    const auto report =
        write({a}, keep, "out.parquet", {.format = {.row_group_rows = std::min(rows, 700U)}});
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_EQ(report->records, rows);
    const Footer footer =
        read_footer(File::open_to_read(folder.path("out.parquet")).value()).value();
    EXPECT_EQ(footer.groups.size(), rows == 1'400 ? 2 : 1);
  }
}

TEST(OutputFormatCheck, NamesTheOptionThatMakesNoSense) {
  using Packing = OutputFormat::Packing;
  const FileType parquet{Format::kParquet, Compression::kNone};
  const FileType zstd{Format::kJsonl, Compression::kZstd};
  const FileType plain{Format::kJsonl, Compression::kNone};
  EXPECT_TRUE(check_format({}, plain).ok());
  EXPECT_TRUE(check_format({.compression = Packing::kZstd, .level = 19}, parquet).ok());
  EXPECT_TRUE(check_format({.level = 19}, zstd).ok());
  const auto message = [](const OutputFormat& format, FileType type) {
    const Status checked = check_format(format, type);
    return checked.ok() ? std::string() : checked.error().message;
  };
  EXPECT_THAT(message({.compression = Packing::kZstd}, plain), HasSubstr("--compression is for"));
  EXPECT_THAT(message({.row_group_rows = 5}, zstd), HasSubstr("--row-group-size is for"));
  EXPECT_THAT(message({.row_group_rows = 0}, parquet), HasSubstr("1 or more"));
  EXPECT_THAT(message({.level = 3}, parquet), HasSubstr("needs --compression zstd or gzip"));
  EXPECT_THAT(message({.level = 3}, plain), HasSubstr("ends in .zst or .gz"));
  EXPECT_THAT(message({.compression = Packing::kGzip, .level = 13}, parquet),
              HasSubstr("gzip is 1 to 12"));
}

}  // namespace
}  // namespace kin::data
