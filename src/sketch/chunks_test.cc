#include "sketch/chunks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "base/ascii.h"
#include "base/bytes.h"

namespace kin::sketch {
namespace {

using Kind = ChunkOptions::Kind;

std::string hex(const Chunk& chunk) {
  return to_hex(as_bytes_view(std::span<const std::byte>(chunk.sha256)));
}

std::string random_text(std::size_t letters) {
  std::mt19937_64 random(6);
  std::string text;
  for (std::size_t i = 0; i < letters; ++i) text += static_cast<char>('a' + random() % 26);
  return text;
}

TEST(Chunks, HashWithSha256) {
  const auto found = chunks("abc", {});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(hex(found[0]), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Chunks, OfNoTextAreNone) {
  EXPECT_TRUE(chunks("", {}).empty());
  EXPECT_TRUE(chunks("", {Kind::kContentDefined, 64}).empty());
}

TEST(Chunks, OfFixedSizeCountCharactersNotBytes) {
  const auto found = chunks("a\u00E9\u6211\U0001F600b", {Kind::kFixed, 2});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].length, 3U);
  EXPECT_EQ(found[1].offset, 3U);
  EXPECT_EQ(found[1].length, 7U);
  EXPECT_EQ(found[2].length, 1U);
  EXPECT_EQ(chunks("abcd", {Kind::kFixed, 2}).size(), 2U);
}

TEST(Chunks, DefinedByContentKeepToTheirSizes) {
  const std::string text = random_text(400'000);
  for (const std::uint32_t size : {64U, 512U, 4'096U}) {
    const auto found = chunks(text, {Kind::kContentDefined, size});
    for (std::size_t i = 0; i + 1 < found.size(); ++i) {
      ASSERT_GE(found[i].length, size / 4);
      ASSERT_LE(found[i].length, size * 4);
      ASSERT_EQ(found[i].offset + found[i].length, found[i + 1].offset);
    }
    const double mean = 400'000.0 / static_cast<double>(found.size());
    EXPECT_NEAR(mean, size, 0.25 * size);
  }
}

TEST(Chunks, DefinedByContentKeepTheirSizeInOtherScripts) {
  std::mt19937_64 random(8);
  std::string text;
  for (int i = 0; i < 60'000; ++i) {
    text +=
        {'\xE4', static_cast<char>(0x80 | random() % 64), static_cast<char>(0x80 | random() % 64)};
  }
  const auto found = chunks(text, {Kind::kContentDefined, 512});
  for (const Chunk& chunk : found) ASSERT_EQ(chunk.length % 3, 0U);
  EXPECT_NEAR(static_cast<double>(text.size()) / static_cast<double>(found.size()), 512, 128);
}

TEST(Chunks, DefinedByContentSurviveAnInsertion) {
  const std::string text = random_text(100'000);
  std::string changed = text;
  changed.insert(50'000, "a few more letters");
  const auto hashes = [](const std::string& from) {
    std::vector<std::array<std::byte, 32>> out;
    for (const Chunk& chunk : chunks(from, {Kind::kContentDefined, 512}))
      out.push_back(chunk.sha256);
    std::sort(out.begin(), out.end());
    return out;
  };
  const auto before = hashes(text);
  const auto after = hashes(changed);
  std::vector<std::array<std::byte, 32>> lost;
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(),
                      std::back_inserter(lost));
  EXPECT_LE(lost.size(), 4U);
}

TEST(Chunks, CutsAreTheSameForEver) {
  static_assert(kChunkVersion == 1);
  std::vector<std::uint64_t> lengths;
  for (const Chunk& chunk : chunks(random_text(400), {Kind::kContentDefined, 64})) {
    lengths.push_back(chunk.length);
  }
  EXPECT_THAT(lengths, ::testing::ElementsAre(21, 82, 213, 55, 29));
}

}  // namespace
}  // namespace kin::sketch
