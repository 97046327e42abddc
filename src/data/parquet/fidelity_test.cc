// Parquet to Parquet loses nothing: files of two other writers are filtered in many ways, and every
// value is compared with what DuckDB reads.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/testing/source_folder.h"
#include "data/pages/codec.h"
#include "data/pages/page.h"
#include "data/testing/parquet_fixture.h"

namespace kin::data {
namespace {

using testing::HasSubstr;
using Random = std::mt19937_64;

class ParquetFidelity : public ParquetTest {
 protected:
  static std::string fixture(const std::string& name) {
    return fmt::format("{}/tests/parquet/{}.parquet", source_folder(), name);
  }

  static Footer footer_of(const std::string& path) {
    return read_footer(File::open_to_read(path).value()).value();
  }

  // Rows to keep, in runs or one by one, including none and all of a row group.
  static RecordSet random_rows(std::size_t count, Random& random) {
    RecordSet keep(count);
    const std::uint64_t density = random() % 5;
    for (std::uint32_t row = 0; row < count;) {
      const std::uint64_t run = density == 0 ? 1 + random() % 150 : 1 + random() % 8;
      const bool stays = density == 4 ? random() % 40 != 0 : random() % (density + 2) == 0;
      for (std::uint64_t i = 0; i < run && row < count; ++i, ++row)
        if (stays) keep.insert(RecordId{row});
    }
    return keep;
  }

  // Every value of the wanted rows, in order, as DuckDB sees them.
  std::string values(const std::string& path, const RecordSet* keep) {
    std::string where;
    if (keep != nullptr) {
      std::string rows = "-1";
      for (std::uint32_t row = 0; row < keep->size(); ++row)
        if (keep->contains(RecordId{row})) rows += fmt::format(",{}", row);
      where = fmt::format(" WHERE file_row_number IN ({})", rows);
    }
    return ask(fmt::format("SELECT COLUMNS(c -> c != 'file_row_number')::VARCHAR FROM "
                           "read_parquet({}, file_row_number = true){} ORDER BY file_row_number",
                           sql_text(path), where)) +
           ask(fmt::format("DESCRIBE SELECT * FROM {}", sql_text(path)));
  }

  // The parts of a footer that no filter may change.
  static std::string unchanging(const Footer& footer) {
    ThriftValue metadata = footer.metadata;
    metadata.erase(ids::file::kRows);
    metadata.erase(ids::file::kGroups);
    std::string bytes;
    encode_thrift(bytes, metadata);
    return bytes;
  }

  void expect_same_chunks(const Footer& before, const Footer& after, const RecordSet& keep) {
    std::size_t group = 0;
    for (const GroupPlace& place : before.groups) {
      const std::size_t kept = keep.count_between(place.first_row, place.first_row + place.rows);
      if (kept == 0) continue;
      ASSERT_LT(group, after.groups.size());
      EXPECT_EQ(after.groups[group].rows, kept);
      for (std::size_t i = 0; i < before.leaves.size(); ++i)
        EXPECT_EQ(after.groups[group].chunks[i].codec, place.chunks[i].codec);
      ++group;
    }
    EXPECT_EQ(group, after.groups.size());
  }

