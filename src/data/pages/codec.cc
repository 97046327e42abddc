#include "data/pages/codec.h"

#include <brotli/decode.h>
#include <brotli/encode.h>
#include <fmt/format.h>
#include <libdeflate.h>
#include <lz4.h>
#include <snappy-sinksource.h>
#include <snappy.h>
#include <sys/mman.h>
#include <zstd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace kin::data {
namespace {

// The default levels of the tools.
constexpr int kGzipLevel = 6;
constexpr int kZstdLevel = 3;
constexpr int kBrotliLevel = 5;
constexpr std::size_t kLz4FrameHead = 8;  // two big-endian numbers: bytes unpacked and packed

Error damaged(Codec codec) {
  return {Code::kDataLoss, fmt::format("the {} data of a page is damaged", codec_name(codec))};
}

// The most bytes that one packed byte can become; 0: any number.
std::uint64_t most_ratio(Codec codec) {
  switch (codec) {
    case Codec::kNone: return 1;
    case Codec::kSnappy: return 64;
    case Codec::kGzip: return 1'032;
    case Codec::kLz4:
    case Codec::kLz4Raw: return 255;
    case Codec::kLzo:
    case Codec::kBrotli:
    case Codec::kZstd: return 0;
  }
  return 0;
}

std::uint32_t load_be(const char* from) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint8_t>(from[i]);
  return value;
}

void store_be(char* to, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) *to++ = static_cast<char>(value >> shift);
}

// Most frames say how large they become.
bool zstd_may_become(std::string_view packed, std::size_t size) {
  const unsigned long long said = ZSTD_getFrameContentSize(packed.data(), packed.size());
  return said != ZSTD_CONTENTSIZE_ERROR && (said == ZSTD_CONTENTSIZE_UNKNOWN || said <= size);
}

bool unpack_lz4(std::string_view packed, char* to, std::size_t size) {
  return LZ4_decompress_safe(packed.data(), to, static_cast<int>(packed.size()),
                             static_cast<int>(size)) == static_cast<int>(size);
}

// Frames of a head and an LZ4 block each. Some writers used plain blocks under the same name.
bool unpack_hadoop_lz4(std::string_view packed, char* to, std::size_t size) {
  std::string_view rest = packed;
  std::size_t done = 0;
  while (rest.size() >= kLz4FrameHead) {
    const std::size_t plain = load_be(rest.data());
    const std::size_t length = load_be(rest.data() + 4);
    rest.remove_prefix(kLz4FrameHead);
    if (plain > size - done || length > rest.size()) break;
    if (!unpack_lz4(rest.substr(0, length), to + done, plain)) break;
    rest.remove_prefix(length);
    done += plain;
  }
  return (rest.empty() && done == size) || unpack_lz4(packed, to, size);
}

}  // namespace

std::string codec_name(Codec codec) {
  switch (codec) {
    case Codec::kNone: return "uncompressed";
    case Codec::kSnappy: return "snappy";
    case Codec::kGzip: return "gzip";
    case Codec::kLzo: return "lzo";
    case Codec::kBrotli: return "brotli";
    case Codec::kLz4: return "lz4";
    case Codec::kZstd: return "zstd";
    case Codec::kLz4Raw: return "lz4_raw";
  }
  return fmt::format("codec {}", static_cast<int>(codec));
}

