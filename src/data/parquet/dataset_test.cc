#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "data/testing/parquet_fixture.h"

namespace kin::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ParquetDataset : public ParquetTest {
 protected:
  std::string many_rows(const std::string& name, int rows,
                        const std::string& options = ", ROW_GROUP_SIZE 2048") {
    return make(
        name,
        fmt::format(
            "SELECT range AS id, repeat('t' || range, (range % 50)::INT) AS text FROM range({})",
            rows),
        options);
  }
};

constexpr std::string_view kTyped =
    "SELECT i::INTEGER AS i, (i * 1.25)::DECIMAL(18, 3) AS price, TIMESTAMP '2024-02-29 12:00:00' "
    "+ INTERVAL (i) HOUR AS at, "
    "DATE '2024-01-01' + i::INTEGER AS day, {'title': 'T' || i, 'tags': ['a', NULL, 'b' || i]} AS "
    "meta, "
    "CASE WHEN i % 3 = 0 THEN NULL ELSE 'text ' || i END AS text, ('\\x00\\xFF' || i)::BLOB AS "
    "raw, "
    "MAP {'k': i} AS pairs, i % 2 = 0 AS flag, i::UTINYINT AS small, i / 3.0::DOUBLE AS x, uuid() "
    "AS u FROM range(100) t(i)";

TEST_F(ParquetDataset, KeepsTypesNestingNullsAndOrder) {
  auto dataset = open_dataset({make("a.parquet", std::string(kTyped))}).value();
  RecordSet keep(100);
  for (std::uint32_t i = 0; i < 100; i += 3) keep.insert(RecordId{i});
  const auto report = dataset->write(keep, folder.path("out.parquet"), 2).value();
  EXPECT_EQ(report.records, 34);
  EXPECT_THAT(report.notes, testing::IsEmpty());
  EXPECT_EQ(report.bytes, std::filesystem::file_size(folder.path("out.parquet")));
  EXPECT_EQ(ask("SELECT COLUMNS(*)::VARCHAR FROM " + from("out.parquet")),
            ask("SELECT COLUMNS(*)::VARCHAR FROM " + from("a.parquet") + " WHERE i % 3 = 0"));
  EXPECT_THAT(ask("SELECT meta::VARCHAR FROM " + from("out.parquet")),
              HasSubstr("{'title': T3, 'tags': [a, NULL, b3]}"));
  const std::string schema = "SELECT * EXCLUDE (file_name) FROM parquet_schema(";
  EXPECT_EQ(ask(schema + from("out.parquet") + ")"), ask(schema + from("a.parquet") + ")"));
}

TEST_F(ParquetDataset, HandsOutAnyColumnAsTextAndReachesIntoStructs) {
  auto dataset = open_dataset({make("a.parquet", std::string(kTyped))}).value();
  const auto seen =
      scan_all(*dataset,
               {.columns = {"text", "i", "price", "day", "meta.title", "meta", "meta.tags", "raw"},
                .threads = 2})
          .value();
  EXPECT_THAT(seen.values.at(7), ElementsAre("text 7", "7", "8.750", "2024-01-08", "T7",
                                             "{\"title\":\"T7\",\"tags\":[\"a\",null,\"b7\"]}",
                                             "[\"a\",null,\"b7\"]", "bytes:\\x00\\xFF7"));
  EXPECT_EQ(seen.values.at(3)[0], std::nullopt);
  EXPECT_THAT(seen.where.at(7), testing::EndsWith("a.parquet: row 7"));
  EXPECT_EQ(dataset->rows(), 100);
}

TEST_F(ParquetDataset, HandsOutDifferentBytesAsDifferentTexts) {
  const std::string a = make("a.parquet",
                             "SELECT unnest(['\\xAA'::BLOB, '\\x5CxAA'::BLOB, 'bytes:\\xAA'::BLOB, "
                             "'bytes:\\x5CxAA'::BLOB, "
                             "'bytes:'::BLOB, 'caf\\xC3\\xA9'::BLOB, ''::BLOB, NULL]) AS text");
  const auto seen =
      scan_all(*open_dataset({a}).value(), {.columns = {"text"}, .threads = 1}).value();
  std::set<std::optional<std::string>> texts;
  for (const auto& [row, values] : seen.values) texts.insert(values[0]);
  EXPECT_EQ(texts.size(), 8);
  EXPECT_EQ(seen.values.at(0)[0], "bytes:\\xAA");
  EXPECT_EQ(seen.values.at(1)[0], "\\xAA");
  EXPECT_EQ(seen.values.at(5)[0], "caf\xC3\xA9");
  EXPECT_EQ(seen.values.at(7)[0], std::nullopt);
}

