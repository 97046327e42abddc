// The compression of Parquet pages.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "data/pages/format.h"

namespace kin::data {

// "snappy", "zstd" and so on; "codec 3" for one without a name.
std::string codec_name(Codec codec);

// Memory for the bytes of one page, which are not set to zero first. Kept between pages. One thread
// only.
class PageBuffer {
 public:
  // Room for `size` bytes. What was there is lost.
  char* reset(std::size_t size);
  // Keeps the first `size` bytes alone.
  void shrink(std::size_t size) { size_ = size; }
  char* data() { return bytes_.get(); }
  std::string_view view() const { return {bytes_.get(), size_}; }
  std::size_t capacity() const { return capacity_; }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

// Compresses and decompresses pages. The same bytes give the same result. One thread only.
class PageCodec {
 public:
  PageCodec();
  ~PageCodec();
  PageCodec(PageCodec&&) noexcept;

  // Decompresses `packed` into `to`, which must become exactly `size` bytes. Sizes that the codec
  // cannot reach are refused before memory is taken.
  Status unpack(Codec codec, std::string_view packed, std::size_t size, PageBuffer& to);
  // Compresses `plain` into `to`. `level` as the codec understands it.
  Status pack(Codec codec, std::optional<int> level, std::string_view plain, PageBuffer& to);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The CRC-32 of gzip, which pages may carry, of `first` and what follows it.
std::uint32_t page_crc(std::string_view first, std::string_view second = {});

}  // namespace kin::data
