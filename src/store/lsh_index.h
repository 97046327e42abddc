// An in-memory index from band keys to records: finds the records that share a band.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "store/signatures/chunked_bits.h"
#include "store/sorted_slots.h"

namespace kin::store {

struct LshIndexOptions {
  // The most candidates a query returns; those that share the most bands come first, then those
  // with the lowest ids. Queries that reach the limit are counted. Nothing: no limit.
  std::optional<std::size_t> max_candidates = std::nullopt;
};

// Every document costs one slot of 8 bytes per band in tables that are nearly full and grow piece
// by piece, so that 16 bands take at most 160 bytes a document at any time, growth included, from
// 100,000 documents on; before, and where most keys are shared by hundreds, up to 2 MiB more. A key
// keeps 40 bits here: two different ones are equal about once in 10^12, which gives a candidate too
// many, never one too few.
//
// A key that very many documents share takes 4 to 5 bytes for each of them past the first 256, and
// adding one more stays cheap; limit the candidates, or a query returns them all.
//
// Thread-compatible: any number of readers, or one writer.
class LshIndex {
 public:
  explicit LshIndex(LshIndexOptions options = {});
  LshIndex(const LshIndex&) = delete;
  LshIndex& operator=(const LshIndex&) = delete;

  // Adds a record under the key of each of its bands. False, and nothing changes, if it exists.
  // Adding a removed id again may have to compact first: give a new version a new id.
  bool insert(RecordId id, std::span<const std::uint64_t> band_keys);
  // The records that share the key of at least one band, ascending. band_keys[i] is compared with
  // the i-th keys only.
  std::vector<RecordId> query(std::span<const std::uint64_t> band_keys) const;
  // True if it existed. It is no longer a candidate; compact() frees its slots, and runs
  // automatically when an eighth of the records were removed.
  bool remove(RecordId id);
  // Frees the slots of removed records.
  void compact();
  bool contains(RecordId id) const { return live_.contains(id); }
  std::size_t len() const { return live_.count(); }
  void clear();

  // Memory held.
  std::size_t bytes() const;
  std::uint64_t capped_queries() const { return capped_.load(std::memory_order_relaxed); }

 private:
  static constexpr int kTagBits = 32;
  static constexpr int kTableBits = 8;
  using Table = SortedSlots<kTagBits>;
  struct Place {
    std::uint32_t table;
    std::uint32_t tag;
  };

  static Place place(std::uint64_t key, std::size_t band);
  static std::uint64_t overflow_key(Place place) {
    return (std::uint64_t{place.table} << kTagBits) | place.tag;
  }
  void prefetch(std::span<const std::uint64_t> band_keys) const;
  void insert_at(Place place, RecordId id);
  bool collect(Place place, std::vector<RecordId>& hits) const;
  bool keep_best(std::vector<RecordId>& hits) const;
  void refill(std::uint64_t key, std::vector<RecordId>& overflow);

  LshIndexOptions options_;
  std::vector<Table> tables_;
  std::unordered_map<std::uint64_t, std::vector<RecordId>> overflow_;
  ChunkedBits live_;
  ChunkedBits removed_;
  mutable std::atomic<std::uint64_t> capped_ = 0;
};

}  // namespace kin::store
