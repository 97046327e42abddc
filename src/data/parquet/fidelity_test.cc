// Parquet to Parquet loses nothing: files of two other writers, filtered in many ways, against what
// DuckDB reads in them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/testing/source_folder.h"
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

  // Rows that stay, in runs or one by one, none and all of a row group among them.
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

  // Everything of a footer that no filter should change.
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

  // Filters `path` in some ways and compares.
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

}  // namespace
}  // namespace kin::data
