// Numbers of the Parquet format: the enums and field ids of parquet.thrift that we use.
#pragma once

#include <cstdint>

namespace kin::data {

enum class Physical : std::uint8_t {
  kBoolean = 0,
  kInt32 = 1,
  kInt64 = 2,
  kInt96 = 3,
  kFloat = 4,
  kDouble = 5,
  kBytes = 6,  // BYTE_ARRAY
  kFixed = 7,  // FIXED_LEN_BYTE_ARRAY
};

enum class Codec : std::uint8_t {
  kNone = 0,
  kSnappy = 1,
  kGzip = 2,
  kLzo = 3,
  kBrotli = 4,
  kLz4 = 5,  // in Hadoop's frames
  kZstd = 6,
  kLz4Raw = 7,
};

enum class Encoding : std::uint8_t {
  kPlain = 0,
  kPlainDictionary = 2,
  kRle = 3,
  kBitPacked = 4,
  kDeltaBinary = 5,
  kDeltaLength = 6,
  kDeltaBytes = 7,
  kRleDictionary = 8,
  kByteStreamSplit = 9,
};

enum class PageKind : std::uint8_t { kData = 0, kIndex = 1, kDictionary = 2, kDataV2 = 3 };

constexpr bool is_dictionary(Encoding encoding) {
  return encoding == Encoding::kPlainDictionary || encoding == Encoding::kRleDictionary;
}

// Ids of fields, by struct.
namespace ids {

namespace file {
constexpr int kSchema = 2;
constexpr int kRows = 3;
constexpr int kGroups = 4;
constexpr int kKeyValues = 5;
constexpr int kCreatedBy = 6;
constexpr int kColumnOrders = 7;
}  // namespace file

namespace element {
constexpr int kType = 1;
constexpr int kTypeLength = 2;
constexpr int kRepetition = 3;
constexpr int kName = 4;
constexpr int kChildren = 5;
constexpr int kConverted = 6;
constexpr int kScale = 7;
constexpr int kPrecision = 8;
constexpr int kFieldId = 9;
constexpr int kLogical = 10;
}  // namespace element

namespace group {
constexpr int kColumns = 1;
constexpr int kBytes = 2;
constexpr int kRows = 3;
constexpr int kSorting = 4;
constexpr int kFileOffset = 5;
constexpr int kPackedBytes = 6;
constexpr int kOrdinal = 7;
}  // namespace group

namespace chunk {
constexpr int kFilePath = 1;
constexpr int kFileOffset = 2;
constexpr int kMetadata = 3;
constexpr int kOffsetIndex = 4;
constexpr int kOffsetIndexLength = 5;
constexpr int kColumnIndex = 6;
constexpr int kColumnIndexLength = 7;
constexpr int kCrypto = 8;
constexpr int kEncrypted = 9;
}  // namespace chunk

namespace metadata {
constexpr int kType = 1;
constexpr int kEncodings = 2;
constexpr int kPath = 3;
constexpr int kCodec = 4;
constexpr int kValues = 5;
constexpr int kBytes = 6;
constexpr int kPackedBytes = 7;
constexpr int kDataOffset = 9;
constexpr int kIndexOffset = 10;
constexpr int kDictionaryOffset = 11;
constexpr int kStatistics = 12;
constexpr int kEncodingStats = 13;
constexpr int kBloomOffset = 14;
constexpr int kBloomLength = 15;
constexpr int kSizeStatistics = 16;
constexpr int kGeoStatistics = 17;
}  // namespace metadata

namespace statistics {
constexpr int kOldMax = 1;
constexpr int kOldMin = 2;
constexpr int kNulls = 3;
constexpr int kDistinct = 4;
constexpr int kMax = 5;
constexpr int kMin = 6;
constexpr int kMaxExact = 7;
constexpr int kMinExact = 8;
}  // namespace statistics

namespace page {
constexpr int kKind = 1;
constexpr int kBytes = 2;
constexpr int kPackedBytes = 3;
constexpr int kCrc = 4;
constexpr int kData = 5;
constexpr int kDictionary = 7;
constexpr int kDataV2 = 8;
}  // namespace page

namespace data_page {
constexpr int kValues = 1;
constexpr int kEncoding = 2;
constexpr int kDefinition = 3;
constexpr int kRepetition = 4;
constexpr int kStatistics = 5;
}  // namespace data_page

namespace data_page_v2 {
constexpr int kValues = 1;
constexpr int kNulls = 2;
constexpr int kRows = 3;
constexpr int kEncoding = 4;
constexpr int kDefinitionBytes = 5;
constexpr int kRepetitionBytes = 6;
constexpr int kIsCompressed = 7;
constexpr int kStatistics = 8;
}  // namespace data_page_v2

namespace dictionary_page {
constexpr int kValues = 1;
constexpr int kEncoding = 2;
}  // namespace dictionary_page

}  // namespace ids

}  // namespace kin::data