  // Filters `path` in several ways and compares.
  void check(const std::string& path, int rounds, Random& random) {
    auto dataset = open_dataset({path}).value();
    const Footer before = footer_of(path);
    for (int round = 0; round < rounds; ++round) {
      const RecordSet keep =
          round == 0 ? RecordSet(before.rows, true) : random_rows(before.rows, random);
      const std::string out = folder.path("out.parquet").string();
      const auto report = dataset->write(keep, out, 1 + round % 3);
      ASSERT_TRUE(report.ok()) << path << ": " << report.error().message;
      EXPECT_EQ(report->records, keep.count());
      EXPECT_THAT(report->notes, testing::IsEmpty());
      const Footer after = footer_of(out);
      EXPECT_EQ(unchanging(before), unchanging(after)) << path;
      expect_same_chunks(before, after, keep);
      ASSERT_TRUE(values(out, nullptr) == values(path, &keep)) << path << " round " << round;
      // A file that was filtered can be filtered again.
      auto again = open_dataset({out}).value();
      ASSERT_TRUE(again->write(RecordSet(keep.count(), true), folder.path("2.parquet"), 1).ok());
      EXPECT_TRUE(folder.read("2.parquet") == folder.read("out.parquet")) << path;
    }
  }
};

TEST_F(ParquetFidelity, KeepsEverythingOfFilesThatArrowWrote) {
  Random random(3);
  for (const std::string name :
       {"all_v1", "all_v2", "plain_v2", "delta_numbers", "delta_length", "delta_bytes", "split"}) {
    SCOPED_TRACE(name);
    check(fixture(name), 12, random);
  }
}

TEST_F(ParquetFidelity, KeepsEverythingOfFilesThatDuckDbWrote) {
  Random random(5);
  const std::string select =
      "SELECT i::INTEGER AS i, (i * 1.25)::DECIMAL(18, 3) AS price, (i / 7)::DECIMAL(38,6) AS big, "
      "TIMESTAMP '2024-02-29 12:00:00' + INTERVAL (i) HOUR AS at, DATE '2024-01-01' + i::INTEGER "
      "AS "
      "day, {'title': 'T' || i, 'tags': ['a', NULL, 'b' || i]} AS meta, CASE WHEN i % 3 = 0 THEN "
      "NULL ELSE repeat('text ' || i, (i % 90)::INT) END AS text, ('\\x00\\xFF' || i)::BLOB AS "
      "raw, "
      "MAP {'k': i, 'l': i + 1} AS pairs, i % 2 = 0 AS flag, (i % 100)::UTINYINT AS small, i / "
      "3.0::DOUBLE AS x, (i / 7.0)::FLOAT AS y, uuid() AS u, "
      "CASE WHEN i % 5 > 0 THEN [[i], [], NULL, [i, NULL]] END AS deep, 'kind' || (i % 4) AS kind, "
      "i::UBIGINT AS u64, TIME '10:00:00' AS t, NULL::VARCHAR AS nothing FROM range(5000) t(i)";
  for (const std::string codec : {"uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4_raw"}) {
    for (const std::string version : {"V1", "V2"}) {
      const std::string path = make(
          "a.parquet", select,
          fmt::format(", COMPRESSION {}, PARQUET_VERSION {}, ROW_GROUP_SIZE 2048", codec, version));
      SCOPED_TRACE(codec + " " + version);
      check(path, 3, random);
    }
  }
}

TEST_F(ParquetFidelity, WritesTheSameBytesWithAnyThreadsAndMemory) {
  const std::string a = make(
      "a.parquet",
      "SELECT range AS id, repeat(md5(range::VARCHAR), 40) AS text, [range, range + 1] AS l FROM "
      "range(60000)",
      ", ROW_GROUP_SIZE 20480");
  RecordSet keep(60'000, true);
  for (std::uint32_t row = 5; row < 60'000; row += 9) keep.erase(RecordId{row});
  std::string first;
  for (const int threads : {1, 2, 5}) {
    for (const std::uint64_t memory : {std::uint64_t{1} << 20, std::uint64_t{1} << 30}) {
      auto dataset = Dataset::open(find_inputs(std::vector{a}, folder.path("")).value(),
                                   {threads, memory, folder.path("")})
                         .value();
      ASSERT_TRUE(dataset->write(keep, folder.path("out.parquet"), threads).ok());
      if (first.empty()) first = folder.read("out.parquet");
      EXPECT_TRUE(folder.read("out.parquet") == first) << threads << " " << memory;
    }
  }
  EXPECT_TRUE(values(folder.path("out.parquet").string(), nullptr) == values(a, &keep));
  // DuckDB's pages of a whole row group became pages of a usual size.
  const Footer footer = footer_of(folder.path("out.parquet").string());
  const File file = File::open_to_read(folder.path("out.parquet")).value();
  PageWalk walk(file, footer.groups[0].chunks[1]);
  int pages = 0;
  for (auto page = walk.next().value(); page; page = walk.next().value(), ++pages)
    EXPECT_LT(page->header.bytes, 2 << 20);
  EXPECT_GT(pages, 10);
}

TEST_F(ParquetFidelity, KeepsStatisticsAsFarAsTheyAreTrue) {
  const std::string a = make("a.parquet",
                             "SELECT range AS id, CASE WHEN range % 2 = 0 THEN range END AS half "
                             "FROM range(1000)");
  RecordSet keep(1'000);
  for (std::uint32_t row = 100; row < 300; ++row) keep.insert(RecordId{row});
  ASSERT_TRUE(open_dataset({a}).value()->write(keep, folder.path("out.parquet"), 1).ok());
  EXPECT_EQ(
      ask("SELECT min(id), max(id), count(half), min(half), max(half) FROM " + from("out.parquet")),
      "100|299|100|100|298|\n");
  EXPECT_EQ(ask("SELECT stats_null_count, stats_min_value, stats_max_value, stats_distinct_count "
                "FROM parquet_metadata(" +
                from("out.parquet") + ")"),
            "0|0|999|NULL|\n100|0|998|NULL|\n");
  EXPECT_EQ(ask("SELECT count(*) FROM " + from("out.parquet") + " WHERE id > 250"), "49|\n");
}

TEST_F(ParquetFidelity, PutsFilesOfOneSchemaBehindEachOther) {
  const std::string a = fixture("all_v1");
  const std::string b = fixture("all_v2");
  auto dataset = open_dataset({a, b}).value();
  RecordSet keep(480, true);
  keep.erase(RecordId{3});
  keep.erase(RecordId{300});
  const auto report = dataset->write(keep, folder.path("out.parquet"), 2).value();
  EXPECT_THAT(report.notes, testing::IsEmpty());
  const Footer footer = footer_of(folder.path("out.parquet").string());
  EXPECT_EQ(footer.groups.size(), 6);
  EXPECT_EQ(footer.groups[0].chunks[0].codec, Codec::kSnappy);
  EXPECT_EQ(footer.groups[5].chunks[0].codec, Codec::kZstd);
  EXPECT_EQ(schema_bytes(footer), schema_bytes(footer_of(a)));
  EXPECT_EQ(
      ask("SELECT count(*), sum(id) FROM " + from("out.parquet")),
      ask(fmt::format("SELECT count(*), sum(id) FROM read_parquet([{}, {}], file_row_number = "
                      "true, filename = 'f') WHERE NOT (f LIKE '%v1%' AND file_row_number = "
                      "3) AND NOT (f LIKE '%v2%' AND file_row_number = 60)",
                      sql_text(a), sql_text(b))));
}

ThriftValue number(ThriftType type, std::int64_t value) {
  ThriftValue made;
  made.type = type;
  made.number = value;
  return made;
}

ThriftValue text(std::string_view bytes) {
  ThriftValue made;
  made.type = ThriftType::kBinary;
  made.bytes = bytes;
  return made;
}

ThriftValue list(ThriftType element, std::vector<ThriftValue> items) {
  ThriftValue made;
  made.type = ThriftType::kList;
  made.element = element;
  made.items = std::move(items);
  return made;
}

// A file of one REQUIRED text column, with a page for each list of texts. Pages have checksums;
// that of page `wrong` is wrong.
std::string checksummed_file(const std::vector<std::vector<std::string>>& pages, int wrong) {
  std::string file = "PAR1";
  std::int64_t rows = 0;
  for (std::size_t i = 0; i < pages.size(); ++i) {
    std::string page;
    for (const std::string& one : pages[i]) {
      append_le(page, static_cast<std::uint32_t>(one.size()));
      page += one;
    }
    const auto size = static_cast<std::int64_t>(page.size());
    ThriftValue about;
    about.put(1, number(ThriftType::kInt32, static_cast<std::int64_t>(pages[i].size())));
    for (const auto& [id, encoding] : {std::pair(2, 0), {3, 3}, {4, 3}})
      about.put(id, number(ThriftType::kInt32, encoding));
    ThriftValue header;
    header.put(1, number(ThriftType::kInt32, 0));
    header.put(2, number(ThriftType::kInt32, size));
    header.put(3, number(ThriftType::kInt32, size));
    const std::uint32_t crc = page_crc(page) + (static_cast<int>(i) == wrong ? 1 : 0);
    header.put(4, number(ThriftType::kInt32, static_cast<std::int32_t>(crc)));
    header.put(5, about);
    encode_thrift(file, header);
    file += page;
    rows += static_cast<std::int64_t>(pages[i].size());
  }
  ThriftValue metadata;
  metadata.put(1, number(ThriftType::kInt32, 6));
  metadata.put(2, list(ThriftType::kInt32, {number(ThriftType::kInt32, 0)}));
  metadata.put(3, list(ThriftType::kBinary, {text("text")}));
  metadata.put(4, number(ThriftType::kInt32, 0));
  metadata.put(5, number(ThriftType::kInt64, rows));
  for (const int id : {6, 7})
    metadata.put(id, number(ThriftType::kInt64, static_cast<std::int64_t>(file.size() - 4)));
  metadata.put(9, number(ThriftType::kInt64, 4));
  ThriftValue chunk;
  chunk.put(2, number(ThriftType::kInt64, 4));
  chunk.put(3, metadata);
  ThriftValue group;
  group.put(1, list(ThriftType::kStruct, {chunk}));
  group.put(2, number(ThriftType::kInt64, static_cast<std::int64_t>(file.size() - 4)));
  group.put(3, number(ThriftType::kInt64, rows));
  ThriftValue root;
  root.put(4, text("schema"));
  root.put(5, number(ThriftType::kInt32, 1));
  ThriftValue leaf;
  leaf.put(1, number(ThriftType::kInt32, 6));
  leaf.put(3, number(ThriftType::kInt32, 0));
  leaf.put(4, text("text"));
  leaf.put(6, number(ThriftType::kInt32, 0));
  leaf.put(9, number(ThriftType::kInt32, 77));
  ThriftValue footer;
  footer.put(1, number(ThriftType::kInt32, 1));
  footer.put(2, list(ThriftType::kStruct, {root, leaf}));
  footer.put(3, number(ThriftType::kInt64, rows));
  footer.put(4, list(ThriftType::kStruct, {group}));
  const std::size_t before = file.size();
  encode_thrift(file, footer);
  append_le(file, static_cast<std::uint32_t>(file.size() - before));
  return file + "PAR1";
}

TEST_F(ParquetFidelity, ChecksAndWritesChecksumsOfPages) {
  const std::vector<std::vector<std::string>> pages{{"a", "b", "c"}, {"d"}, {"e", "f"}};
  const std::string good = folder.write("good.parquet", checksummed_file(pages, -1));
  auto dataset = open_dataset({good}).value();
  EXPECT_EQ(scan_all(*dataset, {.columns = {"text"}, .threads = 1})->visits, 6);
  RecordSet keep(6, true);
  keep.erase(RecordId{1});
  ASSERT_TRUE(dataset->write(keep, folder.path("out.parquet"), 1).ok());
  EXPECT_EQ(ask("SELECT text FROM " + from("out.parquet")), "a|\nc|\nd|\ne|\nf|\n");
  EXPECT_EQ(ask("SELECT repetition_type, field_id FROM parquet_schema(" + from("out.parquet") +
                ") WHERE name = 'text'"),
            "REQUIRED|77|\n");
  const File file = File::open_to_read(folder.path("out.parquet")).value();
  const Footer footer = read_footer(file).value();
  PageWalk walk(file, footer.groups[0].chunks[0]);
  int seen = 0;
  for (auto page = walk.next().value(); page; page = walk.next().value(), ++seen) {
    EXPECT_TRUE(page->header.crc.has_value());
    PageBuffer stored;
    EXPECT_TRUE(read_page(file, *page, stored).ok());
  }
  EXPECT_EQ(seen, 3);

  const std::string bad = folder.write("bad.parquet", checksummed_file(pages, 1));
  dataset = open_dataset({bad}).value();
  const std::string message = bad +
                              ": column `text` cannot be read, the file seems to be damaged: row "
                              "group 0: the checksum of a page is wrong";
  EXPECT_EQ(scan_all(*dataset, {.columns = {"text"}, .threads = 1}).error().message, message);
  // Even where the page is copied as it is.
  EXPECT_EQ(dataset->write(RecordSet(6, true), folder.path("2.parquet"), 2).error().message,
            message);
  keep = RecordSet(6, true);
  keep.erase(RecordId{3});
  EXPECT_TRUE(dataset->write(keep, folder.path("2.parquet"), 2).ok());
}

TEST_F(ParquetFidelity, RefusesPagesThatLieAboutThemselves) {
  const std::string path =
      make("a.parquet", "SELECT 'text ' || range AS text FROM range(3000)", ", COMPRESSION zstd");
  const std::string whole = folder.read("a.parquet");
  std::mt19937_64 random(23);
  RecordSet keep(3'000, true);
  keep.erase(RecordId{17});
  int failed = 0;
  for (int round = 0; round < 200; ++round) {
    std::string bytes = whole;
    const std::size_t at = 4 + random() % 120;  // page headers, dictionaries, levels
    bytes[at] = static_cast<char>(random());
    const std::string bad = folder.write("bad.parquet", bytes);
    auto dataset = open_dataset({bad});
    if (!dataset) continue;
    const auto written = (*dataset)->write(keep, folder.path("out.parquet"), 1);
    const auto seen = scan_all(**dataset, {.columns = {"text"}, .threads = 1});
    if (!written || !seen) ++failed;
    for (const auto& error : {written.ok() ? std::string("bad.parquet") : written.error().message,
                              seen.ok() ? std::string("bad.parquet") : seen.error().message})
      EXPECT_THAT(error, HasSubstr("bad.parquet"));
  }
  EXPECT_GT(failed, 100);
}

}  // namespace
}  // namespace kin::data
