#include "index/truth/writer.h"

namespace kin::index {

Status TruthWriter::forget(const DocId& id) {
  KIN_TRY(const auto row, head(id));
  const PartitionId partition = row ? row->head.partition : PartitionId{};
  KIN_RETURN_IF_ERROR(forget_edges(id, partition));
  KIN_RETURN_IF_ERROR(forget_fragments(kEntityFragmentsFamily, id, partition));
  KIN_RETURN_IF_ERROR(forget_fragments(kEdgeFragmentsFamily, id, partition));
  if (!row) return Done{};
  rows_.remove(kEntitiesFamily, entity_key(id));
  if (row->deleted) return Done{};
  KIN_RETURN_IF_ERROR(clear_entity(*row));
  --counters_.entities;
  log({.kind = ChangeKind::kEntityRemoved,
       .partition = partition,
       .version = row->head.version,
       .retired = row->head.number,
       .id = id});
  return Done{};
}

Status TruthWriter::forget_edges(const DocId& id, PartitionId partition) {
  const auto forget_one = [&](const std::string& bytes, const std::string& value) -> Status {
    KIN_TRY(const EdgeRow row, decode_edge(value));
    const auto key = decode_forward_key(bytes);
    if (!key) return Error{Code::kDataLoss, "a key of forward_edges is damaged"};
    rows_.remove(kForwardEdgesFamily, bytes);
    if (row.deleted) return Done{};
    rows_.remove(kReverseEdgesFamily, reverse_key(*key));
    if (row.summary) KIN_RETURN_IF_ERROR(release(*row.summary));
    retire(row.number);
    --counters_.edges;
    log({.kind = ChangeKind::kEdgeRemoved,
         .partition = partition,
         .version = row.version,
         .retired = row.number,
         .id = key->from,
         .name = key->name,
         .to = key->to,
         .time = key->since});
    return Done{};
  };
  return rows_.for_each(kForwardEdgesFamily, id.view(), forget_one);
}

Status TruthWriter::forget_fragments(kv::Family family, const DocId& id, PartitionId partition) {
  const ChangeKind kind = family == kEdgeFragmentsFamily ? ChangeKind::kEdgeFragmentRemoved
                                                         : ChangeKind::kEntityFragmentRemoved;
  const auto forget_one = [&](const std::string& bytes, const std::string& value) -> Status {
    KIN_TRY(const FragmentRow row, decode_fragment(value));
    const auto key = decode_fragment_key(family, bytes);
    if (!key) return Error{Code::kDataLoss, "a key of fragments is damaged"};
    rows_.remove(family, bytes);
    if (row.deleted) return Done{};
    retire(row.number);
    --counters_.fragments;
    log({.kind = kind,
         .partition = partition,
         .version = row.version,
         .retired = row.number,
         .id = key->id,
         .name = key->name,
         .to = key->to,
         .time = key->time,
         .content = key->content});
    return Done{};
  };
  return rows_.for_each(family, id.view(), forget_one);
}

}  // namespace kin::index
