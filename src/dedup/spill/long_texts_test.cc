#include "dedup/spill/long_texts.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "base/workers.h"

namespace kin::dedup {
namespace {

std::string repeated(std::string_view piece, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += piece;
  return text;
}

TEST(TextWeight, IsTheLengthOfTextsWithUsualWords) {
  DedupOptions options;
  EXPECT_EQ(text_weight("a b c", options), 5U);
  const std::string prose = repeated("an ordinary sentence of several words. ", 1 << 20);
  EXPECT_EQ(text_weight(prose, options), prose.size());
}

TEST(TextWeight, IsMoreWhereHashesTakeMoreThanTheText) {
  DedupOptions options;
  const std::string letters = repeated("a b ", 1 << 20);
  EXPECT_GE(text_weight(letters, options), letters.size() * 19 / 10);
  const std::string chinese = repeated("\xE4\xB8\xAD\xE6\x96\x87", 1 << 20);
  EXPECT_GE(text_weight(chinese, options), chinese.size() * 14 / 10);
  options.shingles.unit = sketch::ShingleOptions::Unit::kChar;
  const std::string prose = repeated("words ", 1 << 20);
  EXPECT_GE(text_weight(prose, options), prose.size() * 3);
}

TEST(TextWeight, CountsTheUnitsToCut) {
  DedupOptions options;
  const std::string lines = repeated("\n", 1 << 20);
  EXPECT_EQ(text_weight(lines, options), lines.size());
  options.cut.emplace();
  EXPECT_GE(text_weight(lines, options), lines.size() * 3);
  options.cut->unit = CutOptions::Unit::kByte;
  EXPECT_EQ(text_weight(lines, options), lines.size());
  // Signs are words where text is cut, but not where it is compared.
  options.cut->unit = CutOptions::Unit::kWord;
  const std::string signs = repeated("- ", 1 << 20);
  EXPECT_GE(text_weight(signs, options), signs.size() * 19 / 10);
  options.cut.reset();
  EXPECT_EQ(text_weight(signs, options), signs.size());
}

TEST(TextRoom, IsNeverSharedByMoreThanFit) {
  constexpr std::uint64_t kRoom = 100;
  TextRoom room(kRoom);
  std::atomic<std::uint64_t> held = 0;
  std::atomic<std::uint64_t> most = 0;
  ASSERT_TRUE(
      run_workers(4, [&](int worker) -> Status {
        for (std::uint64_t i = 0; i < 500; ++i) {
          // The largest requests exceed the total, and count as all of it.
          const std::uint64_t bytes = 10 + (i * 37 + static_cast<std::uint64_t>(worker)) % 120;
          const TextRoom::Share share(room, bytes);
          const std::uint64_t now = held += std::min(bytes, kRoom);
          for (std::uint64_t seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
          }
          held -= std::min(bytes, kRoom);
        }
        return Done{};
      }).ok());
  EXPECT_LE(most, kRoom);
}

}  // namespace
}  // namespace kin::dedup
