// The log of vectors that have no cell yet. One thread appends to it while others read the rows
// before its end.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace kin::index {

// A piece of the log. Thread-safe for one writer and any number of readers.
class PendingChunk {
 public:
  static constexpr std::uint32_t kRows = 256;

  explicit PendingChunk(std::size_t stride) : stride_(stride), values_(kRows * stride) {}
  ~PendingChunk();
  PendingChunk(const PendingChunk&) = delete;
  PendingChunk& operator=(const PendingChunk&) = delete;

  std::uint32_t size() const { return size_.load(std::memory_order_acquire); }
  std::uint32_t id(std::uint32_t row) const { return ids_[row]; }
  std::span<const float> row(std::uint32_t row) const {
    return {values_.data() + row * stride_, stride_};
  }
  bool is_dead(std::uint32_t row) const { return dead_[row].load(std::memory_order_acquire); }
  // The next piece; nothing if this is the last.
  const PendingChunk* next() const {
    return has_next_.load(std::memory_order_acquire) ? next_.get() : nullptr;
  }
  std::shared_ptr<PendingChunk> next_shared() const { return next_; }
  std::size_t bytes() const { return sizeof *this + values_.capacity() * sizeof(float); }

  // Called by the writer only. `rotated` is padded up to the stride with zeros.
  void append(std::uint32_t id, std::span<const float> rotated);
  void mark_dead(std::uint32_t row) { dead_[row].store(true, std::memory_order_release); }
  void set_next(std::shared_ptr<PendingChunk> next);

 private:
  std::size_t stride_;
  std::array<std::uint32_t, kRows> ids_{};
  std::vector<float> values_;
  std::array<std::atomic<bool>, kRows> dead_{};
  std::atomic<std::uint32_t> size_{0};
  std::atomic<bool> has_next_{false};
  std::shared_ptr<PendingChunk> next_;
};

// The position from which a reader reads the log.
struct PendingView {
  std::shared_ptr<PendingChunk> first;
  std::uint32_t from = 0;

  // Calls see(chunk, row) for every existing row, dead ones too.
  template <typename See>
  void each(See&& see) const {
    std::uint32_t row = from;
    for (const PendingChunk* chunk = first.get(); chunk != nullptr;) {
      // Read before the rows: a chunk that has a next one gets no more rows. Read again after them:
      // the successor of a row that was seen dead may be in a chunk that was added meanwhile.
      const PendingChunk* next = chunk->next();
      for (; row < chunk->size(); ++row) see(*chunk, row);
      if (next == nullptr && chunk->next() == nullptr) return;
      if (next == nullptr) continue;
      row = 0;
      chunk = next;
    }
  }
};

}  // namespace kin::index
