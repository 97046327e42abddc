#include "data/compressor.h"

#include <bzlib.h>
#include <libdeflate.h>
#include <lzma.h>
#include <zstd.h>

namespace kin::data {
namespace {

// The defaults of the command line tools.
constexpr int kGzipLevel = 6;
constexpr int kZstdLevel = 3;
constexpr int kBzip2Level = 9;
constexpr std::uint32_t kXzLevel = 6;

constexpr std::size_t kLargestBzip2 = std::size_t{3} << 30;

Error no_memory() {
  return Error{Code::kResourceExhausted, "no memory to compress"};
}

}  // namespace

struct Compressor::State {
  Result<std::string_view> pack_gzip(std::string_view piece);
  Result<std::string_view> pack_zstd(std::string_view piece);
  Result<std::string_view> pack_bzip2(std::string_view piece);
  Result<std::string_view> pack_xz(std::string_view piece);

  Compression compression = Compression::kNone;
  libdeflate_compressor* gzip = nullptr;
  ZSTD_CCtx* zstd = nullptr;
  std::string packed;

  ~State() {
    libdeflate_free_compressor(gzip);
    ZSTD_freeCCtx(zstd);
  }
};

Result<std::string_view> Compressor::State::pack_gzip(std::string_view piece) {
  if (gzip == nullptr) return no_memory();
  packed.resize(libdeflate_gzip_compress_bound(gzip, piece.size()));
  const std::size_t length =
      libdeflate_gzip_compress(gzip, piece.data(), piece.size(), packed.data(), packed.size());
  if (length == 0) return Error{Code::kInternal, "gzip compression failed"};
  return std::string_view(packed).substr(0, length);
}

Result<std::string_view> Compressor::State::pack_zstd(std::string_view piece) {
  if (zstd == nullptr) return no_memory();
  packed.resize(ZSTD_compressBound(piece.size()));
  const std::size_t length =
      ZSTD_compress2(zstd, packed.data(), packed.size(), piece.data(), piece.size());
  if (ZSTD_isError(length) != 0) return Error{Code::kInternal, ZSTD_getErrorName(length)};
  return std::string_view(packed).substr(0, length);
}

Result<std::string_view> Compressor::State::pack_bzip2(std::string_view piece) {
  if (piece.size() > kLargestBzip2)
    return Error{Code::kInvalidArgument, "bzip2 takes no piece of more than 3 GB (use .zst)"};
  packed.resize(piece.size() + piece.size() / 100 + 600);  // the bound given in its manual
  auto length = static_cast<unsigned>(packed.size());
  const int outcome =
      BZ2_bzBuffToBuffCompress(packed.data(), &length, const_cast<char*>(piece.data()),
                               static_cast<unsigned>(piece.size()), kBzip2Level, 0, 0);
  if (outcome == BZ_MEM_ERROR) return no_memory();
  if (outcome != BZ_OK) return Error{Code::kInternal, "bzip2 compression failed"};
  return std::string_view(packed).substr(0, length);
}

Result<std::string_view> Compressor::State::pack_xz(std::string_view piece) {
  packed.resize(lzma_stream_buffer_bound(piece.size()));
  // By default the level looks back 8 MB, which takes 94 MB of memory; pieces are shorter.
  constexpr std::uint32_t kLooksBack = 1 << 20;
  lzma_options_lzma options;
  if (lzma_lzma_preset(&options, kXzLevel)) return Error{Code::kInternal, "xz has no such level"};
  options.dict_size = kLooksBack;
  lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  std::size_t length = 0;
  const lzma_ret outcome = lzma_stream_buffer_encode(
      filters, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(piece.data()),
      piece.size(), reinterpret_cast<std::uint8_t*>(packed.data()), &length, packed.size());
  if (outcome == LZMA_MEM_ERROR) return no_memory();
  if (outcome != LZMA_OK) return Error{Code::kInternal, "xz compression failed"};
  return std::string_view(packed).substr(0, length);
}

Compressor::Compressor(Compression compression, std::optional<int> level)
    : state_(std::make_unique<State>()) {
  state_->compression = compression;
  if (compression == Compression::kGzip)
    state_->gzip = libdeflate_alloc_compressor(level.value_or(kGzipLevel));
  if (compression == Compression::kZstd) {
    state_->zstd = ZSTD_createCCtx();
    if (state_->zstd != nullptr) {
      ZSTD_CCtx_setParameter(state_->zstd, ZSTD_c_compressionLevel, level.value_or(kZstdLevel));
      ZSTD_CCtx_setParameter(state_->zstd, ZSTD_c_checksumFlag, 1);
    }
  }
}

Compressor::~Compressor() = default;
Compressor::Compressor(Compressor&&) noexcept = default;

Result<std::string_view> Compressor::pack(std::string_view piece) {
  State& state = *state_;
  // Memory for one large piece is not kept for the pieces after it.
  constexpr std::size_t kMostKept = 8 << 20;
  if (state.packed.capacity() > kMostKept) state.packed = std::string();
  switch (state.compression) {
    case Compression::kNone: return piece;
    case Compression::kGzip: return state.pack_gzip(piece);
    case Compression::kZstd: return state.pack_zstd(piece);
    case Compression::kBzip2: return state.pack_bzip2(piece);
    case Compression::kXz: return state.pack_xz(piece);
  }
  KIN_UNREACHABLE();
}

}  // namespace kin::data
