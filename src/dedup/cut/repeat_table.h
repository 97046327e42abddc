// Counts keys that very many records of a spill may share.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "base/workers.h"
#include "dedup/progress.h"
#include "dedup/spill/shared_keys.h"
#include "dedup/spill/spill.h"

namespace kin::dedup {

// Entries by key, in memory. `Entry` has a `key`, and a `count` that is 0 in an empty one. The low
// bits of key_bits(entry) are well mixed. One thread only.
template <typename Entry>
class RepeatTable {
 public:
  RepeatTable() : entries_(kLeast) {}

  // The entry of the key of `wanted`; a copy of `wanted` if there was none.
  Entry& get(const Entry& wanted) {
    if ((used_ + 1) * 3 > entries_.size() * 2) grow();
    Entry& entry = entries_[slot_of(wanted)];
    if (entry.count == 0) {
      entry = wanted;
      ++used_;
    }
    return entry;
  }
  // The entry of an existing key.
  const Entry& find(const Entry& wanted) const { return entries_[slot_of(wanted)]; }

 private:
  static constexpr std::size_t kLeast = 1024;

  std::size_t slot_of(const Entry& wanted) const {
    std::size_t slot = key_bits(wanted) & (entries_.size() - 1);
    while (entries_[slot].count != 0 && entries_[slot].key != wanted.key)
      slot = (slot + 1) & (entries_.size() - 1);
    return slot;
  }

  void grow() {
    std::vector<Entry> old(entries_.size() * 2);
    old.swap(entries_);
    for (const Entry& entry : old) {
      if (entry.count != 0) entries_[slot_of(entry)] = entry;
    }
  }

  std::vector<Entry> entries_;
  std::size_t used_ = 0;
};

// For each bin, from up to `threads` threads at once: calls note(table, record) for all records of
// the bin, then use(table, record) for all of them again. The table has one entry per distinct key,
// however many records share it; a bin whose table would not fit is processed in slices of its
// keys. Uses about `memory` bytes. make_use() makes a `Use` for each bin, and its finish() is
// called at the end. Counts a unit of `work` for each bin.
template <typename Record, typename Entry, typename Note, typename MakeUse>
Status for_each_repeat(const Spill& spill, int threads, std::uint64_t memory, const Note& note,
                       const MakeUse& make_use, StageWork* work = nullptr) {
  const auto visit = [&spill](std::size_t bin, std::size_t slice, std::size_t slices,
                              const auto& each) {
    return spill.visit(bin, [&](std::string_view block) {
      for (std::size_t at = 0; at + sizeof(Record) <= block.size(); at += sizeof(Record)) {
        const auto record = load_le<Record>(block.data() + at);
        // The top byte selects the bin; the bits below it select the slice.
        if (slices == 1 || ((key_bits(record) >> 32) & 0xFFFFFF) % slices == slice) each(record);
      }
    });
  };
  const std::uint64_t share =
      std::max<std::uint64_t>(memory / static_cast<std::uint64_t>(threads), 1 << 20);
  return parallel_for(threads, Spill::kBins, [&](std::size_t bin) -> Status {
    // While it grows, a table has up to four and a half slots per entry.
    const std::uint64_t most = spill.bytes(bin) / sizeof(Record) * sizeof(Entry) * 9 / 2;
    const auto slices = static_cast<std::size_t>(most / share + 1);
    auto use = make_use();
    for (std::size_t slice = 0; slice < slices; ++slice) {
      RepeatTable<Entry> table;
      KIN_RETURN_IF_ERROR(
          visit(bin, slice, slices, [&](const Record& record) { note(table, record); }));
      KIN_RETURN_IF_ERROR(
          visit(bin, slice, slices, [&](const Record& record) { use(table, record); }));
    }
    count_work(work, 1);
    return use.finish();
  });
}

}  // namespace kin::dedup
