// One plain value for each record of a run whose number of records is not known yet.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"

namespace kin::dedup {

// An array that grows by chunks which never move. Several threads may write different records,
// and read values that were written before the threads were joined. Values never written are
// T{}.
template <typename T>
class RecordTable {
 public:
  RecordTable() : chunks_(kChunks) {}
  ~RecordTable() { clear(); }
  RecordTable(const RecordTable&) = delete;
  RecordTable& operator=(const RecordTable&) = delete;

  void set(RecordId id, T value) {
    chunk(row_number(id) / kChunkRecords)[row_number(id) % kChunkRecords] = value;
  }

  T get(RecordId id) const {
    const T* values = chunks_[row_number(id) / kChunkRecords].load(std::memory_order_acquire);
    return values == nullptr ? T{} : values[row_number(id) % kChunkRecords];
  }

  // True if nothing was ever set.
  bool empty() const {
    return std::all_of(chunks_.begin(), chunks_.end(),
                       [](const auto& chunk) { return chunk.load() == nullptr; });
  }

  void clear() {
    for (auto& slot : chunks_) delete[] slot.exchange(nullptr);
  }

  // Encodes the first `count` values for a checkpoint, and restores them.
  std::string encode(std::size_t count) const {
    std::string bytes;
    bytes.reserve(count * sizeof(T));
    for (std::size_t i = 0; i < count; ++i) append_le(bytes, get(record_id(i)));
    return bytes;
  }
  void decode(std::string_view bytes) {
    for (std::size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
      set(record_id(i), load_le<T>(bytes.data() + i * sizeof(T)));
    }
  }

 private:
  static constexpr std::size_t kChunkRecords = std::size_t{1} << 18;
  static constexpr std::size_t kChunks = (std::size_t{1} << 32) / kChunkRecords;

  T* chunk(std::size_t number) {
    T* values = chunks_[number].load(std::memory_order_acquire);
    if (values != nullptr) return values;
    const std::lock_guard lock(growing_);
    values = chunks_[number].load(std::memory_order_acquire);
    if (values == nullptr) {
      values = new T[kChunkRecords]{};
      chunks_[number].store(values, std::memory_order_release);
    }
    return values;
  }

  std::vector<std::atomic<T*>> chunks_;
  std::mutex growing_;
};

}  // namespace kin::dedup
