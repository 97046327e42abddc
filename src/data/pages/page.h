// The pages of a column chunk: positions, headers and levels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"
#include "data/pages/codec.h"
#include "data/pages/footer.h"
#include "data/pages/format.h"
#include "data/pages/hybrid.h"
#include "data/pages/thrift_compact.h"

namespace kin::data {

// A page header, checked.
struct PageHeader {
  ThriftValue stored;  // as it was read
  PageKind kind = PageKind::kData;
  std::uint32_t bytes = 0;         // of the page behind the header
  std::uint32_t packed_bytes = 0;  // as stored
  std::optional<std::uint32_t> crc;
  Encoding encoding = Encoding::kPlain;
  std::uint32_t values = 0;  // nulls count
  // Only in version 1.
  Encoding definition = Encoding::kRle;
  Encoding repetition = Encoding::kRle;
  // Only in version 2, where levels are not compressed.
  std::uint32_t rows = 0;
  std::uint32_t definition_bytes = 0;
  std::uint32_t repetition_bytes = 0;
  bool compressed = true;

  bool is_data() const { return kind == PageKind::kData || kind == PageKind::kDataV2; }
};

// Parses the header at the start of `bytes`. `used` is its length.
Result<PageHeader> parse_page_header(std::string_view bytes, std::size_t& used);

struct PagePlace {
  PageHeader header;
  std::uint64_t begin = 0;  // of the header
  std::uint32_t header_bytes = 0;
  std::uint64_t first_value = 0;  // of the chunk; the first row, if no value is repeated
};

// Visits the pages of a chunk in order, reading only their headers. One thread only.
class PageWalk {
 public:
  // `file` must outlive the walk.
  PageWalk(const File& file, const ChunkPlace& chunk) : file_(file), chunk_(chunk) {
    at_ = chunk.begin;
  }
  // The next dictionary or data page; nothing after the last value of the chunk.
  Result<std::optional<PagePlace>> next();

 private:
  Result<PagePlace> read_header();

  const File& file_;
  ChunkPlace chunk_;
  std::uint64_t at_ = 0;
  std::uint64_t values_ = 0;
};

// Reads a page as it is stored, header and all, and checks its checksum if it has one.
Status read_page(const File& file, const PagePlace& page, PageBuffer& to);

// A data page, unpacked and divided. The views point into the buffers it was made of.
struct PageBody {
  std::string_view repetition;
  std::string_view definition;
  std::string_view values;
};

// Unpacks `stored`, which read_page() read, into `unpacked`.
Result<PageBody> unpack_page(const PagePlace& page, std::string_view stored, const Leaf& leaf,
                             Codec codec, PageCodec& codecs, PageBuffer& unpacked);

// Divides a data page that was unpacked before; `levels` are those of version 2, which are stored
// uncompressed.
Result<PageBody> divide_page(const PagePlace& page, std::string_view levels,
                             std::string_view unpacked, const Leaf& leaf);

// Whether load_page() unpacks the page without holding all of its stored bytes.
bool is_streamed(const PageHeader& header, Codec codec);

// Reads and unpacks a data page. Where possible, the stored bytes are not held as a whole.
Result<PageBody> load_page(const File& file, const PagePlace& page, const Leaf& leaf, Codec codec,
                           PageCodec& codecs, PageBuffer& stored, PageBuffer& unpacked);

// Reads definition or repetition levels of up to `most`. One thread only.
class LevelReader {
 public:
  LevelReader(std::string_view bytes, Encoding encoding, int most);
  // False if there are fewer levels, or one is too high.
  bool read(std::uint32_t* to, std::size_t count);

 private:
  HybridDecoder runs_;
  std::string_view bits_;  // of the old encoding, from the highest bit down
  std::uint64_t at_ = 0;
  int width_;
  std::uint32_t most_;
  bool old_;
};

// The number of bits of levels up to `most`.
int level_bits(int most);

}  // namespace kin::data
