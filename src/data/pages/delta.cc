#include "data/pages/delta.h"

#include <algorithm>
#include <bit>

#include "data/pages/bits.h"

namespace kin::data {
namespace {

// The values that other writers use.
constexpr std::size_t kBlock = 128;
constexpr std::size_t kMiniblocks = 4;
constexpr std::size_t kMiniblock = kBlock / kMiniblocks;

}  // namespace

bool DeltaDecoder::open(std::string_view bytes) {
  constexpr std::uint64_t kMost = 1 << 20;  // in a block; the usual number is 128
  *this = DeltaDecoder();
  rest_ = bytes;
  std::uint64_t miniblocks = 0;
  if (!take_varint(rest_, block_) || !take_varint(rest_, miniblocks) ||
      !take_varint(rest_, count_) || !take_zigzag(rest_, last_)) {
    return false;
  }
  if (block_ == 0 || block_ > kMost || miniblocks == 0 || miniblocks > block_ ||
      block_ % miniblocks != 0) {
    return false;
  }
  miniblock_ = block_ / miniblocks;
  return miniblock_ % 8 == 0;
}

bool DeltaDecoder::begin_block() {
  if (!take_zigzag(rest_, least_delta_)) return false;
  const std::size_t miniblocks = block_ / miniblock_;
  if (rest_.size() < miniblocks) return false;
  widths_ = rest_.substr(0, miniblocks);
  rest_.remove_prefix(miniblocks);
  return true;
}

bool DeltaDecoder::begin_miniblock() {
  if (widths_.empty() && !begin_block()) return false;
  width_ = static_cast<std::uint8_t>(widths_.front());
  widths_.remove_prefix(1);
  if (width_ > 64) return false;
  // Some writers leave out the unused end of the last miniblock.
  const std::size_t bytes = static_cast<std::size_t>(width_) * miniblock_ / 8;
  packed_ = rest_.substr(0, bytes);
  rest_.remove_prefix(packed_.size());
  left_ = miniblock_;
  if (width_ > 0) {
    left_ = std::min<std::uint64_t>(left_, packed_.size() * 8 / static_cast<std::uint64_t>(width_));
  }
  bit_ = 0;
  return left_ > 0;
}

bool DeltaDecoder::read(std::uint64_t* to, std::size_t count) {
  if (count > count_ - read_) return false;
  for (std::size_t i = 0; i < count; ++i) {
    if (read_ > 0) {
      if (left_ == 0 && !begin_miniblock()) return false;
      last_ += least_delta_ + load_bits(packed_, bit_, width_);
      bit_ += static_cast<std::uint64_t>(width_);
      --left_;
    }
    ++read_;
    to[i] = last_;
  }
  return true;
}

bool DeltaDecoder::bytes_behind(std::string_view& rest) const {
  DeltaDecoder copy = *this;
  if (copy.read_ == 0 && copy.count_ > 0) ++copy.read_;
  while (copy.count_ - copy.read_ > copy.left_) {
    copy.read_ += copy.left_;
    if (!copy.begin_miniblock()) return false;
  }
  rest = copy.rest_;
  return true;
}

void DeltaEncoder::put_block(std::string& out, std::size_t begin, std::size_t end) const {
  const std::uint64_t mask = bits_ == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits_) - 1;
  const int sign_shift = 64 - bits_;
  std::uint64_t deltas[kBlock] = {};
  std::int64_t least = INT64_MAX;
  for (std::size_t i = begin; i < end; ++i) {
    deltas[i - begin] = values_[i] - values_[i - 1];
    const auto delta = static_cast<std::int64_t>(deltas[i - begin] << sign_shift) >> sign_shift;
    least = std::min(least, delta);
  }
  append_zigzag(out, static_cast<std::uint64_t>(least));
  const std::size_t count = end - begin;
  int widths[kMiniblocks] = {};
  for (std::size_t i = 0; i < count; ++i) {
    deltas[i] = (deltas[i] - static_cast<std::uint64_t>(least)) & mask;
    int& width = widths[i / kMiniblock];
    width = std::max(width, static_cast<int>(std::bit_width(deltas[i])));
  }
  for (const int width : widths) out += static_cast<char>(width);
  for (std::size_t i = 0; i < kMiniblocks && i * kMiniblock < count; ++i) {
    BitPacker packer(out, widths[i]);
    for (std::size_t j = 0; j < kMiniblock; ++j) {
      const std::size_t at = i * kMiniblock + j;
      packer.put(at < count ? deltas[at] : 0);
    }
    packer.finish();
  }
}

void DeltaEncoder::take(std::string& out) {
  append_varint(out, kBlock);
  append_varint(out, kMiniblocks);
  append_varint(out, values_.size());
  const int sign_shift = 64 - bits_;
  const std::uint64_t first = values_.empty() ? 0 : values_.front();
  append_zigzag(out, static_cast<std::uint64_t>(static_cast<std::int64_t>(first << sign_shift) >>
                                                sign_shift));
  for (std::size_t begin = 1; begin < values_.size(); begin += kBlock)
    put_block(out, begin, std::min(begin + kBlock, values_.size()));
  values_.clear();
}

}  // namespace kin::data
