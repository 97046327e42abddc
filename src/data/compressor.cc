#include "data/compressor.h"

#include <libdeflate.h>
#include <zstd.h>

namespace kin::data {
namespace {

// What the tools themselves use.
constexpr int kGzipLevel = 6;
constexpr int kZstdLevel = 3;

}  // namespace

struct Compressor::State {
  Compression compression = Compression::kNone;
  libdeflate_compressor* gzip = nullptr;
  ZSTD_CCtx* zstd = nullptr;
  std::string packed;

  ~State() {
    libdeflate_free_compressor(gzip);
    ZSTD_freeCCtx(zstd);
  }
};

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
  if (state.compression == Compression::kNone) return piece;
  if (state.gzip == nullptr && state.zstd == nullptr)
    return Error{Code::kResourceExhausted, "no memory to compress"};
  std::size_t length = 0;
  if (state.gzip != nullptr) {
    state.packed.resize(libdeflate_gzip_compress_bound(state.gzip, piece.size()));
    length = libdeflate_gzip_compress(state.gzip, piece.data(), piece.size(), state.packed.data(),
                                      state.packed.size());
    if (length == 0) return Error{Code::kInternal, "gzip compression failed"};
  } else {
    state.packed.resize(ZSTD_compressBound(piece.size()));
    length = ZSTD_compress2(state.zstd, state.packed.data(), state.packed.size(), piece.data(),
                            piece.size());
    if (ZSTD_isError(length) != 0) return Error{Code::kInternal, ZSTD_getErrorName(length)};
  }
  return std::string_view(state.packed).substr(0, length);
}

}  // namespace kin::data
