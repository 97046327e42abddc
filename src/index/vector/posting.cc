#include "index/vector/posting.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/bytes.h"
#include "base/check.h"
#include "index/vector/kernels.h"

namespace kin::index {
namespace {

using internal::kBlock;

// Factors are scaled so that the largest is below this, well within the range of a half.
constexpr float kLargestHalf = 8192;

// A power of two changes exponents alone, so scaling loses no bits.
float power_of_two_scale(float largest) {
  if (!(largest > 0)) return 1;
  int exponent = 0;
  std::frexp(largest / kLargestHalf, &exponent);
  return std::ldexp(1.0F, exponent);
}

std::uint16_t half(float value) {
  std::uint16_t result = 0;
  internal::halves_from_floats({&value, 1}, &result);
  return result;
}

// The value must be finite.
float from_half(std::uint16_t value) {
  const std::uint32_t sign = std::uint32_t{value & 0x8000U} << 16;
  // A multiplication corrects the bias of the exponent, for subnormals too.
  const auto small = std::bit_cast<float>(std::uint32_t{value & 0x7FFFU} << 13);
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(small * 0x1p112F) | sign);
}

}  // namespace

Posting::Posting(const VectorSpace& space, float error_ratio, std::uint32_t slots)
    : space_(space),
      error_ratio_(error_ratio),
      slots_(slots),
      groups_(internal::sign_groups(space.dimension)),
      record_bytes_(kRecordHead + Encoder::more_bytes(space)) {
  KIN_CHECK(slots <= kMostSlots, "a posting has too many vectors");
  ids_.resize(slots);
  blocks_.resize(blocks() * block_words());
  records_.resize(slots * record_bytes_ + internal::kReadSlack);
  const std::size_t numbers = std::size_t{slots} * space.dimension;
  if (space.storage == RawStorage::kF32) raw32_.resize(numbers);
  if (space.storage == RawStorage::kF16) raw16_.resize(numbers);
  staged_.resize(slots);
  squares_.resize(slots);
  dead_ = std::make_unique<std::atomic<std::uint64_t>[]>(slots / 64 + 1);
}

// The signs of four dimensions share a byte with those of the vector 16 slots away: see SignScan.
std::uint8_t* Posting::sign_byte(std::uint32_t slot, std::size_t group) {
  return rows(slot / kBlock) + group * 16 + slot % 16;
}

void Posting::set(std::uint32_t slot, std::uint32_t id, const VectorCode& code) {
  ids_[slot] = id;
  staged_[slot] = code.factors;
  squares_[slot] = code.square;
  const unsigned shift = slot % kBlock / 16 * 4;
  for (std::size_t i = 0; i < code.signs.size(); ++i)
    *sign_byte(slot, i / 4) |= static_cast<std::uint8_t>(code.signs[i] << (shift + i % 4));
  std::copy(code.more.begin(), code.more.end(), record(slot) + kRecordHead);
}

void Posting::set_raw(std::uint32_t slot, std::span<const float> rotated) {
  const std::size_t at = std::size_t{slot} * space_.dimension;
  if (!raw32_.empty()) std::copy_n(rotated.data(), space_.dimension, raw32_.data() + at);
  if (!raw16_.empty())
    internal::halves_from_floats(rotated.first(space_.dimension), raw16_.data() + at);
}

bool Posting::raw(std::uint32_t slot, float* out) const {
  const std::size_t at = std::size_t{slot} * space_.dimension;
  if (!raw32_.empty()) std::copy_n(raw32_.data() + at, space_.dimension, out);
  if (!raw16_.empty()) internal::floats_from_halves({raw16_.data() + at, space_.dimension}, out);
  return space_.storage != RawStorage::kElsewhere;
}

CodeFactors Posting::factors(std::uint32_t slot) const {
  const std::uint16_t* at = halves(slot / kBlock) + slot % kBlock;
  return {.add = from_half(at[0]) * scale_,
          .rescale = from_half(at[kBlock]) * scale_,
          .error = from_half(at[2 * kBlock]) * scale_,
          .full_add = load_le<float>(record(slot)),
          .full_rescale = load_le<float>(record(slot) + sizeof(float))};
}

