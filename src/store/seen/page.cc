#include "store/seen/page.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/bytes.h"
#include "base/check.h"

namespace kin::store {
namespace {

// checksum u64, first id's high u64, count u16, bits per distance u8, kind u8, zero u32, payload:
// distances packed from the lowest bit on, rounded up to a byte; then low words: of 8 bytes for
// strings, of 4 for pairs.
constexpr std::size_t kFirst = 8;
constexpr std::size_t kCount = 16;
constexpr std::size_t kWidth = 18;
constexpr std::size_t kKind = 19;
constexpr std::size_t kPayload = 24;
constexpr std::size_t kPayloadBytes = kSeenPageBytes - kPayload;

std::uint64_t page_checksum(const char* page, const SeenPlace& place) {
  const std::string_view body(page + kFirst, kSeenPageBytes - kFirst);
  // A page of another file, or from another position, must be refused.
  return hash64(body, mix64(place.file) ^ (place.page + 1));
}

std::size_t packed_bytes(std::size_t count, unsigned width) {
  return (count * width + 7) / 8;
}

std::size_t low_bytes(IdKind kind) {
  if (kind == kPairs) return sizeof(std::uint32_t);
  return kind == IdKind::kText ? sizeof(std::uint64_t) : 0;
}

std::size_t needed_bytes(std::size_t count, unsigned width, IdKind kind) {
  return packed_bytes(count, width) + count * low_bytes(kind);
}

unsigned width_of(std::uint64_t distance) {
  // At least 1, because the mask is made by a shift of 64 - width.
  return std::max(1U, static_cast<unsigned>(std::bit_width(distance)));
}

// Ors `value`, of at most 64 bits, into `to` from bit `bit` on. The bytes there are zero, and up
// to eight after them are writable.
void put_bits(char* to, std::size_t bit, std::uint64_t value) {
  char* at = to + bit / 8;
  const unsigned shift = bit % 8;
  store_le(at, load_le<std::uint64_t>(at) | (value << shift));
  if (shift != 0) at[8] = static_cast<char>(value >> (64 - shift));
}

}  // namespace

SeenPageBuilder::SeenPageBuilder(IdKind kind) : kind_(kind) {
  // More than any page holds, so the vector never grows.
  ids_.reserve(kPayloadBytes);
}

bool SeenPageBuilder::add(SeenId id) {
  if (!ids_.empty()) {
    KIN_CHECK(id > ids_.back(), "ids of a page ascend");
    // Ids ascend, so the last distance is the largest and sets the width of all.
    const unsigned width = width_of(id.high - ids_.front().high);
    if (needed_bytes(ids_.size() + 1, width, kind_) > kPayloadBytes) return false;
  }
  ids_.push_back(id);
  return true;
}

std::string_view SeenPageBuilder::finish(const SeenPlace& place) {
  char* bytes = page_.bytes.data();
  // put_bits() relies on zeros, and the rest of the page is part of the checksum.
  std::memset(bytes, 0, page_.bytes.size());
  const std::uint64_t base = ids_.front().high;
  const unsigned width = width_of(ids_.back().high - base);
  store_le(bytes + kFirst, base);
  store_le(bytes + kCount, static_cast<std::uint16_t>(ids_.size()));
  store_le(bytes + kWidth, static_cast<std::uint8_t>(width));
  store_le(bytes + kKind, kind_);
  std::size_t bit = 0;
  for (const SeenId& id : ids_) {
    put_bits(bytes + kPayload, bit, id.high - base);
    bit += width;
  }
  char* low = bytes + kPayload + packed_bytes(ids_.size(), width);
  for (const SeenId& id : ids_) {
    std::memcpy(low, &id.low, low_bytes(kind_));  // numbers are little-endian here
    low += low_bytes(kind_);
  }
  store_le(bytes, page_checksum(bytes, place));
  ids_.clear();
  return {bytes, kSeenPageBytes};
}

Result<SeenPage> SeenPage::read(const char* bytes, const SeenPlace& place, IdKind kind) {
  if (load_le<std::uint64_t>(bytes) != page_checksum(bytes, place))
    return Error{Code::kDataLoss, "the checksum is wrong"};
  SeenPage view;
  view.base_ = load_le<std::uint64_t>(bytes + kFirst);
  view.count_ = load_le<std::uint16_t>(bytes + kCount);
  view.width_ = load_le<std::uint8_t>(bytes + kWidth);
  if (load_le<IdKind>(bytes + kKind) != kind)
    return Error{Code::kDataLoss, "it holds ids of another kind"};
  // A forged page may have a right checksum. These bounds keep every read within the page.
  if (view.count_ == 0 || view.width_ == 0 || view.width_ > 64 ||
      needed_bytes(view.count_, view.width_, kind) > kPayloadBytes) {
    return Error{Code::kDataLoss, "its header is not valid"};
  }
  view.mask_ = ~std::uint64_t{0} >> (64 - view.width_);
  view.payload_ = bytes + kPayload;
  view.lows_ = view.payload_ + packed_bytes(view.count_, view.width_);
  view.low_bytes_ = low_bytes(kind);
  return view;
}

std::uint64_t SeenPage::distance(std::size_t i) const {
  const std::size_t bit = i * width_;
  const char* at = payload_ + bit / 8;
  const unsigned shift = bit % 8;
  const std::uint64_t next = static_cast<std::uint8_t>(at[8]);
  // Two shifts, because one by 64 is undefined.
  return ((load_le<std::uint64_t>(at) >> shift) | ((next << 1) << (63 - shift))) & mask_;
}

std::uint64_t SeenPage::low(std::size_t i) const {
  if (low_bytes_ == 0) return 0;
  const char* at = lows_ + i * low_bytes_;
  return low_bytes_ == 4 ? load_le<std::uint32_t>(at) : load_le<std::uint64_t>(at);
}

std::size_t SeenPage::lower_bound(SeenId id) const {
  if (id.high < base_) return 0;
  const std::uint64_t wanted = id.high - base_;
  std::size_t begin = 0;
  std::size_t rest = count_;
  while (rest > 0) {
    const std::size_t half = rest / 2;
    const std::uint64_t middle = distance(begin + half);
    const bool below = middle < wanted || (middle == wanted && low(begin + half) < id.low);
    // Both are selections, not branches: the outcome of a comparison cannot be predicted.
    begin = below ? begin + half + 1 : begin;
    rest = below ? rest - half - 1 : half;
  }
  return begin;
}

bool SeenPage::contains(SeenId id) const {
  const std::size_t i = lower_bound(id);
  return i < count_ && at(i) == id;
}

void SeenPage::append_to(std::vector<SeenId>& out, std::size_t from) const {
  for (std::size_t i = from; i < count_; ++i) out.push_back(at(i));
}

}  // namespace kin::store
