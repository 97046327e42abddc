// Finds the records of a spill that share a key.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/workers.h"
#include "dedup/progress.h"
#include "dedup/spill/spill.h"

namespace kin::dedup {

// Records of spills. Packed: their size is the cost of a record on disk and in memory.
#pragma pack(push, 1)
struct BandRecord {
  std::uint64_t key;
  RecordId record;
};
struct HashRecord {
  Hash128 key;
  RecordId record;
};
#pragma pack(pop)
static_assert(sizeof(BandRecord) == 12 && sizeof(HashRecord) == 20);

inline std::uint64_t key_bits(const BandRecord& record) {
  return record.key;
}
inline std::uint64_t key_bits(const HashRecord& record) {
  return record.key.low;
}

// The bin of a record: the top byte of its key, which is well mixed.
template <typename Record>
std::size_t bin_of(const Record& record) {
  return key_bits(record) >> 56;
}

// Calls visit(span of records with one key, sorted by id) for every key that two or more of
// `records` share. `records` is reordered.
//
// Almost every key is unique. Two bits per slot, small enough for the cache, tell which keys may be
// shared, and only those are sorted.
template <typename Record, typename Visit>
void for_each_shared_key(std::vector<Record>& records, const Visit& visit) {
  const std::size_t slots = std::bit_ceil(std::max<std::size_t>(records.size() * 8, 64));
  std::vector<std::uint64_t> once(slots / 64);
  std::vector<std::uint64_t> twice(slots / 64);
  const auto slot_of = [&](const Record& record) { return key_bits(record) & (slots - 1); };
  for (const Record& record : records) {
    const std::size_t slot = slot_of(record);
    const std::uint64_t bit = std::uint64_t{1} << (slot % 64);
    twice[slot / 64] |= once[slot / 64] & bit;
    once[slot / 64] |= bit;
  }
  std::erase_if(records, [&](const Record& record) {
    const std::size_t slot = slot_of(record);
    return ((twice[slot / 64] >> (slot % 64)) & 1) == 0;
  });
  std::sort(records.begin(), records.end(), [](const Record& a, const Record& b) {
    const auto key_a = a.key;  // copies: a packed member cannot be bound to a reference
    const auto key_b = b.key;
    return key_a != key_b ? key_a < key_b : a.record < b.record;
  });
  for (std::size_t begin = 0; begin < records.size();) {
    std::size_t end = begin + 1;
    const auto key = records[begin].key;
    while (end < records.size() && records[end].key == key) ++end;
    if (end - begin > 1) visit(std::span<const Record>(records).subspan(begin, end - begin));
    begin = end;
  }
}

// The records of a bin whose keys fall into slice `slice` of `slices`.
template <typename Record>
Result<std::vector<Record>> read_slice(const Spill& spill, std::size_t bin, std::size_t slice,
                                       std::size_t slices) {
  std::vector<Record> records;
  records.reserve(spill.bytes(bin) / sizeof(Record) / slices + 1);
  KIN_RETURN_IF_ERROR(spill.visit(bin, [&](std::string_view block) {
    for (std::size_t at = 0; at + sizeof(Record) <= block.size(); at += sizeof(Record)) {
      const auto record = load_le<Record>(block.data() + at);
      // The top byte selects the bin; the bits below it select the slice.
      if (slices == 1 || ((key_bits(record) >> 32) & 0xFFFFFF) % slices == slice)
        records.push_back(record);
    }
  }));
  return records;
}

// The number of slices in which a bin must be read so that `threads` of them stay within `memory`.
// The bitmaps and the sort need about half as much again as the records.
inline std::size_t slices_of(std::uint64_t bin_bytes, int threads, std::uint64_t memory) {
  const std::uint64_t each =
      std::max<std::uint64_t>(memory / static_cast<std::uint64_t>(threads), 1 << 20);
  return static_cast<std::size_t>(bin_bytes * 3 / 2 / each + 1);
}

// Calls visit(records with one key, sorted by id) for every key shared by two or more records,
// from up to `threads` threads at once, in no order. Uses about `memory` bytes. Counts a unit of
// `work` for each bin.
template <typename Record>
Status for_each_shared_key(const Spill& spill, int threads, std::uint64_t memory,
                           const std::function<Status(std::span<const Record>)>& visit,
                           StageWork* work = nullptr) {
  return parallel_for(threads, Spill::kBins, [&](std::size_t bin) -> Status {
    const std::size_t slices = slices_of(spill.bytes(bin), threads, memory);
    for (std::size_t slice = 0; slice < slices; ++slice) {
      KIN_TRY(std::vector<Record> records, read_slice<Record>(spill, bin, slice, slices));
      Status outcome = Done{};
      for_each_shared_key(records, [&](std::span<const Record> same) {
        if (outcome.ok()) outcome = visit(same);
      });
      KIN_RETURN_IF_ERROR(outcome);
    }
    count_work(work, 1);
    return Done{};
  });
}

}  // namespace kin::dedup
