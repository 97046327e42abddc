// The compression of Parquet pages.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"
#include "data/pages/format.h"

namespace kin::data {

// "snappy", "zstd" and so on; "codec 3" for one without a name.
std::string codec_name(Codec codec);

// A buffer for the bytes of one page, which are not zeroed first. Kept between pages. Large buffers
// lie on large pages of the system, because the first touch of small pages takes as long as
// decompressing. One thread only.
class PageBuffer {
 public:
  PageBuffer() = default;
  PageBuffer(PageBuffer&& other) noexcept;
  PageBuffer& operator=(PageBuffer&& other) noexcept;
  ~PageBuffer() { release(); }

  // Makes room for `size` bytes. The old contents are lost. nullptr if there is no memory.
  [[nodiscard]] char* reset(std::size_t size);
  // Keeps the first `size` bytes alone.
  void shrink(std::size_t size) { size_ = size; }
  char* data() { return bytes_; }
  std::string_view view() const { return {bytes_, size_}; }

 private:
  void release();

  char* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  bool mapped_ = false;
};

// The error for a PageBuffer without memory.
Error no_memory(std::size_t bytes);

// Compresses and decompresses pages. The same bytes give the same result. One thread only.
class PageCodec {
 public:
  PageCodec();
  ~PageCodec();
  PageCodec(PageCodec&&) noexcept;

  // Decompresses `packed` into `to`, which must become exactly `size` bytes. Sizes that the codec
  // cannot reach are refused before memory is taken.
  Status unpack(Codec codec, std::string_view packed, std::size_t size, PageBuffer& to);
  // The same for `packed` bytes of snappy at `offset` of a file, which are read in small portions.
  Status unpack_snappy(const File& file, std::uint64_t offset, std::size_t packed, std::size_t size,
                       PageBuffer& to);
  // Compresses `plain` into `to`. `level` as the codec understands it.
  Status pack(Codec codec, std::optional<int> level, std::string_view plain, PageBuffer& to);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The CRC-32 of gzip, which pages may carry, of `first` followed by `second`.
std::uint32_t page_crc(std::string_view first, std::string_view second = {});

}  // namespace kin::data