void Posting::copy(std::uint32_t slot, const Posting& from, std::uint32_t from_slot) {
  ids_[slot] = from.ids_[from_slot];
  staged_[slot] = from.factors(from_slot);
  squares_[slot] = from.spread_;  // single squares are not kept; their mean stands for each
  const unsigned shift = slot % kBlock / 16 * 4;
  const unsigned from_shift = from_slot % kBlock / 16 * 4;
  const std::uint8_t* row = from.rows(from_slot / kBlock) + from_slot % 16;
  for (std::size_t g = 0; g < groups_; ++g)
    *sign_byte(slot, g) |= static_cast<std::uint8_t>((row[16 * g] >> from_shift & 15) << shift);
  std::copy_n(from.record(from_slot), record_bytes_, record(slot));
  const std::size_t size = space_.dimension;
  if (!raw32_.empty())
    std::copy_n(from.raw32_.data() + from_slot * size, size, raw32_.data() + slot * size);
  if (!raw16_.empty())
    std::copy_n(from.raw16_.data() + from_slot * size, size, raw16_.data() + slot * size);
}

void Posting::finish() {
  float largest = 0;
  double squares = 0;
  for (std::uint32_t slot = 0; slot < slots_; ++slot) {
    const CodeFactors& f = staged_[slot];
    largest = std::max({largest, std::abs(f.add), std::abs(f.rescale), f.error});
    squares += squares_[slot];
  }
  scale_ = power_of_two_scale(largest);
  spread_ = slots_ == 0 ? 0 : static_cast<float>(squares / slots_);
  for (std::uint32_t slot = 0; slot < slots_; ++slot) {
    std::uint16_t* at = halves(slot / kBlock) + slot % kBlock;
    const CodeFactors& f = staged_[slot];
    at[0] = half(f.add / scale_);
    at[kBlock] = half(f.rescale / scale_);
    at[2 * kBlock] = half(f.error / scale_);
    store_le(record(slot), f.full_add);
    store_le(record(slot) + sizeof(float), f.full_rescale);
  }
  drop_staged();
}

void Posting::drop_staged() {
  // clear() would keep the memory.
  std::vector<CodeFactors>().swap(staged_);
  std::vector<float>().swap(squares_);
}

bool Posting::mark_dead(std::uint32_t slot) {
  const std::uint64_t bit = 1ULL << (slot % 64);
  if ((dead_[slot / 64].fetch_or(bit, std::memory_order_acq_rel) & bit) != 0) return false;
  dead_count_.fetch_add(1, std::memory_order_acq_rel);
  return true;
}

std::uint32_t Posting::scan(std::size_t block, const QueryCode& query, const CellView& view,
                            float limit, float* products) const {
  const std::uint16_t* factors = halves(block);
  const internal::SignScan scan{.rows = rows(block),
                                .groups = groups_,
                                .low_table = query.low_table.data(),
                                .high_table = query.high_table.data(),
                                .offset = query.offset,
                                .step = query.step,
                                .add = factors,
                                .rescale = factors + kBlock,
                                .error = factors + 2 * kBlock,
                                .factor_scale = scale_,
                                .query_add = view.add,
                                .query_error = view.distance,
                                .limit = limit};
  std::uint32_t mask = internal::scan_signs(scan, products);
  // The last block may have fewer vectors; its empty lanes have zeros, which pass some limits.
  const std::size_t left = slots_ - block * kBlock;
  if (left < kBlock) mask &= (1U << left) - 1;
  const std::uint64_t dead = dead_[block / 2].load(std::memory_order_acquire);
  return mask & ~static_cast<std::uint32_t>(dead >> (block % 2 * kBlock));
}

