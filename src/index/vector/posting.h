// The codes of the vectors of one cell, laid out for scanning. Immutable once made, except for the
// marks of deleted vectors.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "index/vector/code.h"
#include "index/vector/space.h"

namespace kin::index {

// The most slots of a posting: CellSlot has 12 bits for a slot.
constexpr std::uint32_t kMostSlots = 4095;

// The distance of one vector, estimated from its code.
struct Estimate {
  std::uint32_t slot;
  float distance;  // by all bits, not yet halved for cosine
  float error;     // bound of the error of the distance
};

// The position of a cell relative to a query.
struct CellView {
  float add = 0;       // the centroid's distance: |q - c|², or -<q, c>
  float distance = 0;  // |q - c|
};

// Thread-safe: many threads may scan and mark.
class Posting {
 public:
  // For `slots` vectors, at most kMostSlots. `error_ratio`: Encoder::full_error_ratio().
  Posting(const VectorSpace& space, float error_ratio, std::uint32_t slots);

  // Fills a slot; before the posting is shared.
  void set(std::uint32_t slot, std::uint32_t id, const VectorCode& code);
  // Keeps the rotated vector of a slot, if the space says so; before the posting is shared.
  void set_raw(std::uint32_t slot, std::span<const float> rotated);
  // Copies a slot of another posting of the same centroid; before this one is shared.
  void copy(std::uint32_t slot, const Posting& from, std::uint32_t from_slot);
  // Call once all slots are set.
  void finish();

  std::uint32_t size() const { return slots_; }
  std::span<const std::uint32_t> ids() const { return ids_; }
  std::uint32_t live() const { return slots_ - dead_count_.load(std::memory_order_acquire); }
  bool is_dead(std::uint32_t slot) const {
    return (dead_[slot / 64].load(std::memory_order_acquire) >> (slot % 64) & 1) != 0;
  }
  // True if the slot was alive.
  bool mark_dead(std::uint32_t slot);
  // The mean square of the distances from the centroid.
  float spread() const { return spread_; }

  std::size_t blocks() const { return (slots_ + 31) / 32; }
  // The vectors of a block whose lower bound by signs is within `limit`, as bits; estimate() needs
  // their `products` (32).
  std::uint32_t scan(std::size_t block, const QueryCode& query, const CellView& view, float limit,
                     float* products) const;
  // Prefetches the first blocks; the hardware prefetches the others.
  void prefetch_blocks() const {
    const auto* front = reinterpret_cast<const char*>(blocks_.data());
    const std::size_t bytes = blocks_.size() * 2 < 1536 ? blocks_.size() * 2 : 1536;
    for (std::size_t at = 0; at < bytes; at += 64) __builtin_prefetch(front + at);
  }
  // Prefetches what estimate() reads of a slot.
  void prefetch(std::size_t slot) const {
    const std::uint8_t* own = record(slot);
    for (std::size_t at = 0; at < record_bytes_; at += 64) __builtin_prefetch(own + at);
    __builtin_prefetch(own + record_bytes_ - 1);
  }
  Estimate estimate(std::uint32_t slot, const QueryCode& query, const CellView& view,
                    float product) const;

  // Is this the slot's code? Half-precision factors may have lost their last bits.
  bool is_coded(std::uint32_t slot, const VectorCode& code) const;

  // The rotated vector of a slot; false if this space keeps its vectors elsewhere.
  bool raw(std::uint32_t slot, float* out) const;

  std::size_t bytes() const;

  // Appends the posting without its dead slots as bytes, and reads it back. An error if the bytes
  // are malformed; the caller checks their checksum.
  void append_to(std::string& out) const;
  static Result<std::shared_ptr<Posting>> from_bytes(const VectorSpace& space, float error_ratio,
                                                     std::string_view bytes);

 private:
  CodeFactors factors(std::uint32_t slot) const;
  std::shared_ptr<Posting> compacted() const;
  void drop_staged();
  static constexpr std::size_t kRecordHead = 2 * sizeof(float);
  std::uint8_t* record(std::size_t slot) { return records_.data() + slot * record_bytes_; }
  const std::uint8_t* record(std::size_t slot) const {
    return records_.data() + slot * record_bytes_;
  }
  std::size_t block_words() const { return groups_ * 8 + 3 * 32; }
  std::uint8_t* rows(std::size_t block) {
    return reinterpret_cast<std::uint8_t*>(blocks_.data() + block * block_words());
  }
  const std::uint8_t* rows(std::size_t block) const {
    return reinterpret_cast<const std::uint8_t*>(blocks_.data() + block * block_words());
  }
  std::uint16_t* halves(std::size_t block) {
    return blocks_.data() + block * block_words() + groups_ * 8;
  }
  const std::uint16_t* halves(std::size_t block) const {
    return blocks_.data() + block * block_words() + groups_ * 8;
  }
  std::uint8_t* sign_byte(std::uint32_t slot, std::size_t group);

  VectorSpace space_;
  float error_ratio_;
  std::uint32_t slots_;
  std::size_t groups_;
  std::size_t record_bytes_;
  float scale_ = 1;  // of the half-precision factors
  float spread_ = 0;
  std::vector<std::uint32_t> ids_;
  // Block by block: the signs (see internal::SignScan), then add, rescale and error of 32 vectors.
  std::vector<std::uint16_t> blocks_;
  // Slot by slot: add and rescale of the estimate by all bits, then the bits beyond the sign.
  std::vector<std::uint8_t> records_;
  std::vector<float> raw32_;
  std::vector<std::uint16_t> raw16_;
  std::vector<CodeFactors> staged_;  // until finish()
  std::vector<float> squares_;       // until finish()
  std::unique_ptr<std::atomic<std::uint64_t>[]> dead_;
  std::atomic<std::uint32_t> dead_count_{0};
};

}  // namespace kin::index
