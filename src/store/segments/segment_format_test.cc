#include "store/segments/segment_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hash.h"

namespace kin::store {
namespace {

struct Written {
  std::string bytes;
  SegmentInfo info;
  std::string_view tail() const {
    return std::string_view(bytes).substr(bytes.size() - info.tail_bytes);
  }
};

std::string key_of(int i) {
  const std::string digits = std::to_string(i);
  return "key" + std::string(6 - digits.size(), '0') + digits;
}

Written write(int entries, std::size_t value_bytes) {
  Written written;
  SegmentWriter writer(
      [&](std::string_view bytes) -> Status {
        written.bytes += bytes;
        return Done{};
      },
      static_cast<std::uint64_t>(entries));
  for (int i = 0; i < entries; ++i)
    EXPECT_TRUE(writer.add(key_of(2 * i), std::string(value_bytes, static_cast<char>(i))).ok());
  written.info = *writer.finish();
  return written;
}

std::optional<std::string> look_up(const Written& segment, const SegmentTail& tail,
                                   const std::string& key) {
  const auto number = tail.block_of(key);
  if (!number) return std::nullopt;
  const SegmentTail::Block& block = tail.blocks()[*number];
  const std::string_view bytes = std::string_view(segment.bytes).substr(block.offset, block.bytes);
  EXPECT_EQ(checksum(bytes), block.checksum);
  std::optional<std::string> found;
  EXPECT_TRUE(each_entry(bytes, [&](std::string_view there, std::string_view value) {
                if (there == key) found = value;
                return !found;
              }).ok());
  return found;
}

TEST(SegmentFormat, FindsWhatWasWritten) {
  const Written segment = write(5'000, 30);
  EXPECT_EQ(segment.info.bytes, segment.bytes.size());
  EXPECT_EQ(segment.info.entries, 5'000U);
  const auto tail = SegmentTail::decode(segment.tail());
  ASSERT_TRUE(tail.ok()) << tail.error().message;
  EXPECT_GT(tail->blocks().size(), 5U);
  EXPECT_EQ(tail->blocks_end() + segment.info.tail_bytes, segment.bytes.size());
  int passed = 0;
  for (int i = 0; i < 5'000; ++i) {
    EXPECT_TRUE(tail->may_contain(key_of(2 * i)));
    EXPECT_EQ(look_up(segment, *tail, key_of(2 * i)), std::string(30, static_cast<char>(i)));
    EXPECT_EQ(look_up(segment, *tail, key_of(2 * i + 1)), std::nullopt);
    passed += tail->may_contain(key_of(2 * i + 1)) ? 1 : 0;
  }
  EXPECT_LT(passed, 200);
  EXPECT_EQ(tail->block_of("a"), std::nullopt);
}

TEST(SegmentFormat, MayBeEmptyAndHaveLargeValues) {
  EXPECT_TRUE(SegmentTail::decode(write(0, 0).tail()).ok());
  const Written large = write(3, 100'000);
  const auto tail = SegmentTail::decode(large.tail());
  ASSERT_TRUE(tail.ok());
  EXPECT_EQ(tail->blocks().size(), 3U);
  EXPECT_EQ(look_up(large, *tail, key_of(4)), std::string(100'000, '\2'));
}

TEST(SegmentFormat, EveryFlippedBitAndEveryCutOfATailIsNoticed) {
  const Written segment = write(3, 5);
  const std::string good(segment.tail());
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(SegmentTail::decode(bad).ok()) << bit;
  }
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(SegmentTail::decode(good.substr(0, size)).ok()) << size;
}

TEST(SegmentFormat, ABlockThatIsCutIsRefused) {
  const Written segment = write(2, 5);
  const auto tail = SegmentTail::decode(segment.tail());
  const std::string_view block =
      std::string_view(segment.bytes).substr(tail->blocks()[0].offset, tail->blocks()[0].bytes);
  const auto all = [](std::string_view, std::string_view) { return true; };
  EXPECT_TRUE(each_entry(block, all).ok());
  EXPECT_EQ(each_entry(block.substr(0, block.size() - 1), all).error().code, Code::kDataLoss);
}

// The bytes in the bucket, for ever.
TEST(SegmentFormat, Golden) {
  const Written segment = write(1'000, 40);
  EXPECT_EQ(hash64(segment.bytes), 0x715eb5fd5742c9edU) << std::hex << hash64(segment.bytes);
}

}  // namespace
}  // namespace kin::store
