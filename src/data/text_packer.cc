#include "data/text_packer.h"

#include <zstd.h>

namespace kin::data {
namespace {

// The first byte of a packed text.
constexpr char kPlain = 0;
constexpr char kZstd = 1;
// Fast: the gain of higher levels on short texts is small.
constexpr int kLevel = 1;

Error damaged() {
  return {Code::kDataLoss, "a packed text is damaged"};
}

}  // namespace

struct TextPacker::State {
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> to{ZSTD_createCCtx(), ZSTD_freeCCtx};
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> from{ZSTD_createDCtx(), ZSTD_freeDCtx};
  std::string packed;
  std::string plain;
};

TextPacker::TextPacker() : state_(std::make_unique<State>()) {}
TextPacker::~TextPacker() = default;
TextPacker::TextPacker(TextPacker&&) noexcept = default;

std::string_view TextPacker::pack(std::string_view text) {
  std::string& packed = state_->packed;
  packed.resize(1 + ZSTD_compressBound(text.size()));
  const std::size_t size = ZSTD_compressCCtx(state_->to.get(), packed.data() + 1, packed.size() - 1,
                                             text.data(), text.size(), kLevel);
  if (ZSTD_isError(size) == 0 && size < text.size()) {
    packed.front() = kZstd;
    packed.resize(1 + size);
    return packed;
  }
  packed.assign(1, kPlain);
  packed += text;
  return packed;
}

std::uint64_t TextPacker::size_of(std::string_view packed) {
  if (packed.empty()) return 0;
  const std::string_view body = packed.substr(1);
  if (packed.front() == kPlain) return body.size();
  if (packed.front() != kZstd) return 0;
  const unsigned long long size = ZSTD_getFrameContentSize(body.data(), body.size());
  return size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR ? 0 : size;
}

Result<std::string_view> TextPacker::unpack(std::string_view packed, std::uint64_t most) {
  const std::uint64_t size = size_of(packed);
  if (packed.empty() || size > most) return damaged();
  const std::string_view body = packed.substr(1);
  if (packed.front() == kPlain) return body;
  if (packed.front() != kZstd) return damaged();
  std::string& plain = state_->plain;
  plain.resize(size);
  const std::size_t done =
      ZSTD_decompressDCtx(state_->from.get(), plain.data(), plain.size(), body.data(), body.size());
  if (ZSTD_isError(done) != 0 || done != size) return damaged();
  return std::string_view(plain);
}

}  // namespace kin::data
