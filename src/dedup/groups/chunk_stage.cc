#include "dedup/groups/chunk_stage.h"

#include <algorithm>
#include <atomic>

#include "base/bytes.h"
#include "base/record_set.h"
#include "base/workers.h"
#include "dedup/spill/shared_keys.h"

namespace kin::dedup {
namespace {

// A record to remove, and a record that has one of its chunks.
struct Owned {
  RecordId record;
  RecordId owner;
};
static_assert(sizeof(Owned) == 8);

// Calls visit(chunk's holders, best first) for every chunk of the records that count.
class ChunkHolders {
 public:
  using Visit = std::function<Status(std::span<const RecordId>)>;

  ChunkHolders(const ChunkInput& input, int threads, std::uint64_t memory)
      : scan_(input.scan),
        classes_(input.classes),
        kept_(input.classes.size(), true),
        threads_(threads),
        memory_(memory) {
    for (const Removal& removal : input.removals) kept_.erase(removal.record);
  }

  Status for_each(const Visit& visit) const {
    return parallel_for(threads_, Spill::kBins, [&](std::size_t bin) -> Status {
      const std::size_t slices = slices_of(scan_.chunks.bytes(bin), threads_, memory_);
      for (std::size_t slice = 0; slice < slices; ++slice) {
        KIN_TRY(std::vector<HashRecord> records,
                read_slice<HashRecord>(scan_.chunks, bin, slice, slices));
        KIN_RETURN_IF_ERROR(visit_slice(records, visit));
      }
      count_work(scan_.work, 1);
      return Done{};
    });
  }

 private:
  Status visit_slice(std::vector<HashRecord>& records, const Visit& visit) const {
    // Only copies have the chunks of their representative; other members of its class were removed.
    std::erase_if(records, [&](HashRecord& record) {
      const RecordId representative = classes_.representative(record.record);
      if (!classes_.same_text(record.record, representative)) return true;
      record.record = representative;
      return !kept_.contains(representative);
    });
    std::sort(records.begin(), records.end(), [&](const HashRecord& a, const HashRecord& b) {
      const Hash128 key_a = a.key;
      const Hash128 key_b = b.key;
      if (key_a != key_b) return key_a < key_b;
      return a.record != b.record && scan_.order.better(a.record, b.record);
    });
    std::vector<RecordId> holders;
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (holders.empty() || holders.back() != records[i].record)
        holders.push_back(records[i].record);
      const Hash128 key = records[i].key;
      if (i + 1 < records.size() && Hash128(records[i + 1].key) == key) continue;
      KIN_RETURN_IF_ERROR(visit(holders));
      holders.clear();
    }
    return Done{};
  }

  const Scan& scan_;
  const Classes& classes_;
  RecordSet kept_;
  int threads_;
  std::uint64_t memory_;
};

// Records for which others were removed.
RecordSet anchors_of(const ChunkInput& input) {
  RecordSet anchors(input.classes.size());
  for (const Removal& removal : input.removals) anchors.insert(removal.kept);
  for (std::size_t row = 0; row < input.classes.size(); ++row) {
    const RecordId id = record_id(row);
    const RecordId representative = input.classes.representative(id);
    if (!input.classes.same_text(id, representative)) anchors.insert(representative);
  }
  return anchors;
}

void increment(std::vector<std::uint32_t>& counts, RecordId id) {
  std::atomic_ref(counts[row_number(id)]).fetch_add(1, std::memory_order_relaxed);
}

// Adds one removal per record: the owner of most of its chunks, the smallest of equals.
void choose_owners(std::vector<Owned>& owned, std::vector<Removal>& removals) {
  std::sort(owned.begin(), owned.end(), [](const Owned& a, const Owned& b) {
    return std::tie(a.record, a.owner) < std::tie(b.record, b.owner);
  });
  for (std::size_t begin = 0; begin < owned.size();) {
    const RecordId record = owned[begin].record;
    std::size_t best_count = 0;
    RecordId best{};
    std::size_t end = begin;
    while (end < owned.size() && owned[end].record == record) {
      std::size_t next = end;
      while (next < owned.size() && owned[next].record == record &&
             owned[next].owner == owned[end].owner)
        ++next;
      if (next - end > best_count) {
        best_count = next - end;
        best = owned[end].owner;
      }
      end = next;
    }
    const float share = static_cast<float>(best_count) / static_cast<float>(end - begin);
    removals.push_back({record, best, share, Method::kChunk});
    begin = end;
  }
}

// The chunks of removed records, collected by record. Adding is thread-safe.
class OwnedChunks {
 public:
  OwnedChunks(const ChunkInput& input, std::uint64_t memory)
      : records_(input.classes.size()),
        spill_({.file = input.folder / "owned.spill",
                .record_bytes = sizeof(Owned),
                .memory_bytes = memory}) {}

