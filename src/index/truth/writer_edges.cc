#include <map>

#include "index/truth/writer.h"

namespace kin::index {

Result<Outcome> TruthWriter::write_edge(EdgeWrite write) {
  const bool was_there = write.before && !write.before->deleted;
  const std::string key = forward_key(write.place);
  const DocNumber retired = was_there ? write.before->number : kNoNumber;
  if (!write.summary.empty()) {
    KIN_TRY(write.after.summary, refer(write.summary));
    KIN_TRY(write.after.number, new_document(DocKind::kEdge, key));
  }
  if (was_there && write.before->summary) KIN_RETURN_IF_ERROR(release(*write.before->summary));
  retire(retired);
  rows_.put(kForwardEdgesFamily, key, encode(write.after));
  rows_.put(kReverseEdgesFamily, reverse_key(write.place),
            encode(ReverseRow{.weight = write.after.weight, .until = write.after.until}));
  counters_.edges += was_there ? 0 : 1;
  KIN_TRY(const PartitionId partition, partition_of(write.place.from));
  log({.kind = ChangeKind::kEdgePut,
       .partition = partition,
       .version = write.after.version,
       .number = write.after.number,
       .retired = retired,
       .id = write.place.from,
       .name = write.place.name,
       .to = write.place.to,
       .time = write.place.since});
  return Outcome{.number = write.after.number, .version = write.after.version};
}

Result<Outcome> TruthWriter::put_edge(const Edge& given, const Version& version) {
  const EdgePlace place{.from = given.id.from,
                        .name = intern(given.id.name),
                        .to = given.id.to,
                        .since = given.id.since};
  KIN_TRY(const auto before, edge(place));
  if (before && version <= before->version) return Outcome{.effect = Effect::kStale};
  const EdgeRow after{.weight = given.weight, .until = given.until, .version = version};
  return write_edge({.place = place, .before = before, .after = after, .summary = given.summary});
}

Result<Outcome> TruthWriter::run(const PutEdge& put) {
  return put_edge(put.edge, version_or_next(put.version));
}

bool TruthWriter::is_same(const EdgeRow& row, const Edge& given) {
  const bool says =
      row.summary ? *row.summary == summary_hash(given.summary) : given.summary.empty();
  return !row.deleted && row.weight == given.weight && row.until == given.until && says;
}

Result<Outcome> TruthWriter::run(const SetEdges& set) {
  const Version version = version_or_next(set.version);
  const NameId name = intern(set.name);
  std::map<std::string, const Edge*> wanted;
  for (const Edge& given : set.edges) {
    wanted[forward_key(
        {.from = set.from, .name = name, .to = given.id.to, .since = given.id.since})] = &given;
  }
  Outcome outcome{.effect = Effect::kStale, .version = version};
  const auto look = [&](const std::string& key, const std::string& value) -> Status {
    KIN_TRY(const EdgeRow row, decode_edge(value));
    const auto found = wanted.find(key);
    if (found != wanted.end()) {
      if (is_same(row, *found->second)) wanted.erase(found);
      return Done{};
    }
    if (row.deleted || version <= row.version) return Done{};
    outcome.effect = Effect::kDone;
    const auto place = decode_forward_key(key);
    if (!place) return Error{Code::kDataLoss, "a key of forward_edges is damaged"};
    KIN_TRY([[maybe_unused]] const Outcome removed,
            remove_period({.place = *place, .before = row, .version = version}));
    return Done{};
  };
  KIN_RETURN_IF_ERROR(rows_.for_each(kForwardEdgesFamily, edges_prefix(set.from, name), look));
  for (const auto& [key, given] : wanted) {
    KIN_TRY(const Outcome put, put_edge(*given, version));
    if (put.effect == Effect::kDone) outcome.effect = Effect::kDone;
  }
  return outcome;
}

Result<Outcome> TruthWriter::run(const CloseEdge& close) {
  const auto name = known(close.name);
  if (!name) return Outcome{.effect = Effect::kAbsent};
  std::optional<EdgePlace> place;
  std::optional<EdgeRow> before;
  const auto look = [&](const std::string& key, const std::string& value) -> Status {
    KIN_TRY(const EdgeRow row, decode_edge(value));
    const auto at = decode_forward_key(key);
    const bool holds = at && !row.deleted && at->since <= close.at && close.at < row.until;
    if (holds) place = at, before = row;
    return Done{};
  };
  KIN_RETURN_IF_ERROR(
      rows_.for_each(kForwardEdgesFamily, periods_prefix(close.from, *name, close.to), look));
  if (!place) return Outcome{.effect = Effect::kAbsent};
  const Version version = version_or_next(close.version);
  if (version <= before->version) return Outcome{.effect = Effect::kStale};
  // A period that ends where it begins never held.
  if (place->since == close.at) {
    return remove_period({.place = *place, .before = *before, .version = version});
  }
  std::string summary;
  if (before->summary) {
    KIN_TRY(const auto row, rows_.get(kSummariesFamily, summary_text_key(*before->summary)));
    if (!row) return Error{Code::kDataLoss, "a summary is missing"};
    KIN_TRY(summary, decode_summary_text(*row));
  }
  const EdgeRow after{.weight = before->weight, .until = close.at, .version = version};
  return write_edge({.place = *place, .before = before, .after = after, .summary = summary});
}

Result<Outcome> TruthWriter::run(const RemoveEdge& remove) {
  const EdgeId& id = remove.edge;
  const auto name = known(id.name);
  if (!name && !remove.version) return Outcome{.effect = Effect::kAbsent};
  const EdgePlace place{.from = id.from, .name = intern(id.name), .to = id.to, .since = id.since};
  KIN_TRY(const auto before, edge(place));
  const bool was_there = before && !before->deleted;
  if (!was_there && !remove.version) return Outcome{.effect = Effect::kAbsent};
  const Version version = version_or_next(remove.version);
  if (before && version <= before->version) return Outcome{.effect = Effect::kStale};
  const EdgeRow row = before.value_or(EdgeRow{.deleted = true});
  return remove_period({.place = place, .before = row, .version = version});
}

Result<Outcome> TruthWriter::remove_period(const EdgeRemoval& removal) {
  const EdgePlace& place = removal.place;
  KIN_RETURN_IF_ERROR(bury_edge(removal));
  KIN_TRY(const bool holds_on, has_period(place.from, place.name, place.to));
  if (!holds_on) {
    const std::string prefix = periods_prefix(place.from, place.name, place.to);
    KIN_RETURN_IF_ERROR(remove_fragments(Of::kEdge, prefix, removal.version));
  }
  return Outcome{.version = removal.version};
}

Status TruthWriter::bury_edge(const EdgeRemoval& removal) {
  const EdgePlace& place = removal.place;
  rows_.put(kForwardEdgesFamily, forward_key(place),
            encode(EdgeRow{.deleted = true, .version = removal.version}));
  rows_.remove(kReverseEdgesFamily, reverse_key(place));
  if (!removal.before.deleted) {
    if (removal.before.summary) KIN_RETURN_IF_ERROR(release(*removal.before.summary));
    retire(removal.before.number);
    --counters_.edges;
  }
  KIN_TRY(const PartitionId partition, partition_of(place.from));
  log({.kind = ChangeKind::kEdgeRemoved,
       .partition = partition,
       .version = removal.version,
       .retired = removal.before.number,
       .id = place.from,
       .name = place.name,
       .to = place.to,
       .time = place.since});
  return Done{};
}

Status TruthWriter::remove_edges_of(const DocId& id, const Version& version) {
  const auto bury = [&](const std::string& key, const std::string& value) -> Status {
    KIN_TRY(const EdgeRow row, decode_edge(value));
    const auto place = decode_forward_key(key);
    if (!place) return Error{Code::kDataLoss, "a key of forward_edges is damaged"};
    if (row.deleted || row.version >= version) return Done{};
    return bury_edge({.place = *place, .before = row, .version = version});
  };
  KIN_RETURN_IF_ERROR(rows_.for_each(kForwardEdgesFamily, id.view(), bury));
  return remove_fragments(Of::kEdge, id.view(), version);
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
  const Version version = version_or_next(add.version);
  // Said of an entity of this id that was deleted since.
  if (version < row->born) return Outcome{.effect = Effect::kStale};
  const FragmentPlace place{
      .id = add.id, .time = add.fragment.time, .content = hash64(add.fragment.text)};
  return write_fragment(
      {.of = Of::kEntity, .place = place, .text = add.fragment.text, .version = version});
}

Result<Outcome> TruthWriter::run(const AddEdgeFragment& add) {
  const auto name = known(add.name);
  if (!name) return Outcome{.effect = Effect::kAbsent};
  KIN_TRY(const bool holds, has_period(add.from, *name, add.to));
  if (!holds) return Outcome{.effect = Effect::kAbsent};
  const FragmentPlace place{.id = add.from,
                            .name = *name,
                            .to = add.to,
                            .time = add.fragment.time,
                            .content = hash64(add.fragment.text)};
  return write_fragment({.of = Of::kEdge,
                         .place = place,
                         .text = add.fragment.text,
                         .version = version_or_next(add.version)});
}

Result<Outcome> TruthWriter::write_fragment(const FragmentWrite& write) {
  const bool of_edge = write.of == Of::kEdge;
  const kv::Family family = of_edge ? kEdgeFragmentsFamily : kEntityFragmentsFamily;
  const std::string key =
      of_edge ? edge_fragment_key(write.place) : entity_fragment_key(write.place);
  KIN_TRY(const auto before, rows_.get(family, key));
  if (before) return Outcome{.effect = Effect::kStale};
  const DocKind kind = of_edge ? DocKind::kEdgeFragment : DocKind::kEntityFragment;
  KIN_TRY(const DocNumber number, new_document(kind, key));
  const FragmentRow row{
      .version = write.version, .number = number, .text = std::string(write.text)};
  rows_.put(family, key, encode(row));
  ++counters_.fragments;
  KIN_TRY(const PartitionId partition, partition_of(write.place.id));
  log({.kind = of_edge ? ChangeKind::kEdgeFragmentAdded : ChangeKind::kEntityFragmentAdded,
       .partition = partition,
       .version = write.version,
       .number = number,
       .id = write.place.id,
       .name = write.place.name,
       .to = write.place.to,
       .time = write.place.time,
       .content = write.place.content});
  return Outcome{.number = number, .version = write.version};
}

Status TruthWriter::remove_fragments(Of of, std::string_view prefix, const Version& version) {
  const bool of_edge = of == Of::kEdge;
  const kv::Family family = of_edge ? kEdgeFragmentsFamily : kEntityFragmentsFamily;
  const auto remove = [&](const std::string& key, const std::string& value) -> Status {
    KIN_TRY(const FragmentRow row, decode_fragment(value));
    const auto place = of_edge ? decode_edge_fragment_key(key) : decode_entity_fragment_key(key);
    if (!place) return Error{Code::kDataLoss, "a key of fragments is damaged"};
    if (row.version >= version) return Done{};
    rows_.remove(family, key);
    retire(row.number);
    --counters_.fragments;
    KIN_TRY(const PartitionId partition, partition_of(place->id));
    log({.kind = of_edge ? ChangeKind::kEdgeFragmentRemoved : ChangeKind::kEntityFragmentRemoved,
         .partition = partition,
         .version = version,
         .retired = row.number,
         .id = place->id,
         .name = place->name,
         .to = place->to,
         .time = place->time,
         .content = place->content});
    return Done{};
  };
  return rows_.for_each(family, prefix, remove);
}

}  // namespace kin::index
