#include "data/pages/hybrid.h"

#include <algorithm>

#include "data/pages/bits.h"

namespace kin::data {

bool HybridDecoder::next_run() {
  std::uint64_t head = 0;
  // Skips empty runs. Each takes a byte, so this ends.
  do {
    if (!take_varint(rest_, head)) return false;
    left_ = head >> 1;
  } while (left_ == 0);
  packed_ = (head & 1) != 0;
  if (!packed_) {
    const auto bytes = static_cast<std::size_t>((width_ + 7) / 8);
    if (rest_.size() < bytes) return false;
    value_ = static_cast<std::uint32_t>(load_bits(rest_.substr(0, bytes), 0, width_));
    rest_.remove_prefix(bytes);
    return true;
  }
  // Some writers leave out the unused bytes of the last group.
  const std::uint64_t groups = left_;
  const auto width = static_cast<std::uint64_t>(width_);
  const std::size_t bytes = width == 0 || groups <= rest_.size() / width
                                ? static_cast<std::size_t>(groups * width)
                                : rest_.size();
  if (groups > (std::uint64_t{1} << 40)) return false;
  left_ = groups * 8;
  if (width > 0) left_ = std::min<std::uint64_t>(left_, bytes * 8 / width);
  group_ = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  bit_ = 0;
  return left_ > 0;
}

bool HybridDecoder::read(std::uint32_t* to, std::size_t count) {
  while (count > 0) {
    if (left_ == 0 && !next_run()) return false;
    const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(left_, count));
    if (packed_) {
      for (std::size_t i = 0; i < taken; ++i) {
        to[i] = static_cast<std::uint32_t>(load_bits(group_, bit_, width_));
        bit_ += static_cast<std::uint64_t>(width_);
      }
    } else {
      std::fill_n(to, taken, value_);
    }
    left_ -= taken;
    to += taken;
    count -= taken;
  }
  return true;
}

void HybridEncoder::put(std::uint32_t value) {
  if (run_ > 0 && value == value_) {
    ++run_;
    return;
  }
  end_run();
  value_ = value;
  run_ = 1;
}

// A run is worth writing as one if it has eight numbers left when the packed group before it is
// full. Everything else is packed.
void HybridEncoder::end_run() {
  for (; run_ > 0 && (pending_ % kGroup != 0 || run_ < kGroup); --run_) {
    if (pending_ == kGroup * kMostGroups) end_packed();
    group_[pending_++] = value_;
  }
  if (run_ == 0) return;
  end_packed();
  append_varint(out_, run_ << 1);
  for (int at = 0; at < width_; at += 8) out_ += static_cast<char>(value_ >> at);
  run_ = 0;
}

void HybridEncoder::end_packed() {
  if (pending_ == 0) return;
  const std::size_t groups = (pending_ + kGroup - 1) / kGroup;
  std::fill(group_ + pending_, group_ + groups * kGroup, 0);
  append_varint(out_, groups << 1 | 1);
  BitPacker packer(out_, width_);
  for (std::size_t i = 0; i < groups * kGroup; ++i) packer.put(group_[i]);
  packer.finish();
  pending_ = 0;
}

void HybridEncoder::take(std::string& out) {
  end_run();
  end_packed();
  out += out_;
  out_.clear();
}

}  // namespace kin::data