  Status add(std::span<const Owned> owned) {
    for (const Owned& one : owned) {
      KIN_RETURN_IF_ERROR(spill_.append(row_number(one.record) * Spill::kBins / records_,
                                        as_bytes_view(std::span(&one, 1))));
    }
    return Done{};
  }

  // Sorted by record.
  Result<std::vector<Removal>> removals(std::uint64_t memory) const {
    std::vector<Removal> removals;
    for (std::size_t bin = 0; bin < Spill::kBins; ++bin) {
      const std::size_t slices = slices_of(spill_.bytes(bin), 1, memory);
      for (std::size_t slice = 0; slice < slices; ++slice) {
        KIN_TRY(std::vector<Owned> owned, read_slice(bin, slice, slices));
        choose_owners(owned, removals);
      }
    }
    std::sort(removals.begin(), removals.end(),
              [](const Removal& a, const Removal& b) { return a.record < b.record; });
    return removals;
  }

 private:
  // All chunks of some records of the bin.
  Result<std::vector<Owned>> read_slice(std::size_t bin, std::size_t slice,
                                        std::size_t slices) const {
    std::vector<Owned> owned;
    KIN_RETURN_IF_ERROR(spill_.visit(bin, [&](std::string_view block) {
      for (std::size_t at = 0; at < block.size(); at += sizeof(Owned)) {
        const auto one = load_le<Owned>(block.data() + at);
        if (row_number(one.record) % slices == slice) owned.push_back(one);
      }
    }));
    return owned;
  }

  std::size_t records_;
  Spill spill_;
};

}  // namespace

Result<ChunkOutcome> find_chunk_duplicates(const ChunkInput& input, const DedupOptions& options,
                                           std::uint64_t memory) {
  const std::size_t records = input.classes.size();
  const ChunkHolders chunks(input, options.threads, memory / 2);
  next_phase(input.scan.work, 2 * Spill::kBins);
  std::vector<std::uint32_t> total(records);
  std::vector<std::uint32_t> elsewhere(records);  // chunks that belong to another record
  std::vector<std::uint32_t> lent(records);       // own chunks that others hold too
  KIN_RETURN_IF_ERROR(chunks.for_each([&](std::span<const RecordId> holders) -> Status {
    for (const RecordId holder : holders) increment(total, holder);
    for (const RecordId holder : holders.subspan(1)) increment(elsewhere, holder);
    if (holders.size() > 1) increment(lent, holders.front());
    return Done{};
  }));

  ChunkOutcome outcome;
  const RecordSet anchors = anchors_of(input);
  RecordSet gone(records);
  for (std::size_t i = 0; i < records; ++i) {
    const RecordId id = record_id(i);
    if (total[i] == 0 || input.scan.order.is_reference(id)) continue;
    if (elsewhere[i] == total[i] && !anchors.contains(id)) {
      gone.insert(id);
    } else {
      outcome.linked += elsewhere[i] + lent[i] > 0 ? 1 : 0;
    }
  }
  OwnedChunks owned(input, memory / 4);
  KIN_RETURN_IF_ERROR(chunks.for_each([&](std::span<const RecordId> holders) -> Status {
    std::vector<Owned> of_chunk;
    for (const RecordId holder : holders.subspan(1)) {
      if (gone.contains(holder)) of_chunk.push_back({holder, holders.front()});
    }
    return owned.add(of_chunk);
  }));
  KIN_TRY(outcome.removals, owned.removals(memory / 4));
  return outcome;
}

}  // namespace kin::dedup
