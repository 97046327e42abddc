// Classes of identical records: the same text, or the same shingles.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "dedup/scan/scan.h"

namespace kin::dedup {

// A partition of the records of a run into classes, one number per record. Thread-compatible.
class UnionFind {
 public:
  UnionFind() = default;
  explicit UnionFind(std::size_t size);

  // The smallest record of the class of `id`. Shortens paths on the way.
  RecordId find(RecordId id);
  // Unites the classes of `a` and `b`.
  void join(RecordId a, RecordId b);
  // Call it after the last join() and before root().
  void flatten();
  // The same as find(), for many threads at once.
  RecordId root(RecordId id) const { return parents_[row_number(id)]; }

  std::size_t size() const { return parents_.size(); }

 private:
  std::vector<RecordId> parents_;
};

// The classes of identical records. A class stands for its members in all later stages: they have
// the same shingles, so they are equally like any other record.
class Classes {
 public:
  // Finds the classes from the keys of the scan. `records` is the number of records.
  static Result<Classes> find(const Scan& scan, const DedupOptions& options, std::size_t records,
                              std::uint64_t memory);

  // Every record in a class of its own.
  static Classes distinct(std::size_t records);

  // The member that stays if any does: the best in the scan's order.
  RecordId representative(RecordId id) const;
  // Whether two records hold the same text (the same after normalisation for exact, if one is set).
  bool same_text(RecordId a, RecordId b) const { return exact_.root(a) == exact_.root(b); }
  // A record with exactly the bytes of `id`: one of them stands for all where texts are kept.
  RecordId text_owner(RecordId id) const { return owners_shared_ ? exact_.root(id) : id; }
  // Whether `id` is in a class of two or more.
  bool has_twin(RecordId id) const;

  std::size_t size() const { return exact_.size(); }

 private:
  UnionFind exact_;  // equal text
  UnionFind same_;   // equal text or equal shingles
  std::vector<RecordId>
      best_;  // by the smallest record of its class; empty if that is always the best
  std::vector<bool> shared_;
  bool owners_shared_ = true;
};

}  // namespace kin::dedup
