// Every encoding, encoded and decoded, over random values; and the results for damaged bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "data/pages/bits.h"
#include "data/pages/codec.h"
#include "data/pages/delta.h"
#include "data/pages/hybrid.h"
#include "data/pages/page.h"
#include "data/pages/value_reader.h"
#include "data/pages/value_writer.h"

namespace kin::data {
namespace {

using Random = std::mt19937_64;

TEST(Hybrid, ReadsWhatItWroteInAnyMixtureOfRuns) {
  Random random(7);
  for (int round = 0; round < 300; ++round) {
    const int width = static_cast<int>(random() % 33);
    const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
    std::vector<std::uint32_t> values;
    while (values.size() < random() % 3000) {
      const std::size_t run = random() % 3 == 0 ? 1 + random() % 40 : 1;
      values.insert(values.end(), run, static_cast<std::uint32_t>(random() & mask));
    }
    HybridEncoder encoder(width);
    for (const std::uint32_t value : values) encoder.put(value);
    std::string bytes;
    encoder.take(bytes);
    HybridDecoder decoder(bytes, width);
    std::vector<std::uint32_t> read(values.size());
    for (std::size_t at = 0; at < read.size();) {
      const std::size_t count = std::min<std::size_t>(1 + random() % 700, read.size() - at);
      ASSERT_TRUE(decoder.read(read.data() + at, count));
      at += count;
    }
    EXPECT_EQ(read, values) << width;
  }
}

TEST(Hybrid, WritesLongRunsAsRuns) {
  HybridEncoder encoder(1);
  for (int i = 0; i < 100'000; ++i) encoder.put(1);
  std::string bytes;
  encoder.take(bytes);
  EXPECT_EQ(bytes.size(), 4);
}

TEST(Hybrid, EndsWhereTheBytesEnd) {
  std::uint32_t to[100];
  EXPECT_FALSE(HybridDecoder("", 3).read(to, 1));
  EXPECT_FALSE(HybridDecoder(std::string_view("\x03", 1), 3).read(to, 1));
  EXPECT_FALSE(HybridDecoder(std::string_view("\x04", 1), 3).read(to, 1));
  EXPECT_FALSE(HybridDecoder(std::string_view("\0\0\0", 3), 3).read(to, 1));
  // A packed group that lacks its last bytes has the values that are there.
  EXPECT_TRUE(HybridDecoder(std::string_view("\x03\x88", 2), 3).read(to, 2));
  EXPECT_FALSE(HybridDecoder(std::string_view("\x03\x88", 2), 3).read(to, 3));
}

std::string plain(const ValueType& type, Random& random) {
  const std::size_t width = width_of(type);
  if (type.physical == Physical::kBoolean) return std::string(1, static_cast<char>(random() & 1));
  std::string value = random() % 2 == 0 ? "shared beginning " : "";
  value += std::to_string(random() >> (random() % 64));
  value.append(random() % 5 == 0 ? random() % 2000 : 0, 'x');
  if (width > 0) value.resize(width, static_cast<char>(random()));
  if (type.physical == Physical::kBytes && random() % 20 == 0) value.clear();
  return value;
}

struct Kind {
  ValueType type;
  Encoding encoding;
};

std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds;
  const ValueType types[] = {
      {Physical::kBoolean, 0}, {Physical::kInt32, 0}, {Physical::kInt64, 0},
      {Physical::kInt96, 0},   {Physical::kFloat, 0}, {Physical::kDouble, 0},
      {Physical::kBytes, 0},   {Physical::kFixed, 5}, {Physical::kFixed, 16}};
  for (const ValueType& type : types) {
    for (const Encoding encoding :
         {Encoding::kPlain, Encoding::kRle, Encoding::kDeltaBinary, Encoding::kDeltaLength,
          Encoding::kDeltaBytes, Encoding::kByteStreamSplit}) {
      if (make_value_reader(type, encoding, nullptr).ok()) kinds.push_back({type, encoding});
    }
  }
  return kinds;
}

TEST(Values, AreReadAsTheyWereWrittenInEveryEncoding) {
  Random random(11);
  const std::vector<Kind> kinds = all_kinds();
  EXPECT_EQ(kinds.size(), 9 + 1 + 2 + 1 + 3 + 7);
  for (const Kind& kind : kinds) {
    const auto writer = make_value_writer(kind.type, kind.encoding, 0);
    const auto reader = make_value_reader(kind.type, kind.encoding, nullptr).value();
    for (int round = 0; round < 20; ++round) {
      std::vector<std::string> values(random() % 3000);
      for (std::string& value : values) value = plain(kind.type, random);
      for (const std::string& value : values) writer->put(value);
      std::string bytes;
      writer->take(bytes);
      ASSERT_TRUE(reader->open(bytes).ok());
      std::vector<std::string> read;
      while (read.size() < values.size()) {
        std::vector<std::string_view> some;
        const auto got = reader->read(values.size() - read.size(), some);
        ASSERT_TRUE(got.ok()) << got.error().message;
        ASSERT_EQ(some.size(), *got);
        read.insert(read.end(), some.begin(), some.end());
      }
      EXPECT_TRUE(read == values) << static_cast<int>(kind.type.physical) << " "
                                  << static_cast<int>(kind.encoding);
      std::vector<std::string_view> more;
      // Booleans are padded.
      const bool padded = kind.type.physical == Physical::kBoolean;
      EXPECT_TRUE(padded || !reader->read(1, more).ok());
    }
  }
}

TEST(Values, AreErrorsWhereBytesAreDamagedOrCutOff) {
  Random random(13);
  for (const Kind& kind : all_kinds()) {
    const auto writer = make_value_writer(kind.type, kind.encoding, 0);
    const auto reader = make_value_reader(kind.type, kind.encoding, nullptr).value();
    for (int round = 0; round < 200; ++round) {
      for (int i = 0; i < 300; ++i) writer->put(plain(kind.type, random));
      std::string bytes;
      writer->take(bytes);
      for (int flips = 0; flips < 3; ++flips) bytes[random() % bytes.size()] ^= 1 << random() % 8;
      bytes.resize(random() % (bytes.size() + 1));
      if (!reader->open(bytes)) continue;
      // Whatever it returns, it must end.
      for (std::size_t total = 0; total < 1'000'000;) {
        std::vector<std::string_view> some;
        const auto got = reader->read(1000, some);
        if (!got) break;
        ASSERT_GT(*got, 0);
        total += *got;
      }
    }
  }
}

TEST(Delta, HoldsTheLimitsOfItsType) {
  for (const int bits : {32, 64}) {
    const std::uint64_t mask = bits == 32 ? 0xffffffffU : ~std::uint64_t{0};
    const std::vector<std::uint64_t> values{0, mask, mask >> 1, (mask >> 1) + 1, 1, mask >> 1, 0};
    DeltaEncoder encoder(bits);
    for (const std::uint64_t value : values) encoder.put(value);
    std::string bytes;
    encoder.take(bytes);
    DeltaDecoder decoder;
    ASSERT_TRUE(decoder.open(bytes));
    EXPECT_EQ(decoder.count(), values.size());
    std::string_view behind = "x";
    EXPECT_TRUE(decoder.bytes_behind(behind));
    EXPECT_TRUE(behind.empty());
    std::vector<std::uint64_t> read(values.size());
    ASSERT_TRUE(decoder.read(read.data(), read.size()));
    for (std::uint64_t& value : read) value &= mask;
    EXPECT_EQ(read, values);
    // No bit width beyond that of the type, which other readers refuse.
    for (std::size_t i = 0; i < 4; ++i) {
      std::string_view rest = bytes;
      std::uint64_t number = 0;
      for (int skip = 0; skip < 5; ++skip) ASSERT_TRUE(take_varint(rest, number));
      EXPECT_LE(static_cast<std::uint8_t>(rest[i]), bits);
    }
  }
}

TEST(Levels, AreReadInTheOldEncodingToo) {
  // The example of the specification: 0 to 7 in three bits, from the highest bit down.
  const std::string bytes = "\x05\x39\x77";
  LevelReader reader(bytes, Encoding::kBitPacked, 7);
  std::uint32_t levels[8];
  ASSERT_TRUE(reader.read(levels, 8));
  EXPECT_THAT(levels, testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_FALSE(reader.read(levels, 1));
  LevelReader too_high(bytes, Encoding::kBitPacked, 5);
  EXPECT_FALSE(too_high.read(levels, 8));
}

TEST(Codecs, UnpackWhatTheyPacked) {
  Random random(17);
  PageCodec codecs;
  PageBuffer unpacked;
  for (const Codec codec : {Codec::kNone, Codec::kSnappy, Codec::kGzip, Codec::kBrotli, Codec::kLz4,
                            Codec::kZstd, Codec::kLz4Raw}) {
    for (const std::size_t size : {0U, 1U, 1000U, 300'000U}) {
      std::string page(size, '\0');
      for (char& c : page) c = static_cast<char>(random() % 7);
      PageBuffer buffer;
      ASSERT_TRUE(codecs.pack(codec, {}, page, buffer).ok());
      const std::string packed(buffer.view());
      ASSERT_TRUE(codecs.unpack(codec, packed, size, unpacked).ok()) << codec_name(codec) << size;
      EXPECT_TRUE(unpacked.view() == page) << codec_name(codec);
      EXPECT_FALSE(codecs.unpack(codec, packed, size + 1, unpacked).ok());
      if (size < 1000) continue;
      EXPECT_FALSE(codecs.unpack(codec, packed.substr(0, packed.size() / 2), size, unpacked).ok());
      EXPECT_FALSE(codecs.unpack(codec, packed, INT32_MAX, unpacked).ok());
    }
  }
  EXPECT_FALSE(codecs.unpack(Codec::kLzo, "x", 1, unpacked).ok());
}

TEST(Codecs, CountTheChecksumOfGzip) {
  EXPECT_EQ(page_crc("123456789"), 0xCBF43926);
}

}  // namespace
}  // namespace kin::data
