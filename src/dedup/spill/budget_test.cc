#include "dedup/spill/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dedup/spill/long_texts.h"

namespace kin::dedup {
namespace {

constexpr std::uint64_t kMebibyte = 1 << 20;

std::vector<MemoryNeeds> some_needs() {
  return {{},
          {.records = 4'000'000},
          {.references = 300 * kMebibyte},
          {.heaviest_text = 20 * kMebibyte},
          {.longest_record = 50 * kMebibyte, .write = {.bytes = 0, .copies = 6}},
          {.scan = 210 * kMebibyte},
          {.write = {.bytes = 400 * kMebibyte}},
          {.records = 100'000, .heaviest_text = 9 * kMebibyte, .scan = 90 * kMebibyte}};
}

TEST(MemoryNeeds, AreMetByTheFigureThatIsNamed) {
  for (const bool seen : {false, true}) {
    for (const MemoryNeeds& needs : some_needs()) {
      DedupOptions options;
      if (seen) options.skip_seen = "ids.seen";
      const std::uint64_t least = least_mebibytes(options, needs);
      for (const std::uint64_t more : {0, 1, 7, 100, 5'000}) {
        options.max_memory = (least + more) * kMebibyte;
        EXPECT_TRUE(check_needs(options, needs).ok()) << least << " + " << more;
      }
      if (least <= 128 + 32) continue;  // the least that is accepted at all
      options.max_memory = (least - 2) * kMebibyte;
      const Status refused = check_needs(options, needs);
      ASSERT_FALSE(refused.ok()) << least;
      EXPECT_EQ(refused.error().code, Code::kResourceExhausted);
      EXPECT_THAT(
          refused.error().message,
          testing::HasSubstr("(use --max-memory " + std::to_string(least) + "MiB or more)"));
    }
  }
}

TEST(MemoryNeeds, AreSmallerForRunsThatOnlyCutTexts) {
  DedupOptions options;
  ASSERT_TRUE(parse_by("substring:50", options).ok());
  MemoryNeeds needs{.heaviest_text = 24 * kMebibyte, .threads = 3};
  const std::uint64_t least = least_mebibytes(options, needs);
  EXPECT_LT(least, 12 * 24 + 46);
  for (const std::uint64_t more : {0, 1, 7, 100, 5'000}) {
    options.max_memory = (least + more) * kMebibyte;
    EXPECT_TRUE(check_needs(options, needs).ok()) << least << " + " << more;
    const int threads = threads_for_memory(needs.threads, options.max_memory);
    EXPECT_GE(scan_room(options, needs, options.max_memory, threads),
              sketch_copies(options) * needs.heaviest_text);
  }
  // Pages of Parquet are held beside the texts.
  needs.pages = true;
  EXPECT_GT(least_mebibytes(options, needs), least);
  needs.pages = false;
  options.detectors.exact = true;
  EXPECT_GT(least_mebibytes(options, needs), least);
}

TEST(MemoryNeeds, SayWhatTakesMost) {
  DedupOptions options;
  options.max_memory = 128 * kMebibyte;
  const auto reason = [&](const MemoryNeeds& needs) {
    return check_needs(options, needs).error().message;
  };
  EXPECT_THAT(reason({.records = 9'000'000}), testing::HasSubstr("9000000 records need"));
  EXPECT_THAT(reason({.heaviest_text = 99 * kMebibyte}), testing::HasSubstr("the longest text"));
  EXPECT_THAT(reason({.longest_record = 99 * kMebibyte}), testing::HasSubstr("the longest record"));
  EXPECT_THAT(reason({.scan = 400 * kMebibyte}), testing::HasSubstr("to be read"));
  EXPECT_THAT(reason({.write = {.bytes = 400 * kMebibyte}}), testing::HasSubstr("to be written"));
  EXPECT_THAT(reason({.references = 400 * kMebibyte}), testing::HasSubstr("--against"));
}

TEST(Budget, HasRoomForThreadsAsFarAsMemoryGoes) {
  EXPECT_EQ(threads_for_memory(64, 128 * kMebibyte), 2);
  EXPECT_EQ(threads_for_memory(64, 1'088 * kMebibyte), 32);
  EXPECT_EQ(threads_for_memory(1, 1'088 * kMebibyte), 1);
  EXPECT_EQ(threads_for_text(4, 1'024 * kMebibyte, 1'000, 0), 4);
  EXPECT_EQ(threads_for_text(4, 256 * kMebibyte, 16 * kMebibyte, 0), 1);
}

}  // namespace
}  // namespace kin::dedup
