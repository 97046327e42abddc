#include "dedup/pairs/classes.h"

#include <mutex>
#include <numeric>

#include "base/workers.h"
#include "dedup/spill/shared_keys.h"

namespace kin::dedup {

UnionFind::UnionFind(std::size_t size) : parents_(size) {
  for (std::size_t i = 0; i < size; ++i) parents_[i] = record_id(i);
}

RecordId UnionFind::find(RecordId id) {
  while (parents_[row_number(id)] != id) {
    parents_[row_number(id)] = parents_[row_number(parents_[row_number(id)])];
    id = parents_[row_number(id)];
  }
  return id;
}

void UnionFind::join(RecordId a, RecordId b) {
  a = find(a);
  b = find(b);
  // The smaller record is the root whatever the order of joins, so the result is deterministic.
  if (a < b) parents_[row_number(b)] = a;
  if (b < a) parents_[row_number(a)] = b;
}

void UnionFind::flatten() {
  for (std::size_t i = 0; i < parents_.size(); ++i) parents_[i] = find(record_id(i));
}

namespace {

// Joins the records that share a key in `spill`.
Status join_shared(const Spill& spill, int threads, std::uint64_t memory, StageWork* work,
                   UnionFind& classes) {
  std::mutex mutex;
  return for_each_shared_key<HashRecord>(
      spill, threads, memory,
      [&](std::span<const HashRecord> same) -> Status {
        const std::lock_guard lock(mutex);
        const RecordId first = same.front().record;
        for (const HashRecord& other : same.subspan(1)) classes.join(first, other.record);
        return Done{};
      },
      work);
}

}  // namespace

Result<Classes> Classes::find(const Scan& scan, const DedupOptions& options, std::size_t records,
                              std::uint64_t memory) {
  Classes classes;
  classes.owners_shared_ = !options.exact_normalization;
  classes.exact_ = UnionFind(records);
  next_phase(scan.work, 2 * Spill::kBins);
  KIN_RETURN_IF_ERROR(join_shared(scan.exact, options.threads, memory, scan.work, classes.exact_));
  classes.exact_.flatten();
  classes.same_ = classes.exact_;
  KIN_RETURN_IF_ERROR(join_shared(scan.words, options.threads, memory, scan.work, classes.same_));
  classes.same_.flatten();

  classes.shared_.resize(records);
  if (scan.order.policy().kind != KeepPolicy::Kind::kFirst) {
    classes.best_.resize(records);
    for (std::size_t i = 0; i < records; ++i) classes.best_[i] = record_id(i);
  }
  for (std::size_t i = 0; i < records; ++i) {
    const RecordId id = record_id(i);
    const RecordId root = classes.same_.root(id);
    if (root == id) continue;
    classes.shared_[i] = true;
    classes.shared_[row_number(root)] = true;
    if (classes.best_.empty()) continue;
    RecordId& best = classes.best_[row_number(root)];
    if (scan.order.better(id, best)) best = id;
  }
  return classes;
}

Classes Classes::distinct(std::size_t records) {
  Classes classes;
  classes.exact_ = UnionFind(records);
  classes.same_ = UnionFind(records);
  classes.shared_.resize(records);
  return classes;
}

RecordId Classes::representative(RecordId id) const {
  const RecordId root = same_.root(id);
  return best_.empty() ? root : best_[row_number(root)];
}

bool Classes::has_twin(RecordId id) const {
  return shared_[row_number(id)];
}

}  // namespace kin::dedup
