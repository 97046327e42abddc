#include "data/byte_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include "data/compressor.h"
#include "data/testing/dataset_fixture.h"

namespace kin::data {
namespace {

using testing::HasSubstr;

std::string pack(Compression compression, std::string_view bytes) {
  Compressor compressor(compression);
  return std::string(compressor.pack(bytes).value());
}

// All bytes, or the error.
std::string unpack(Compression compression, std::string_view packed) {
  TestFolder folder;
  const Input input{folder.write("a", packed), {Format::kJsonl, compression}, packed.size(), "a"};
  const auto source = ByteSource::open(input).value();
  std::string all;
  std::string buffer(3, '\0');
  for (;;) {
    const auto got = source->read(buffer.data(), buffer.size());
    if (!got) return got.error().message;
    if (*got == 0) return all;
    all.append(buffer, 0, *got);
  }
}

TEST(ByteSource, UnpacksSeveralPiecesInARow) {
  for (const Compression compression :
       {Compression::kGzip, Compression::kZstd, Compression::kBzip2, Compression::kXz}) {
    EXPECT_EQ(unpack(compression, pack(compression, "one ") + pack(compression, "two")), "one two");
    EXPECT_EQ(unpack(compression, ""), "");
  }
}

TEST(ByteSource, TakesZerosBehindGzipForPadding) {
  const std::string packed = pack(Compression::kGzip, "text");
  EXPECT_EQ(unpack(Compression::kGzip, packed + std::string(300'000, '\0')), "text");
  EXPECT_EQ(unpack(Compression::kGzip, packed + std::string(5, '\0') + packed),
            "a: something follows the compressed data");
}

TEST(ByteSource, SaysWhatIsWrongWithCompressedData) {
  for (const Compression compression : {Compression::kGzip, Compression::kZstd}) {
    const std::string packed = pack(compression, "some text");
    EXPECT_EQ(unpack(compression, packed + "garbage"), "a: something follows the compressed data");
    EXPECT_THAT(unpack(compression, "garbage"), HasSubstr("the compressed data is damaged"));
    EXPECT_THAT(unpack(compression, packed.substr(0, packed.size() - 3)),
                HasSubstr("ends too early"));
  }
}

TEST(ByteSource, UnpacksZstdWithALongWindow) {
  // Frames name their window before their data: one of 256 MiB, and a raw block of three bytes.
  constexpr int kWindowLog = 28;
  std::string frame = "\x28\xb5\x2f\xfd";
  frame += '\0';
  frame += static_cast<char>((kWindowLog - 10) << 3);
  frame += std::string("\x19\0\0", 3) + "abc";
  EXPECT_EQ(unpack(Compression::kZstd, frame), "abc");
}

}  // namespace
}  // namespace kin::data
