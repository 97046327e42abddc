#include "index/truth/partition_documents.h"

#include <optional>
#include <vector>

#include "index/truth/entity_format.h"
#include "index/truth/entity_keys.h"

namespace kin::index {
namespace {

Error damaged_row() {
  return {Code::kDataLoss, "a row of members, edges or fragments is damaged"};
}

// Adds the numbers of the rows of `family` that belong to entities of `ids`.
template <typename Decode>
Status add_numbers(const TruthView& truth, kv::Family family, const std::vector<DocId>& ids,
                   const Decode& decode, DocSet& numbers) {
  kv::Cursor at = truth.rows(family);
  for (const DocId& id : ids) {
    for (at.seek(id.view()); at.valid() && at.key().starts_with(id.view()); at.next()) {
      KIN_TRY(const auto row, decode(at.value()));
      if (row.number != kNoNumber) numbers.add(static_cast<std::uint32_t>(row.number));
    }
  }
  return at.status();
}

// The edges and fragments of entities.
Status add_belongings(const TruthView& truth, const std::vector<DocId>& ids, DocSet& numbers) {
  KIN_RETURN_IF_ERROR(add_numbers(truth, kForwardEdgesFamily, ids, decode_edge, numbers));
  KIN_RETURN_IF_ERROR(add_numbers(truth, kEntityFragmentsFamily, ids, decode_fragment, numbers));
  return add_numbers(truth, kEdgeFragmentsFamily, ids, decode_fragment, numbers);
}

}  // namespace

Result<DocSet> documents_of(const TruthView& truth, PartitionId partition) {
  DocSet numbers;
  std::vector<DocId> ids;
  kv::Cursor at = truth.rows(kMembersFamily);
  for (at.seek(member_key(partition, DocNumber{0})); at.valid(); at.next()) {
    const auto found = decode_member_partition(at.key());
    if (found && *found != partition) break;
    const auto number = decode_member_key(at.key());
    const auto id = decode_entity_key(at.value());
    if (!found || !number || !id) return damaged_row();
    numbers.add(static_cast<std::uint32_t>(*number));
    ids.push_back(*id);
  }
  KIN_RETURN_IF_ERROR(at.status());
  KIN_RETURN_IF_ERROR(add_belongings(truth, ids, numbers));
  return numbers;
}

// A shard usually owns nearly everything it holds, so the partitions that it does not own are read,
// and the owned ones skipped.
Result<DocSet> documents_outside(const TruthView& truth, const std::set<PartitionId>& owned) {
  DocSet numbers;
  std::vector<DocId> ids;
  kv::Cursor at = truth.rows(kMembersFamily);
  while (at.valid()) {
    const auto partition = decode_member_partition(at.key());
    const auto number = decode_member_key(at.key());
    const auto id = decode_entity_key(at.value());
    if (!partition || !number || !id) return damaged_row();
    if (owned.contains(*partition)) {
      at.seek(member_key(*partition, kNoNumber));  // behind all of its members
      continue;
    }
    numbers.add(static_cast<std::uint32_t>(*number));
    ids.push_back(*id);
    at.next();
  }
  KIN_RETURN_IF_ERROR(at.status());
  KIN_RETURN_IF_ERROR(add_belongings(truth, ids, numbers));
  return numbers;
}

Status PartitionDocuments::follow(const TruthView& truth, const Change& change) {
  if (change.kind == ChangeKind::kOwnerAssigned) return Done{};
  if (change.retired != kNoNumber) numbers_.remove(static_cast<std::uint32_t>(change.retired));
  const bool enters = change.partition == partition_;
  if (change.kind != ChangeKind::kEntityAssigned) {
    if (enters && change.number != kNoNumber)
      numbers_.add(static_cast<std::uint32_t>(change.number));
    return Done{};
  }
  const bool leaves = change.former == partition_;
  if (enters == leaves) return Done{};
  // The entity takes its edges and fragments along.
  DocSet moved;
  if (change.number != kNoNumber) moved.add(static_cast<std::uint32_t>(change.number));
  KIN_RETURN_IF_ERROR(add_belongings(truth, {change.id}, moved));
  if (enters) {
    numbers_.add(moved);
  } else {
    numbers_.remove(moved);
    has_lost_ = true;
  }
  return Done{};
}

}  // namespace kin::index
