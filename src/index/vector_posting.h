// The codes of one partition's vectors, laid out for scanning. Immutable once made, but for the
// marks of deleted vectors.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "index/vector_code.h"
#include "index/vector_space.h"

namespace kin::index {

// Slots of a posting at most; a place in the index has 12 bits for one.
constexpr std::uint32_t kMostSlots = 4095;

// What a scan found worth a closer look.
struct Estimate {
  std::uint32_t slot;
  float distance;  // by all bits, not yet halved for cosine
  float error;     // what the distance may be off by
};

// How a partition lies to a query.
struct PartitionView {
  float add = 0;       // the centroid's distance: |q - c|², or -<q, c>
  float distance = 0;  // |q - c|
};

// Thread-safe: many threads may scan and mark.
class Posting {
 public:
  // Of `slots` vectors, at most kMostSlots. `error_ratio`: Encoder::full_error_ratio().
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
  // Vectors of a block whose lower bound by signs is within `limit`, as bits; `products` (32) is
  // what estimate() needs of them.
  std::uint32_t scan(std::size_t block, const QueryCode& query, const PartitionView& view,
                     float limit, float* products) const;
  // Has what estimate() reads of a slot brought into the cache.
  void prefetch(std::size_t slot) const {
    const std::uint8_t* code = more_.data() + slot * more_bytes_;
    for (std::size_t at = 0; at < more_bytes_; at += 64) __builtin_prefetch(code + at);
    __builtin_prefetch(full_.data() + 2 * slot);
  }
  Estimate estimate(std::uint32_t slot, const QueryCode& query, const PartitionView& view,
                    float product) const;

  // The rotated vector of a slot; false if this space keeps its vectors elsewhere.
  bool raw(std::uint32_t slot, float* out) const;

  std::size_t bytes() const;

  // The posting without its dead, as bytes behind `out`; and back. An error if the bytes are not
  // such; their checksum is the caller's business.
  void append_to(std::string& out) const;
  static Result<std::shared_ptr<Posting>> from_bytes(const VectorSpace& space, float error_ratio,
                                                     std::string_view bytes);

 private:
  CodeFactors factors(std::uint32_t slot) const;
  std::shared_ptr<Posting> compacted() const;
  void drop_staged();
  std::uint8_t* sign_byte(std::uint32_t slot, std::size_t group);

  VectorSpace space_;
  float error_ratio_;
  std::uint32_t slots_;
  std::size_t groups_;
  std::size_t more_bytes_;
  float scale_ = 1;  // of the half-precision factors
  float spread_ = 0;
  std::vector<std::uint32_t> ids_;
  std::vector<std::uint8_t> rows_;
  std::vector<std::uint16_t> halves_;  // add, rescale, error of 32 vectors, block by block
  std::vector<float> full_;            // add, rescale
  std::vector<std::uint8_t> more_;
  std::vector<float> raw32_;
  std::vector<std::uint16_t> raw16_;
  std::vector<CodeFactors> staged_;  // until finish()
  std::vector<float> squares_;       // until finish()
  std::unique_ptr<std::atomic<std::uint64_t>[]> dead_;
  std::atomic<std::uint32_t> dead_count_{0};
};

}  // namespace kin::index