TEST_F(ParquetDataset, PrefersAColumnThatHasTheDotInItsName) {
  auto dataset =
      open_dataset(
          {make("a.parquet", "SELECT {'b': 'nested', 'c': 'inner'} AS a, 'plain' AS \"a.b\"")})
          .value();
  const auto seen = scan_all(*dataset, {.columns = {"a.b", "a.c"}, .threads = 1}).value();
  EXPECT_THAT(seen.values.at(0), ElementsAre("plain", "inner"));
}

TEST_F(ParquetDataset, NamesTheColumnsThatExistWhenOneIsMissing) {
  auto dataset = open_dataset({make("a.parquet", "SELECT 1 AS id, {'x': 1} AS meta")}).value();
  for (const std::string column : {"text", "meta.y", "ID"}) {
    const auto seen = scan_all(*dataset, {.columns = {column}, .threads = 1});
    ASSERT_FALSE(seen.ok());
    EXPECT_THAT(
        seen.error().message,
        HasSubstr(fmt::format(
            "a.parquet: column \"{}\" is missing (use --field); the file has: id, meta", column)));
  }
}

TEST_F(ParquetDataset, NumbersRowsTheSameInEveryScan) {
  const std::string a = many_rows("a.parquet", 9'000);
  const std::string b = many_rows("b.parquet", 11'000);
  auto dataset = open_dataset({a, b}).value();
  EXPECT_EQ(dataset->rows(), 20'000);
  EXPECT_THAT(dataset->first_rows(), ElementsAre(0, 9'000));
  const auto one = scan_all(*dataset, {.columns = {"id", "text"}, .threads = 1}).value();
  const auto four = scan_all(*dataset, {.columns = {"id", "text"}, .threads = 4}).value();
  EXPECT_EQ(one.visits, 20'000);
  EXPECT_EQ(four.visits, 20'000);
  EXPECT_EQ(one.values, four.values);
  EXPECT_EQ(one.values.at(9'123)[0], "123");
  EXPECT_EQ(one.where, four.where);
  EXPECT_EQ(one.file.at(9'000), 1);
  const RecordSet only = keep_rows(20'000, {5, 8'999, 9'000, 19'999});
  const auto some =
      scan_all(*dataset, {.columns = {"id", "text"}, .threads = 4, .only = &only}).value();
  EXPECT_EQ(some.visits, 4);
  for (const auto& [row, values] : some.values) EXPECT_EQ(values, one.values.at(row));
}

TEST_F(ParquetDataset, GoesOnWhereAScanPaused) {
  const std::string a = many_rows("a.parquet", 30'000);
  const std::string b = many_rows("b.parquet", 100);
  const auto whole =
      scan_all(*open_dataset({a, b}).value(), {.columns = {"text"}, .threads = 1}).value();
  std::map<std::uint32_t, std::vector<std::optional<std::string>>> values;
  Position position;
  int parts = 0;
  int visits = 0;
  for (bool finished = false; !finished; ++parts) {
    auto dataset = open_dataset({a, b}).value();
    int asked = 0;
    const auto part = scan_all(*dataset, {.columns = {"text"},
                                          .threads = 1,
                                          .start = position,
                                          .pause = [&] { return ++asked > 1; }})
                          .value();
    values.insert(part.values.begin(), part.values.end());
    visits += part.visits;
    position = part.end.position;
    finished = part.end.finished;
  }
  EXPECT_GT(parts, 3);
  EXPECT_EQ(visits, 30'100);
  EXPECT_EQ(values, whole.values);
}

TEST_F(ParquetDataset, WritesTheSameBytesWithAnyNumberOfThreadsAndAnyMemory) {
  const std::string a = many_rows("a.parquet", 300'000, ", ROW_GROUP_SIZE 20480, COMPRESSION zstd");
  const std::string b = many_rows("b.parquet", 50'000, ", COMPRESSION zstd");
  RecordSet keep(350'000);
  for (std::uint32_t i = 0; i < 350'000; ++i) {
    if (i % 11 != 5) keep.insert(RecordId{i});
  }
  for (const int threads : {1, 4}) {
    for (const std::uint64_t memory : {std::uint64_t{400} << 20, std::uint64_t{2} << 30}) {
      auto inputs = find_inputs(std::vector{a, b}, folder.path("")).value();
      auto dataset = Dataset::open(inputs, {threads, memory, folder.path("")}).value();
      ASSERT_TRUE(dataset
                      ->write(keep,
                              folder.path(fmt::format("o{}_{}.parquet", threads, memory >> 30)),
                              threads)
                      .ok());
    }
  }
  const std::string bytes = folder.read("o1_0.parquet");
  EXPECT_TRUE(bytes == folder.read("o1_2.parquet"));
  EXPECT_TRUE(bytes == folder.read("o4_0.parquet"));
  EXPECT_TRUE(bytes == folder.read("o4_2.parquet"));
  EXPECT_EQ(ask("SELECT DISTINCT compression FROM parquet_metadata(" + from("o1_0.parquet") + ")"),
            "ZSTD|\n");
  const std::string both = fmt::format(
      "(SELECT *, file_index * 300000 + file_row_number AS row FROM read_parquet([{}, {}]))",
      from("a.parquet"), from("b.parquet"));
  EXPECT_EQ(ask("SELECT list(hash(id, text) ORDER BY file_row_number)::VARCHAR FROM " +
                from("o1_0.parquet")),
            ask("SELECT list(hash(id, text) ORDER BY row)::VARCHAR FROM " + both +
                " WHERE row % 11 != 5"));
}

TEST_F(ParquetDataset, JoinsPartsOfLargeFiles) {
  const auto rows = [](int begin, int end) {
    return fmt::format(
        "SELECT range AS id, repeat(md5(range::VARCHAR), 1500) AS text, 'kind' || range % 5 AS "
        "kind FROM range({}, {})",
        begin, end);
  };
  const std::string a = make("a.parquet", rows(0, 5'000), ", ROW_GROUP_SIZE 2048");
  const std::string b = make("b.parquet", rows(5'000, 5'100));
  auto dataset = open_dataset({a, b}).value();
  RecordSet keep(5'100);
  for (std::uint32_t i = 0; i < 5'100; ++i) {
    if (i % 4 != 1) keep.insert(RecordId{i});
  }
  for (const auto& [name, threads] : {std::pair("one.parquet", 1), {"four.parquet", 4}}) {
    const auto report = dataset->write(keep, folder.path(name), threads);
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_EQ(report->records, 3'825);
  }
  EXPECT_TRUE(folder.read("one.parquet") == folder.read("four.parquet"));
  const std::string all = "SELECT list(hash(id, text, kind))::VARCHAR FROM read_parquet(";
  EXPECT_EQ(
      ask(all + from("one.parquet") + ")"),
      ask(fmt::format("{}[{}, {}]) WHERE id % 4 != 1", all, from("a.parquet"), from("b.parquet"))));
  // Bloom filters and statistics moved with their row groups.
  const auto excludes = [&](const std::string& kind) {
    return ask(fmt::format(
        "SELECT DISTINCT bloom_filter_excludes FROM parquet_bloom_probe({}, 'kind', '{}')",
        from("one.parquet"), kind));
  };
  EXPECT_EQ(ask("SELECT count(*) FROM " + from("one.parquet") + " WHERE kind = 'kind3'"), "765|\n");
  EXPECT_EQ(excludes("kind3"), "false|\n");
  EXPECT_EQ(excludes("other"), "true|\n");
  EXPECT_EQ(ask("SELECT num_rows FROM parquet_file_metadata(" + from("one.parquet") + ")"),
            "3825|\n");
}

TEST_F(ParquetDataset, UnitesFilesOfDifferentColumnsAndSaysSo) {
  const std::string a = make("a.parquet", "SELECT 1 AS id, 'x' AS text");
  const std::string b = make("b.parquet", "SELECT 'y' AS text, 2.5 AS score");
  auto dataset = open_dataset({a, b}).value();
  const auto seen = scan_all(*dataset, {.columns = {"text"}, .threads = 1}).value();
  EXPECT_THAT(seen.values.at(1), ElementsAre("y"));
  const auto report = dataset->write(RecordSet(2, true), folder.path("out.parquet"), 1).value();
  EXPECT_THAT(report.notes, ElementsAre(HasSubstr("different columns")));
  EXPECT_EQ(ask("SELECT id, text, score FROM " + from("out.parquet")), "1|x|NULL|\nNULL|y|2.5|\n");
}

TEST_F(ParquetDataset, KeepsTheMetadataOfOtherPrograms) {
  auto dataset = open_dataset({make("a.parquet", "SELECT 1 AS id",
                                    ", KV_METADATA {huggingface: '{\"info\": \"it''s\"}'}")})
                     .value();
  ASSERT_TRUE(dataset->write(RecordSet(1, true), folder.path("out.parquet"), 1).ok());
  const std::string query = "SELECT decode(key), decode(value) FROM parquet_kv_metadata(";
  EXPECT_EQ(ask(query + from("out.parquet") + ")"), "huggingface|{\"info\": \"it's\"}|\n");
}

TEST_F(ParquetDataset, ReadsFilesWhoseNamesLookLikePatterns) {
  std::filesystem::create_directory(folder.path("year=2024"));
  const std::string path = make("year=2024/part.parquet", "SELECT 1 AS id");
  std::filesystem::rename(path, folder.path("year=2024/it's [1]*.parquet"));
  make("year=2024/it's 1x.parquet", "SELECT 2 AS id");
  auto dataset = open_dataset({folder.path("year=2024/it's [1]*.parquet").string()}).value();
  EXPECT_THAT(dataset->columns().value(), ElementsAre("id"));
  const auto seen = scan_all(*dataset, {.columns = {"id"}, .threads = 1}).value();
  EXPECT_THAT(seen.values.at(0), ElementsAre("1"));
  ASSERT_TRUE(dataset->write(RecordSet(1, true), folder.path("out[1]'.parquet"), 1).ok());
  EXPECT_TRUE(std::filesystem::exists(folder.path("out[1]'.parquet")));
}

TEST_F(ParquetDataset, NamesFilesThatAreNoParquet) {
  const auto text =
      open_dataset({folder.write("bad.parquet", "this is not Parquet, it is text, long enough")});
  ASSERT_FALSE(text.ok());
  EXPECT_THAT(text.error().message, HasSubstr("bad.parquet"));
  std::string bytes =
      folder.read(std::filesystem::path(many_rows("a.parquet", 20'000)).filename().string());
  const auto cut = open_dataset({folder.write("cut.parquet", bytes.substr(0, bytes.size() / 2))});
  ASSERT_FALSE(cut.ok());
  EXPECT_THAT(cut.error().message, HasSubstr("cut.parquet"));
}

TEST_F(ParquetDataset, RefusesAFileWhoseRowsAreNotThere) {
  const std::string a = many_rows("a.parquet", 5'000);
  change_footer("a.parquet", [](ThriftValue& footer) { footer.field(3)->number = 6'000; });
  const auto dataset = open_dataset({a});
  ASSERT_FALSE(dataset.ok());
  EXPECT_EQ(dataset.error().code, Code::kDataLoss);
  EXPECT_THAT(dataset.error().message, HasSubstr("a.parquet: the file is damaged: it should have "
                                                 "6000 rows, but its row groups have 5000"));
}

TEST_F(ParquetDataset, SaysWhichTextIsNotUtf8SkipsItAndWritesItAsItIs) {
  make("a.parquet",
       "SELECT 'text ' || range AS text, 'caf\xC3\xA9 some long text here ' || "
       "range AS meta FROM range(5000)",
       ", COMPRESSION uncompressed, ROW_GROUP_SIZE 2048");
  std::string bytes = folder.read("a.parquet");
  bytes[bytes.find("some long text here 4997")] = '\xff';
  const std::string path = folder.write("bad.parquet", bytes);
  auto dataset = open_dataset({path}).value();
  EXPECT_TRUE(scan_all(*dataset, {.columns = {"text"}, .threads = 2}).ok());
  const std::string message =
      path +
      ": row 4997: column `meta` has text that is not valid UTF-8 (it begins with "
      "\"caf\\xC3\\xA9 \\xFFome long text here 4997\") (use --on-error skip, re-encode it, or "
      "store it as binary)";
  const auto seen = scan_all(*dataset, {.columns = {"meta"}, .threads = 2});
  ASSERT_FALSE(seen.ok());
  EXPECT_EQ(seen.error().message, message);
  const auto rest =
      scan_all(*dataset, {.columns = {"meta"}, .threads = 2, .on_error = OnError::kSkip}).value();
  EXPECT_EQ(rest.visits, 4'999);
  EXPECT_THAT(dataset->skipped().rows, ElementsAre(RecordId{4'997}));
  EXPECT_THAT(dataset->skipped().messages.at(0).second, message);
  dataset = open_dataset({path}).value();
  RecordSet keep(5'000, true);
  keep.erase(RecordId{4'998});
  ASSERT_TRUE(dataset->write(keep, folder.path("out.parquet"), 2).ok());
  EXPECT_THAT(folder.read("out.parquet"), HasSubstr("\xffome long text here 4997"));
  EXPECT_THAT(folder.read("out.parquet"), testing::Not(HasSubstr("long text here 4998")));
}

TEST_F(ParquetDataset, NamesTheColumnThatIsDamaged) {
  make("a.parquet", "SELECT range AS id, 'text ' || hash(range) AS text FROM range(50000)",
       ", COMPRESSION zstd");
  std::string bytes = folder.read("a.parquet");
  for (std::size_t at = bytes.size() / 2; at < bytes.size() / 2 + 2000; ++at) bytes[at] ^= 0x5a;
  const std::string path = folder.write("bad.parquet", bytes);
  auto dataset = open_dataset({path}).value();
  RecordSet keep(50'000, true);
  keep.erase(RecordId{7});
  const auto written = dataset->write(keep, folder.path("out.parquet"), 2);
  const auto seen = scan_all(*dataset, {.columns = {"text"}, .threads = 2});
  const auto converted = dataset->write(keep, folder.path("out.csv"), 2);
  ASSERT_FALSE(written.ok());
  ASSERT_FALSE(seen.ok());
  ASSERT_FALSE(converted.ok());
  for (const Error& error : {written.error(), seen.error(), converted.error()}) {
    EXPECT_EQ(error.code, Code::kDataLoss);
    EXPECT_THAT(error.message,
                testing::StartsWith(path + ": column `text` cannot be read, the file seems to be "
                                           "damaged: "));
    EXPECT_THAT(error.message, testing::Not(HasSubstr("Error:")));
  }
}

TEST_F(ParquetDataset, SkipsAFileThatLacksTheColumnOnce) {
  const std::string a = many_rows("a.parquet", 20'000);
  const std::string b =
      make("b.parquet", "SELECT 'x' AS other FROM range(20000)", ", ROW_GROUP_SIZE 2048");
  auto dataset = open_dataset({a, b}).value();
  int asked = 0;
  const auto seen = scan_all(*dataset, {.columns = {"text"},
                                        .threads = 1,
                                        .on_error = OnError::kSkip,
                                        .pause = [&] { return ++asked > 1'000; }})
                        .value();
  EXPECT_EQ(seen.visits, 20'000);
  EXPECT_EQ(dataset->skipped().count, 20'000);
  // Ranges of four row groups of the first file, and the second one as a whole.
  EXPECT_LE(asked, 5);
}

// Columns that DuckDB cannot distinguish or hold prevent conversions only.
TEST_F(ParquetDataset, KeepsColumnsThatHideRowNumbersAndRefusesToConvertThem) {
  for (const std::string name : {"FILE_ROW_NUMBER", "file_row_number", "File_Index"}) {
    auto dataset =
        open_dataset({make("a.parquet", "SELECT 9 AS \"" + name + "\", 'x' AS text")}).value();
    EXPECT_THAT(scan_all(*dataset, {.columns = {name}, .threads = 1})->values.at(0),
                ElementsAre("9"));
    ASSERT_TRUE(dataset->write(RecordSet(1, true), folder.path("out.parquet"), 1).ok());
    EXPECT_TRUE(folder.read("out.parquet") == folder.read("a.parquet"));
    const auto converted = dataset->write(RecordSet(1, true), folder.path("out.csv"), 1);
    ASSERT_FALSE(converted.ok());
    EXPECT_THAT(converted.error().message,
                HasSubstr("a.parquet: a column cannot be called " + name + " here (rename it)"));
  }
}

TEST_F(ParquetDataset, KeepsLongDecimalsAndRefusesToConvertThem) {
  const std::string a = make(
      "a.parquet", "SELECT 'x' || range AS text, {'d': range::DECIMAL(38,0)} AS s FROM range(9)");
  change_footer("a.parquet", [](ThriftValue& footer) {
    ThriftValue& element = footer.field(2)->items.at(3);
    element.field(8)->number = 39;
    element.field(10)->field(5)->field(2)->number = 39;
  });
  auto dataset = open_dataset({a}).value();
  ASSERT_TRUE(dataset->write(keep_rows(9, {4, 7}), folder.path("out.parquet"), 1).ok());
  const std::string schema = "SELECT * EXCLUDE (file_name) FROM parquet_schema(";
  EXPECT_EQ(ask(schema + from("out.parquet") + ")"), ask(schema + from("a.parquet") + ")"));
  EXPECT_EQ(ask("SELECT text FROM " + from("out.parquet")), "x4|\nx7|\n");
  const auto converted = dataset->write(RecordSet(9, true), folder.path("out.jsonl"), 1);
  ASSERT_FALSE(converted.ok());
  EXPECT_THAT(
      converted.error().message,
      HasSubstr("a.parquet: column `d` is a decimal of 39 digits, and only 38 can be read"));
}

TEST_F(ParquetDataset, KeepsColumnsThatDifferInCaseOnlyAndRefusesToConvertThem) {
  const std::string plain = make("a.parquet", "SELECT 1 AS aaa, 2 AS bbb, 'x' AS text");
  const std::string nested = make("b.parquet", "SELECT {'n': 1, 'aaa': 1, 'bbb': 2} AS s");
  for (const std::string& path : {plain, nested}) {
    const std::string name = std::filesystem::path(path).filename().string();
    change_footer(name, [](ThriftValue& footer) {
      for (ThriftValue& element : footer.field(2)->items) {
        if (element.field(4)->bytes == "bbb") element.field(4)->bytes = "AAA";
      }
    });
    auto dataset = open_dataset({path}).value();
    ASSERT_TRUE(dataset->write(RecordSet(1, true), folder.path("out.parquet"), 1).ok());
    EXPECT_TRUE(folder.read("out.parquet") == folder.read(name));
    const auto converted = dataset->write(RecordSet(1, true), folder.path("out.jsonl"), 1);
    ASSERT_FALSE(converted.ok());
    EXPECT_THAT(converted.error().message,
                HasSubstr(path + ": the columns `aaa` and `AAA` cannot be told apart"));
  }
}

TEST_F(ParquetDataset, RefusesNoRecordsAndStopsForVisitors) {
  auto empty = open_dataset({make("empty.parquet", "SELECT 1 AS id LIMIT 0")}).value();
  const auto nothing = scan_all(*empty, {.columns = {"id"}, .threads = 1});
  ASSERT_FALSE(nothing.ok());
  EXPECT_THAT(nothing.error().message, HasSubstr("empty.parquet: there are no records"));
  auto dataset = open_dataset({many_rows("a.parquet", 10'000)}).value();
  const auto end =
      dataset->scan({.columns = {"text"}, .threads = 2},
                    [](const Batch&, int) -> Status { return Error{Code::kCancelled, "enough"}; });
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().message, "enough");
  EXPECT_TRUE(scan_all(*dataset, {.columns = {"text"}, .threads = 2}).ok());
}

TEST_F(ParquetDataset, SamplesWithAnExactCount) {
  auto dataset = open_dataset({many_rows("a.parquet", 50'000)}).value();
  const Sample sample =
      dataset->sample({.columns = {"text"}, .max_bytes = 100'000, .visitor = {}}).value();
  EXPECT_TRUE(sample.exact);
  EXPECT_EQ(sample.total_rows, 50'000);
  EXPECT_GT(sample.rows, 100);
  EXPECT_LT(sample.rows, 50'000);
  EXPECT_EQ(sample.lengths[0].size(), sample.rows);
}

TEST_F(ParquetDataset, LeavesNothingBehindWhenItCannotWrite) {
  auto dataset = open_dataset({make("a.parquet", "SELECT 1 AS id")}).value();
  const auto missing_folder =
      dataset->write(RecordSet(1, true), folder.path("no/such/out.parquet"), 1);
  ASSERT_FALSE(missing_folder.ok());
  EXPECT_THAT(missing_folder.error().message,
              HasSubstr("no/such/out.parquet: No such file or directory"));
  const auto onto_input = dataset->write(RecordSet(1, true), folder.path("a.parquet"), 1);
  ASSERT_FALSE(onto_input.ok());
  EXPECT_THAT(folder.names(), ElementsAre("a.parquet"));
}

}  // namespace
}  // namespace kin::data
