#include "dedup/chunk_stage.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "base/workers.h"
#include "dedup/shared_keys.h"

namespace kin::dedup {
namespace {

struct Owned {
  RecordId record;
  RecordId owner;
};

// Calls visit(chunk's holders, best first) for every chunk of the records that count.
class ChunkHolders {
 public:
  ChunkHolders(const Scan& scan, const Classes& classes, const RecordSet& kept, int threads,
               std::uint64_t memory)
      : scan_(scan), classes_(classes), kept_(kept), threads_(threads), memory_(memory) {}

  Status for_each(const std::function<void(std::span<const RecordId>)>& visit) const {
    return parallel_for(threads_, Spill::kPartitions, [&](std::size_t partition) -> Status {
      const std::size_t slices = slices_of(scan_.chunks.bytes(partition), threads_, memory_);
      for (std::size_t slice = 0; slice < slices; ++slice) {
        KIN_TRY(std::vector<HashRecord> records,
                read_slice<HashRecord>(scan_.chunks, partition, slice, slices));
        visit_slice(records, visit);
      }
      return Done{};
    });
  }

 private:
  void visit_slice(std::vector<HashRecord>& records,
                   const std::function<void(std::span<const RecordId>)>& visit) const {
    for (HashRecord& record : records) record.record = classes_.representative(record.record);
    std::erase_if(records,
                  [&](const HashRecord& record) { return !kept_.contains(record.record); });
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
      visit(holders);
      holders.clear();
    }
  }

  const Scan& scan_;
  const Classes& classes_;
  const RecordSet& kept_;
  int threads_;
  std::uint64_t memory_;
};

void increment(std::vector<std::uint32_t>& counts, RecordId id) {
  std::atomic_ref(counts[index(id)]).fetch_add(1, std::memory_order_relaxed);
}

// One removal a record: the owner of most of its chunks, the smallest of equals.
std::vector<Removal> choose_owners(std::vector<Owned>& owned) {
  std::sort(owned.begin(), owned.end(), [](const Owned& a, const Owned& b) {
    return std::tie(a.record, a.owner) < std::tie(b.record, b.owner);
  });
  std::vector<Removal> removals;
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
  return removals;
}

}  // namespace

Result<ChunkOutcome> find_chunk_duplicates(const Scan& scan, const Classes& classes,
                                           const RecordSet& kept, const RecordSet& anchors,
                                           const DedupOptions& options, std::uint64_t memory) {
  const ChunkHolders chunks(scan, classes, kept, options.threads, memory);
  std::vector<std::uint32_t> total(classes.size());
  std::vector<std::uint32_t> elsewhere(classes.size());  // chunks that belong to another record
  std::vector<std::uint32_t> lent(classes.size());       // own chunks that others hold too
  KIN_RETURN_IF_ERROR(chunks.for_each([&](std::span<const RecordId> holders) {
    for (const RecordId holder : holders) increment(total, holder);
    for (const RecordId holder : holders.subspan(1)) increment(elsewhere, holder);
    if (holders.size() > 1) increment(lent, holders.front());
  }));

  ChunkOutcome outcome;
  RecordSet gone(classes.size());
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (total[i] == 0) continue;
    const RecordId id = record_id(i);
    if (elsewhere[i] == total[i] && !anchors.contains(id)) {
      gone.insert(id);
    } else {
      outcome.linked += elsewhere[i] + lent[i] > 0 ? 1 : 0;
    }
  }
  std::mutex mutex;
  std::vector<Owned> owned;
  KIN_RETURN_IF_ERROR(chunks.for_each([&](std::span<const RecordId> holders) {
    for (const RecordId holder : holders.subspan(1)) {
      if (!gone.contains(holder)) continue;
      const std::lock_guard lock(mutex);
      owned.push_back({holder, holders.front()});
    }
  }));
  outcome.removals = choose_owners(owned);
  return outcome;
}

}  // namespace kin::dedup
