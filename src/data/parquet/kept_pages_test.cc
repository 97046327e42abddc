// Pages that scans unpacked serve later scans and the write.
#include "data/kept_pages.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "data/pages/codec.h"
#include "data/pages/page.h"
#include "data/testing/parquet_fixture.h"

namespace kin::data {
namespace {

PageBuffer page_of(std::size_t bytes) {
  PageBuffer page;
  EXPECT_NE(page.reset(bytes), nullptr);
  return page;
}

bool offer(KeptPages& kept, const std::string& file, std::uint64_t begin, std::size_t bytes) {
  if (!kept.reserve(bytes)) return false;
  kept.keep(file, begin, page_of(bytes));
  return true;
}

TEST(KeptPages, HoldsTheFirstPagesUpToItsLimit) {
  KeptPages kept;
  EXPECT_FALSE(offer(kept, "a", 4, 1'000));
  kept.limit(5'000);
  EXPECT_TRUE(offer(kept, "a", 4, 2'000));
  EXPECT_TRUE(offer(kept, "b", 4, 2'000));
  EXPECT_FALSE(offer(kept, "b", 3'000, 1'000));
  EXPECT_NE(kept.find("a", 4), nullptr);
  EXPECT_EQ(kept.find("b", 3'000), nullptr);
  EXPECT_LE(kept.bytes(), 5'000U);

  kept.limit(3'000);
  EXPECT_NE(kept.find("a", 4), nullptr);
  EXPECT_EQ(kept.find("b", 4), nullptr);
  kept.drop("a", 4);
  EXPECT_EQ(kept.bytes(), 0U);
}

TEST(KeptPages, CountsAPageOnceThatTwoThreadsUnpacked) {
  KeptPages kept;
  kept.limit(1 << 20);
  EXPECT_TRUE(offer(kept, "a", 4, 1'000));
  const std::uint64_t bytes = kept.bytes();
  EXPECT_TRUE(offer(kept, "a", 4, 1'000));
  EXPECT_EQ(kept.bytes(), bytes);
  ASSERT_TRUE(kept.reserve(500));
  kept.give_back(500);
  EXPECT_EQ(kept.bytes(), bytes);
}

class KeptPagesOfFiles : public ParquetTest {
 protected:
  static constexpr std::uint64_t kRows = 30'000;

  std::string make_texts(const std::string& options) {
    return make("a.parquet",
                fmt::format("SELECT i AS id, CASE WHEN i % 7 > 0 THEN 'text ' || i || "
                            "repeat(sha256((i % 900)::VARCHAR), 8) END AS text FROM range({}) t(i)",
                            kRows),
                ", ROW_GROUP_SIZE 12000" + options);
  }

  std::unique_ptr<Dataset> open(const std::shared_ptr<KeptPages>& kept,
                                std::uint64_t memory = std::uint64_t{1} << 30) {
    const std::vector<std::string> patterns{folder.path("a.parquet").string()};
    auto inputs = find_inputs(patterns, folder.path("")).value();
    return Dataset::open(std::move(inputs), {.threads = 2,
                                             .memory_bytes = memory,
                                             .temporary_folder = folder.path(""),
                                             .kept_pages = kept})
        .value();
  }

  // Overwrites the packed bytes of all data pages of a column, and leaves their headers and levels.
  void damage(const std::string& column) {
    const std::string path = folder.path("a.parquet").string();
    File file = File::open_to_update(path).value();
    const Footer footer = read_footer(file).value();
    const std::size_t leaf = find_leaf(footer, column).value();
    for (const GroupPlace& group : footer.groups) {
      PageWalk walk(file, group.chunks[leaf]);
      for (auto page = walk.next().value(); page; page = walk.next().value()) {
        if (!page->header.is_data()) continue;
        const std::uint32_t levels = page->header.definition_bytes + page->header.repetition_bytes;
        ASSERT_TRUE(file.write_at(page->begin + page->header_bytes + levels,
                                  std::string(page->header.packed_bytes - levels, '\xff'))
                        .ok());
      }
    }
  }

  RecordSet most_rows() const {
    RecordSet keep(kRows, true);
    for (std::uint32_t row = 0; row < kRows; row += 10) keep.erase(RecordId(row));
    return keep;
  }

  std::string written(Dataset& dataset, const std::string& name) {
    const auto report = dataset.write(most_rows(), folder.path(name), 2);
    EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().message);
    return folder.read(name);
  }
};

TEST_F(KeptPagesOfFiles, AreReadOnceForAllScansAndTheWrite) {
  for (const std::string options : {"", ", COMPRESSION zstd", ", COMPRESSION gzip",
                                    ", PARQUET_VERSION v2", ", COMPRESSION lz4_raw"}) {
    SCOPED_TRACE(options);
    make_texts(options);
    const std::string expected = written(*open(nullptr), "expected.parquet");
    const auto kept = std::make_shared<KeptPages>();
    auto dataset = open(kept);
    const ScanOptions scan{.columns = {"text"}, .threads = 2};
    const auto first = scan_all(*dataset, scan).value();
    EXPECT_GT(kept->bytes(), 0U);
    damage("text");
    EXPECT_FALSE(scan_all(*open(nullptr), scan).ok());
    EXPECT_EQ(scan_all(*dataset, scan).value().values, first.values);
    // A dataset that is opened later finds them too.
    EXPECT_EQ(written(*open(kept), "a.out.parquet"), expected);
    EXPECT_EQ(kept->bytes(), 0U);
  }
}

TEST_F(KeptPagesOfFiles, StayWithinTheMemoryAndChangeNothing) {
  make_texts("");
  const std::string expected = written(*open(nullptr), "expected.parquet");
  const ScanOptions scan{.columns = {"text"}, .threads = 2};
  const auto first = scan_all(*open(nullptr), scan).value();
  for (const std::uint64_t memory : {1U, 12'000'000U, 20'000'000U, 40'000'000U}) {
    SCOPED_TRACE(memory);
    const auto kept = std::make_shared<KeptPages>();
    auto dataset = open(kept, memory);
    for (int round = 0; round < 2; ++round) {
      EXPECT_EQ(scan_all(*dataset, scan).value().values, first.values);
      EXPECT_LE(kept->bytes(), memory);
    }
    EXPECT_EQ(written(*dataset, "a.out.parquet"), expected);
    dataset->limit_memory(0);
    EXPECT_EQ(kept->bytes(), 0U);
  }
}

TEST_F(KeptPagesOfFiles, MakeRoomForDuckDb) {
  make_texts("");
  const auto kept = std::make_shared<KeptPages>();
  auto dataset = open(kept);
  const ScanOptions scan{.columns = {"text"}, .threads = 2};
  ASSERT_TRUE(scan_all(*dataset, scan).ok());
  EXPECT_GT(kept->bytes(), 0U);
  EXPECT_FALSE(written(*dataset, "a.jsonl").empty());
  EXPECT_EQ(kept->bytes(), 0U);
}

}  // namespace
}  // namespace kin::data