Estimate Posting::estimate(std::uint32_t slot, const QueryCode& query, const CellView& view,
                           float product) const {
  const std::uint8_t* own = record(slot);
  const auto add = load_le<float>(own) + view.add;
  const auto rescale = load_le<float>(own + sizeof(float));
  const std::uint16_t* at = halves(slot / kBlock) + slot % kBlock;
  const float error = from_half(at[2 * kBlock]) * scale_ * view.distance;
  const unsigned bits = space_.bits - 1U;
  if (bits == 0) return {slot, add + rescale * product, error};
  // A code's number is levels * sign + more, shifted so that its middle is 0.
  const auto levels = static_cast<float>(1U << bits);
  const float more =
      internal::packed_dot(own + kRecordHead, bits, {query.rotated.data(), space_.dimension});
  const float whole = levels * product + more + query.sum * (0.5F - levels / 2);
  return {slot, add + rescale * whole, error * error_ratio_};
}

bool Posting::is_coded(std::uint32_t slot, const VectorCode& code) const {
  const unsigned shift = slot % kBlock / 16 * 4;
  const std::uint8_t* row = rows(slot / kBlock) + slot % 16;
  for (std::size_t i = 0; i < code.signs.size(); ++i)
    if ((row[i / 4 * 16] >> (shift + i % 4) & 1) != code.signs[i]) return false;
  if (!std::equal(code.more.begin(), code.more.end(), record(slot) + kRecordHead)) return false;
  const CodeFactors kept = factors(slot);
  if (kept.full_add != code.factors.full_add || kept.full_rescale != code.factors.full_rescale)
    return false;
  // A half has 11 bits; the last term is for subnormal ones.
  const auto near = [this](float a, float b) {
    return std::abs(a - b) <= std::abs(b) / 1024 + scale_ * 0x1p-23F;
  };
  return near(kept.add, code.factors.add) && near(kept.rescale, code.factors.rescale) &&
         near(kept.error, code.factors.error);
}

std::size_t Posting::bytes() const {
  return sizeof *this + ids_.capacity() * 4 + blocks_.capacity() * 2 + records_.capacity() +
         raw32_.capacity() * 4 + raw16_.capacity() * 2 + (slots_ / 64 + 1) * 8;
}

std::shared_ptr<Posting> Posting::compacted() const {
  std::vector<std::uint32_t> live;
  for (std::uint32_t slot = 0; slot < slots_; ++slot)
    if (!is_dead(slot)) live.push_back(slot);
  auto result =
      std::make_shared<Posting>(space_, error_ratio_, static_cast<std::uint32_t>(live.size()));
  for (std::uint32_t slot = 0; slot < live.size(); ++slot) result->copy(slot, *this, live[slot]);
  result->finish();
  return result;
}

void Posting::append_to(std::string& out) const {
  // Dead slots are not written, so that a restored posting has none.
  if (live() != slots_) return compacted()->append_to(out);
  append_le(out, slots_);
  append_le(out, scale_);
  append_le(out, spread_);
  out += as_bytes_view(std::span(ids_));
  out += as_bytes_view(std::span(blocks_));
  out += as_bytes_view(std::span(records_).first(slots_ * record_bytes_));
  out += as_bytes_view(std::span(raw32_));
  out += as_bytes_view(std::span(raw16_));
}

Result<std::shared_ptr<Posting>> Posting::from_bytes(const VectorSpace& space, float error_ratio,
                                                     std::string_view bytes) {
  const Error broken{Code::kDataLoss, "the codes of a cell have the wrong length"};
  ByteReader reader(bytes);
  const auto slots = reader.read<std::uint32_t>();
  // Checked before anything is allocated for the slots.
  if (!reader.ok() || slots > kMostSlots) return broken;
  auto posting = std::make_shared<Posting>(space, error_ratio, slots);
  posting->scale_ = reader.read<float>();
  posting->spread_ = reader.read<float>();
  const auto fill = [&](auto& values, std::size_t size) {
    const std::string_view part = reader.read_bytes(size);
    if (!part.empty()) std::memcpy(values.data(), part.data(), part.size());
  };
  fill(posting->ids_, posting->ids_.size() * 4);
  fill(posting->blocks_, posting->blocks_.size() * 2);
  fill(posting->records_, slots * posting->record_bytes_);
  fill(posting->raw32_, posting->raw32_.size() * 4);
  fill(posting->raw16_, posting->raw16_.size() * 2);
  posting->drop_staged();
  if (!reader.ok() || !reader.rest().empty()) return broken;
  return posting;
}

}  // namespace kin::index
