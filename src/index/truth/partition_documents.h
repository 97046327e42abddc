// The documents of partitions, by number: entities, and the edges and fragments that begin at them.
#pragma once

#include <set>
#include <utility>

#include "base/result.h"
#include "index/truth/change.h"
#include "index/truth/doc_set.h"
#include "index/truth/view.h"

namespace kin::index {

// Both look at every entity of the partitions that they give, and at its edges and fragments.
// Thread-safe.
Result<DocSet> documents_of(const TruthView& truth, PartitionId partition);
// Of all partitions that are not `owned`.
Result<DocSet> documents_outside(const TruthView& truth, const std::set<PartitionId>& owned);

// Keeps the documents of one partition while changes are followed, in the order of the log.
// Thread-compatible.
class PartitionDocuments {
 public:
  PartitionDocuments(PartitionId partition, DocSet numbers)
      : partition_(partition), numbers_(std::move(numbers)) {}

  // `truth` has the change, and perhaps later ones that follow. Changes may be followed twice.
  Status follow(const TruthView& truth, const Change& change);

  const DocSet& numbers() const { return numbers_; }
  // Documents have left the partition for another one, and keep their numbers.
  bool has_lost() const { return has_lost_; }

 private:
  PartitionId partition_;
  DocSet numbers_;
  bool has_lost_ = false;
};

}  // namespace kin::index