PageBuffer::PageBuffer(PageBuffer&& other) noexcept
    : bytes_(std::exchange(other.bytes_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      capacity_(std::exchange(other.capacity_, 0)),
      mapped_(std::exchange(other.mapped_, false)) {}

PageBuffer& PageBuffer::operator=(PageBuffer&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

void PageBuffer::release() {
  if (mapped_) {
    ::munmap(bytes_, capacity_);
  } else {
    std::free(bytes_);
  }
  bytes_ = nullptr;
  capacity_ = size_ = 0;
}

char* PageBuffer::reset(std::size_t size) {
  constexpr std::size_t kLarge = 8 << 20;
  if (size > capacity_ || bytes_ == nullptr) {
    release();  // first, so that both buffers never exist together
    mapped_ = size >= kLarge;
    if (mapped_) {
      void* const room =
          ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      mapped_ = room != MAP_FAILED;
      if (!mapped_) return nullptr;
      ::madvise(room, size, MADV_HUGEPAGE);  // advice only
      bytes_ = static_cast<char*>(room);
    } else {
      bytes_ = static_cast<char*>(std::malloc(std::max<std::size_t>(size, 1)));
      if (bytes_ == nullptr) return nullptr;
    }
    capacity_ = size;
  }
  size_ = size;
  return bytes_;
}

Error no_memory(std::size_t bytes) {
  return {Code::kResourceExhausted,
          fmt::format("there is no memory for a page of {} bytes", bytes)};
}

struct PageCodec::State {
  libdeflate_decompressor* inflate = nullptr;
  libdeflate_compressor* deflate = nullptr;
  int deflate_level = 0;
  ZSTD_DCtx* unzstd = nullptr;
  ZSTD_CCtx* zstd = nullptr;

  ~State() {
    libdeflate_free_decompressor(inflate);
    libdeflate_free_compressor(deflate);
    ZSTD_freeDCtx(unzstd);
    ZSTD_freeCCtx(zstd);
  }

  bool unpack_gzip(std::string_view packed, char* to, std::size_t size) {
    if (inflate == nullptr) inflate = libdeflate_alloc_decompressor();
    // Hadoop's writers make several members of a page.
    while (inflate != nullptr && !packed.empty()) {
      std::size_t in = 0;
      std::size_t out = 0;
      if (libdeflate_gzip_decompress_ex(inflate, packed.data(), packed.size(), to, size, &in,
                                        &out) != LIBDEFLATE_SUCCESS) {
        return false;
      }
      packed.remove_prefix(in);
      to += out;
      size -= out;
    }
    return size == 0;
  }

  bool unpack_zstd(std::string_view packed, char* to, std::size_t size) {
    if (unzstd == nullptr) unzstd = ZSTD_createDCtx();
    return unzstd != nullptr &&
           ZSTD_decompressDCtx(unzstd, to, size, packed.data(), packed.size()) == size;
  }

  bool pack_gzip(int level, std::string_view plain, PageBuffer& to) {
    if (deflate == nullptr || deflate_level != level) {
      libdeflate_free_compressor(deflate);
      deflate = libdeflate_alloc_compressor(level);
      deflate_level = level;
    }
    if (deflate == nullptr) return false;
    const std::size_t room = libdeflate_gzip_compress_bound(deflate, plain.size());
    char* const begin = to.reset(room);
    if (begin == nullptr) return false;
    const std::size_t length =
        libdeflate_gzip_compress(deflate, plain.data(), plain.size(), begin, room);
    to.shrink(length);
    return length > 0;
  }

  bool pack_zstd(int level, std::string_view plain, PageBuffer& to) {
    if (zstd == nullptr) zstd = ZSTD_createCCtx();
    if (zstd == nullptr) return false;
    const std::size_t room = ZSTD_compressBound(plain.size());
    char* const begin = to.reset(room);
    if (begin == nullptr) return false;
    const std::size_t length =
        ZSTD_compressCCtx(zstd, begin, room, plain.data(), plain.size(), level);
    const bool good = ZSTD_isError(length) == 0;
    to.shrink(good ? length : 0);
    return good;
  }
};

namespace {

// Leaves `head` bytes in front for the caller to fill in.
bool pack_lz4(std::string_view plain, std::size_t head, PageBuffer& to) {
  const int room = LZ4_compressBound(static_cast<int>(plain.size()));
  char* const begin = to.reset(head + static_cast<std::size_t>(room));
  if (begin == nullptr) return false;
  const int length =
      LZ4_compress_default(plain.data(), begin + head, static_cast<int>(plain.size()), room);
  to.shrink(head + static_cast<std::size_t>(std::max(length, 0)));
  return length > 0;
}

bool pack_hadoop_lz4(std::string_view plain, PageBuffer& to) {
  if (!pack_lz4(plain, kLz4FrameHead, to)) return false;
  store_be(to.data(), static_cast<std::uint32_t>(plain.size()));
  store_be(to.data() + 4, static_cast<std::uint32_t>(to.view().size() - kLz4FrameHead));
  return true;
}

bool pack_brotli(int level, std::string_view plain, PageBuffer& to) {
  std::size_t length = BrotliEncoderMaxCompressedSize(plain.size());
  char* const begin = to.reset(length);
  if (begin == nullptr) return false;
  const bool packed =
      BrotliEncoderCompress(level, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_GENERIC, plain.size(),
                            reinterpret_cast<const std::uint8_t*>(plain.data()), &length,
                            reinterpret_cast<std::uint8_t*>(begin)) == BROTLI_TRUE;
  to.shrink(length);
  return packed;
}

bool pack_snappy(std::string_view plain, PageBuffer& to) {
  char* const begin = to.reset(snappy::MaxCompressedLength(plain.size()));
  if (begin == nullptr) return false;
  std::size_t length = 0;
  snappy::RawCompress(plain.data(), plain.size(), begin, &length);
  to.shrink(length);
  return true;
}

bool pack_nothing(std::string_view plain, PageBuffer& to) {
  char* const begin = to.reset(plain.size());
  if (begin == nullptr) return false;
  std::copy(plain.begin(), plain.end(), begin);
  return true;
}

bool unpack_whole_snappy(std::string_view packed, char* to, std::size_t size) {
  std::size_t length = 0;
  return snappy::GetUncompressedLength(packed.data(), packed.size(), &length) && length == size &&
         snappy::RawUncompress(packed.data(), packed.size(), to);
}

bool unpack_brotli(std::string_view packed, char* to, std::size_t size) {
  std::size_t length = size;
  return BrotliDecoderDecompress(
             packed.size(), reinterpret_cast<const std::uint8_t*>(packed.data()), &length,
             reinterpret_cast<std::uint8_t*>(to)) == BROTLI_DECODER_RESULT_SUCCESS &&
         length == size;
}

// Bytes of a file for snappy. After a failed read there are no more.
class FileSource : public snappy::Source {
 public:
  FileSource(const File& file, std::uint64_t offset, std::size_t bytes)
      : file_(file), offset_(offset), left_(bytes) {}
  std::size_t Available() const override { return left_; }
  const char* Peek(std::size_t* length) override {
    if (at_ == end_ && left_ > 0) {
      at_ = 0;
      end_ = std::min(left_, kPiece);
      if (!buffer_) buffer_ = std::make_unique_for_overwrite<char[]>(kPiece);
      const Status read = file_.read_at(offset_, buffer_.get(), end_);
      if (!read) {
        error_ = read.error();
        end_ = left_ = 0;
      }
    }
    *length = end_ - at_;
    return buffer_.get() + at_;
  }
  void Skip(std::size_t count) override {
    at_ += count;
    offset_ += count;
    left_ -= count;
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  static constexpr std::size_t kPiece = 256 << 10;
  const File& file_;
  std::uint64_t offset_;
  std::size_t left_;
  std::unique_ptr<char[]> buffer_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::optional<Error> error_;
};

}  // namespace

PageCodec::PageCodec() : state_(std::make_unique<State>()) {}
PageCodec::~PageCodec() = default;
PageCodec::PageCodec(PageCodec&&) noexcept = default;

Status PageCodec::unpack(Codec codec, std::string_view packed, std::size_t size, PageBuffer& to) {
  const std::uint64_t ratio = most_ratio(codec);
  if (size > INT32_MAX || (ratio > 0 && size > packed.size() * ratio)) return damaged(codec);
  if (codec == Codec::kZstd && !zstd_may_become(packed, size)) return damaged(codec);
  char* const begin = to.reset(size);
  if (begin == nullptr) return no_memory(size);
  if (size == 0) return Done{};
  bool good = false;
  switch (codec) {
    case Codec::kNone:
      good = size == packed.size();
      if (good) std::memcpy(begin, packed.data(), size);
      break;
    case Codec::kSnappy: good = unpack_whole_snappy(packed, begin, size); break;
    case Codec::kGzip: good = state_->unpack_gzip(packed, begin, size); break;
    case Codec::kBrotli: good = unpack_brotli(packed, begin, size); break;
    case Codec::kLz4: good = unpack_hadoop_lz4(packed, begin, size); break;
    case Codec::kZstd: good = state_->unpack_zstd(packed, begin, size); break;
    case Codec::kLz4Raw: good = unpack_lz4(packed, begin, size); break;
    case Codec::kLzo:
      return Error{Code::kInvalidArgument, "pages compressed with LZO cannot be read"};
  }
  return good ? Status(Done{}) : damaged(codec);
}

Status PageCodec::unpack_snappy(const File& file, std::uint64_t offset, std::size_t packed,
                                std::size_t size, PageBuffer& to) {
  if (size > INT32_MAX || size > packed * most_ratio(Codec::kSnappy))
    return damaged(Codec::kSnappy);
  FileSource length_source(file, offset, packed);
  std::uint32_t length = 0;
  const bool known = snappy::GetUncompressedLength(&length_source, &length);
  if (length_source.error()) return *length_source.error();
  if (!known || length != size) return damaged(Codec::kSnappy);
  char* const begin = to.reset(size);
  if (begin == nullptr) return no_memory(size);
  FileSource source(file, offset, packed);
  const bool good = snappy::RawUncompress(&source, begin);
  if (source.error()) return *source.error();
  return good ? Status(Done{}) : damaged(Codec::kSnappy);
}

Status PageCodec::pack(Codec codec, std::optional<int> level, std::string_view plain,
                       PageBuffer& to) {
  if (plain.size() > LZ4_MAX_INPUT_SIZE)
    return Error{Code::kInvalidArgument, "a page is larger than 2 GB"};
  bool good = true;
  switch (codec) {
    case Codec::kNone: good = pack_nothing(plain, to); break;
    case Codec::kSnappy: good = pack_snappy(plain, to); break;
    case Codec::kGzip: good = state_->pack_gzip(level.value_or(kGzipLevel), plain, to); break;
    case Codec::kBrotli: good = pack_brotli(level.value_or(kBrotliLevel), plain, to); break;
    case Codec::kLz4: good = pack_hadoop_lz4(plain, to); break;
    case Codec::kZstd: good = state_->pack_zstd(level.value_or(kZstdLevel), plain, to); break;
    case Codec::kLz4Raw: good = pack_lz4(plain, 0, to); break;
    case Codec::kLzo: good = false; break;
  }
  if (good) return Done{};
  return Error{Code::kInternal, fmt::format("{} compression failed", codec_name(codec))};
}

std::uint32_t page_crc(std::string_view first, std::string_view second) {
  // A null pointer stands for the beginning of a checksum.
  const std::uint32_t crc = first.empty() ? 0 : libdeflate_crc32(0, first.data(), first.size());
  return second.empty() ? crc : libdeflate_crc32(crc, second.data(), second.size());
}

}  // namespace kin::data
