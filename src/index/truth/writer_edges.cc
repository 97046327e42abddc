#include <map>

#include "index/truth/writer.h"

namespace kin::index {

Result<Outcome> TruthWriter::write_edge(EdgeWrite write) {
  // A tombstone has only a version, so there is nothing to release.
  const bool was_there = write.before && !write.before->deleted;
  const std::string key = forward_key(write.key);
  const DocNumber retired = was_there ? write.before->number : kNoNumber;
  // Before release() below, so that a summary that stays keeps its row.
  if (!write.summary.empty()) {
    KIN_TRY(write.after.summary, refer(write.summary));
    KIN_TRY(write.after.number, new_document(DocKind::kEdge, key));
  }
  if (was_there && write.before->summary) KIN_RETURN_IF_ERROR(release(*write.before->summary));
  retire(retired);
  rows_.put(kForwardEdgesFamily, key, encode(write.after));
  rows_.put(kReverseEdgesFamily, reverse_key(write.key),
            encode(ReverseRow{.weight = write.after.weight, .until = write.after.until}));
  counters_.edges += was_there ? 0 : 1;
  // Filtered readers of the log see the change by the partition of the entity where the edge
  // begins.
  KIN_TRY(const PartitionId partition, partition_of(write.key.from));
  log({.kind = ChangeKind::kEdgePut,
       .partition = partition,
       .version = write.after.version,
       .number = write.after.number,
       .retired = retired,
       .id = write.key.from,
       .name = write.key.name,
       .to = write.key.to,
       .time = write.key.since});
  return Outcome{.number = write.after.number, .version = write.after.version};
}

Result<Outcome> TruthWriter::put_edge(const Edge& given, PartitionId partition) {
  const EdgeKey key = edge_key(given.id, intern(given.id.name));
  KIN_TRY(const auto before, edge(key));
  const EdgeRow after{.weight = given.weight,
                      .until = given.until,
                      .version = next_version(partition, before ? before->version : Version{})};
  return write_edge({.key = key, .before = before, .after = after, .summary = given.summary});
}

Result<Outcome> TruthWriter::run(const PutEdge& put) {
  KIN_TRY(const PartitionId partition, partition_of(put.edge.id.from));
  if (const auto refused = refuse(partition)) return *refused;
  return put_edge(put.edge, partition);
}

// Whether the stored edge is there, and equal to `given`.
bool TruthWriter::is_same(const EdgeRow& row, const Edge& given) {
  // Summaries are compared by hash, since their texts are stored elsewhere.
  const bool says =
      row.summary ? *row.summary == summary_hash(given.summary) : given.summary.empty();
  return !row.deleted && row.weight == given.weight && row.until == given.until && says;
}

Result<Outcome> TruthWriter::run(const SetEdges& set) {
  KIN_TRY(const PartitionId partition, partition_of(set.from));
  if (const auto refused = refuse(partition)) return *refused;
  const NameId name = intern(set.name);
  std::map<std::string, const Edge*> wanted;  // by key, in the order in which they are written
  for (const Edge& given : set.edges) wanted[forward_key(edge_key(given.id, name))] = &given;
  Outcome outcome{.effect = Effect::kStale};
  const auto look = [&](const std::string& key, const std::string& value) -> Status {
    KIN_TRY(const EdgeRow row, decode_edge(value));
    const auto found = wanted.find(key);
    // A wanted edge that is there and equal keeps its version; a changed one is put below.
    if (found != wanted.end()) {
      if (is_same(row, *found->second)) wanted.erase(found);
      return Done{};
    }
    if (row.deleted) return Done{};
    const auto edge_key = decode_forward_key(key);
    if (!edge_key) return Error{Code::kDataLoss, "a key of forward_edges is damaged"};
    const Version version = next_version(partition, row.version);
    KIN_TRY(outcome, remove_period({.key = *edge_key, .before = row, .version = version}));
    return Done{};
  };
  KIN_RETURN_IF_ERROR(rows_.for_each(kForwardEdgesFamily, edges_prefix(set.from, name), look));
  for (const auto& [key, given] : wanted) {
    KIN_TRY(const Outcome put, put_edge(*given, partition));
    outcome = {.version = put.version};
  }
  return outcome;
}

Result<Outcome> TruthWriter::run(const CloseEdge& close) {
  KIN_TRY(const PartitionId partition, partition_of(close.from));
  if (const auto refused = refuse(partition)) return *refused;
  const auto name = known(close.name);
  if (!name) return Outcome{.effect = Effect::kAbsent};
  std::optional<EdgeKey> key;
  std::optional<EdgeRow> before;
  const auto look = [&](const std::string& bytes, const std::string& value) -> Status {
    KIN_TRY(const EdgeRow row, decode_edge(value));
    const auto at = decode_forward_key(bytes);
    const bool holds = at && !row.deleted && at->since <= close.at && close.at < row.until;
    if (holds) key = at, before = row;  // periods come by beginning, so the latest stays
    return Done{};
  };
  KIN_RETURN_IF_ERROR(
      rows_.for_each(kForwardEdgesFamily, periods_prefix(close.from, *name, close.to), look));
  if (!key) return Outcome{.effect = Effect::kAbsent};
  const Version version = next_version(partition, before->version);
  // A period that ends where it begins never held.
  if (key->since == close.at)
    return remove_period({.key = *key, .before = *before, .version = version});
  // The edge is written again with its end. Its summary goes with it and gets a new number, because
  // a number means one state of a document.
  std::string summary;
  if (before->summary) {
    KIN_TRY(const auto row, rows_.get(kSummariesFamily, summary_text_key(*before->summary)));
    if (!row) return Error{Code::kDataLoss, "a summary is missing"};
    KIN_TRY(summary, decode_summary_text(*row));
  }
  const EdgeRow after{.weight = before->weight, .until = close.at, .version = version};
  return write_edge({.key = *key, .before = before, .after = after, .summary = summary});
}

Result<Outcome> TruthWriter::run(const RemoveEdge& remove) {
  const EdgeId& id = remove.edge;
  KIN_TRY(const PartitionId partition, partition_of(id.from));
  if (const auto refused = refuse(partition)) return *refused;
  const auto name = known(id.name);
  if (!name) return Outcome{.effect = Effect::kAbsent};
  const EdgeKey key = edge_key(id, *name);
  KIN_TRY(const auto before, edge(key));
  if (!before || before->deleted) return Outcome{.effect = Effect::kAbsent};
  const Version version = next_version(partition, before->version);
  return remove_period({.key = key, .before = *before, .version = version});
}

Result<Outcome> TruthWriter::run(const EdgeRecord& record) {
  const EdgeKey key = edge_key(record.edge.id, intern(record.edge.id.name));
  KIN_TRY(const auto before, edge(key));
  if (before && record.version <= before->version) return Outcome{.effect = Effect::kStale};
  if (record.deleted) {
    // An edge that was never seen leaves a tombstone too: an older record may still arrive.
    const EdgeRow row = before.value_or(EdgeRow{.deleted = true});
    KIN_RETURN_IF_ERROR(bury_edge({.key = key, .before = row, .version = record.version}));
    return Outcome{.version = record.version};
  }
  const EdgeRow after{
      .weight = record.edge.weight, .until = record.edge.until, .version = record.version};
  return write_edge({.key = key, .before = before, .after = after, .summary = record.edge.summary});
}

Result<Outcome> TruthWriter::remove_period(const EdgeRemoval& removal) {
  const EdgeKey& key = removal.key;
  // Fragments belong to all periods of an edge and go with the last one.
  KIN_RETURN_IF_ERROR(bury_edge(removal));
  KIN_TRY(const bool holds_on, has_period(key.from, key.name, key.to));
  if (!holds_on) {
    KIN_TRY(const PartitionId partition, partition_of(key.from));
    const std::string prefix = periods_prefix(key.from, key.name, key.to);
    KIN_RETURN_IF_ERROR(remove_fragments(kEdgeFragmentsFamily, prefix, partition));
  }
  return Outcome{.version = removal.version};
}

Status TruthWriter::bury_edge(const EdgeRemoval& removal) {
  const EdgeKey& key = removal.key;
  rows_.put(kForwardEdgesFamily, forward_key(key),
            encode(EdgeRow{.deleted = true, .version = removal.version}));
  rows_.remove(kReverseEdgesFamily, reverse_key(key));  // walks backwards need no tombstones
  if (!removal.before.deleted) {
    if (removal.before.summary) KIN_RETURN_IF_ERROR(release(*removal.before.summary));
    retire(removal.before.number);
    --counters_.edges;
  }
  KIN_TRY(const PartitionId partition, partition_of(key.from));
  log({.kind = ChangeKind::kEdgeRemoved,
       .partition = partition,
       .version = removal.version,
       .retired = removal.before.number,
       .id = key.from,
       .name = key.name,
       .to = key.to,
       .time = key.since});
  return Done{};
}

Status TruthWriter::remove_edges_of(const DocId& id, PartitionId partition) {
  const auto bury = [&](const std::string& bytes, const std::string& value) -> Status {
    KIN_TRY(const EdgeRow row, decode_edge(value));
    const auto key = decode_forward_key(bytes);
    if (!key) return Error{Code::kDataLoss, "a key of forward_edges is damaged"};
    if (row.deleted) return Done{};  // its tombstone keeps its version
    const Version version = next_version(partition, row.version);
    return bury_edge({.key = *key, .before = row, .version = version});
  };
  // All keys of edges that leave the entity begin with its id, and so do those of their fragments.
  KIN_RETURN_IF_ERROR(rows_.for_each(kForwardEdgesFamily, id.view(), bury));
  return remove_fragments(kEdgeFragmentsFamily, id.view(), partition);
}

Result<bool> TruthWriter::has_period(const DocId& from, NameId name, const DocId& to) const {
  bool found = false;
  const auto look = [&](const std::string&, const std::string& value) -> Status {
    KIN_TRY(const EdgeRow row, decode_edge(value));
    found = found || !row.deleted;
    return Done{};
  };
  KIN_RETURN_IF_ERROR(rows_.for_each(kForwardEdgesFamily, periods_prefix(from, name, to), look));
  return found;
}

Result<Outcome> TruthWriter::run(const AddFragment& add) {
  KIN_TRY(const auto row, head(add.id));
  if (!row || row->deleted) return Outcome{.effect = Effect::kAbsent};
  if (const auto refused = refuse(row->head.partition)) return *refused;
  const FragmentKey key{
      .id = add.id, .time = add.fragment.time, .content = hash64(add.fragment.text)};
  return add_fragment(
      {.family = kEntityFragmentsFamily, .key = key, .after = {.text = add.fragment.text}},
      row->head.partition);
}

Result<Outcome> TruthWriter::run(const AddEdgeFragment& add) {
  KIN_TRY(const PartitionId partition, partition_of(add.from));
  if (const auto refused = refuse(partition)) return *refused;
  const auto name = known(add.name);
  if (!name) return Outcome{.effect = Effect::kAbsent};
  KIN_TRY(const bool holds, has_period(add.from, *name, add.to));
  if (!holds) return Outcome{.effect = Effect::kAbsent};
  const FragmentKey key{.id = add.from,
                        .name = *name,
                        .to = add.to,
                        .time = add.fragment.time,
                        .content = hash64(add.fragment.text)};
  return add_fragment(
      {.family = kEdgeFragmentsFamily, .key = key, .after = {.text = add.fragment.text}},
      partition);
}

Result<Outcome> TruthWriter::run(const FragmentRecord& record) {
  const bool of_edge = !record.name.empty();
  const kv::Family family = of_edge ? kEdgeFragmentsFamily : kEntityFragmentsFamily;
  FragmentKey key{.id = record.id, .time = record.fragment.time, .content = record.content};
  if (of_edge) {
    key.name = intern(record.name);
    key.to = record.to;
  }
  KIN_TRY(const auto before, fragment(family, key));
  if (before && record.version <= before->version) return Outcome{.effect = Effect::kStale};
  FragmentRow after{
      .deleted = record.deleted, .version = record.version, .text = record.fragment.text};
  return write_fragment({.family = family, .key = key, .after = std::move(after)}, before);
}

Result<std::optional<FragmentRow>> TruthWriter::fragment(kv::Family family,
                                                         const FragmentKey& key) const {
  KIN_TRY(const auto row, rows_.get(family, fragment_key(family, key)));
  if (!row) return std::optional<FragmentRow>();
  KIN_TRY(FragmentRow decoded, decode_fragment(*row));
  return std::optional(std::move(decoded));
}

Result<Outcome> TruthWriter::add_fragment(FragmentWrite write, PartitionId partition) {
  KIN_TRY(const auto before, fragment(write.family, write.key));
  // The same text at the same moment is the same fragment; one that was removed may come again.
  if (before && !before->deleted) return Outcome{.effect = Effect::kStale};
  write.after.version = next_version(partition, before ? before->version : Version{});
  return write_fragment(std::move(write), before);
}

// Writes a fragment or its tombstone.
Result<Outcome> TruthWriter::write_fragment(FragmentWrite write,
                                            const std::optional<FragmentRow>& before) {
  const bool of_edge = write.family == kEdgeFragmentsFamily;
  const FragmentKey& key = write.key;
  FragmentRow& after = write.after;
  std::string row_key = fragment_key(write.family, key);
  const DocNumber retired = before ? before->number : kNoNumber;  // a tombstone has none
  if (before && !before->deleted) --counters_.fragments;
  retire(retired);
  if (!after.deleted) {
    const DocKind kind = of_edge ? DocKind::kEdgeFragment : DocKind::kEntityFragment;
    KIN_TRY(after.number, new_document(kind, row_key));
    ++counters_.fragments;
  }
  rows_.put(write.family, std::move(row_key), encode(after));
  KIN_TRY(const PartitionId partition, partition_of(key.id));
  const ChangeKind added =
      of_edge ? ChangeKind::kEdgeFragmentAdded : ChangeKind::kEntityFragmentAdded;
  const ChangeKind removed =
      of_edge ? ChangeKind::kEdgeFragmentRemoved : ChangeKind::kEntityFragmentRemoved;
  log({.kind = after.deleted ? removed : added,
       .partition = partition,
       .version = after.version,
       .number = after.number,
       .retired = retired,
       .id = key.id,
       .name = key.name,
       .to = key.to,
       .time = key.time,
       .content = key.content});
  return Outcome{.number = after.number, .version = after.version};
}

Status TruthWriter::remove_fragments(kv::Family family, std::string_view prefix,
                                     PartitionId partition) {
  const auto remove = [&](const std::string& bytes, const std::string& value) -> Status {
    KIN_TRY(const FragmentRow row, decode_fragment(value));
    const auto key = decode_fragment_key(family, bytes);
    if (!key) return Error{Code::kDataLoss, "a key of fragments is damaged"};
    if (row.deleted) return Done{};
    const FragmentRow mark{.deleted = true, .version = next_version(partition, row.version)};
    KIN_TRY([[maybe_unused]] const Outcome removed,
            write_fragment({.family = family, .key = *key, .after = mark}, row));
    return Done{};
  };
  return rows_.for_each(family, prefix, remove);
}

}  // namespace kin::index
