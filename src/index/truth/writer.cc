#include "index/truth/writer.h"

#include <algorithm>

#include "index/truth/entity_tags.h"

namespace kin::index {
namespace {

const DocId& owner(const PutEntity& put) {
  return put.entity.id;
}
const DocId& owner(const PutEdge& put) {
  return put.edge.id.from;
}
const DocId& owner(const RemoveEdge& remove) {
  return remove.edge.from;
}
const DocId& owner(const SetEdges& set) {
  return set.from;
}
const DocId& owner(const CloseEdge& close) {
  return close.from;
}
const DocId& owner(const AddEdgeFragment& add) {
  return add.from;
}
template <typename T>
const DocId& owner(const T& other) {
  return other.id;
}

Outcome stale() {
  return {.effect = Effect::kStale};
}
Outcome absent() {
  return {.effect = Effect::kAbsent};
}

}  // namespace

TruthWriter::TruthWriter(const Start& start)
    : names_(start.names), rows_(start.store), counters_(start.counters), epoch_(start.epoch) {}

Status TruthWriter::fetch(std::span<const Mutation> mutations) {
  std::vector<std::string> heads;
  std::vector<std::string> edges;
  for (const Mutation& mutation : mutations) {
    heads.push_back(entity_key(
        std::visit([](const auto& one) -> const DocId& { return owner(one); }, mutation)));
    const auto* put = std::get_if<PutEdge>(&mutation);
    if (put == nullptr) continue;
    const EdgeId& id = put->edge.id;
    if (const auto name = names_.find(id.name))
      edges.push_back(
          forward_key({.from = id.from, .name = *name, .to = id.to, .since = id.since}));
  }
  std::sort(heads.begin(), heads.end());
  heads.erase(std::unique(heads.begin(), heads.end()), heads.end());
  KIN_RETURN_IF_ERROR(rows_.fetch(kEntitiesFamily, std::move(heads)));
  return rows_.fetch(kForwardEdgesFamily, std::move(edges));
}

Result<Outcome> TruthWriter::apply(const Mutation& mutation) {
  return std::visit([this](const auto& one) { return run(one); }, mutation);
}

void TruthWriter::finish(kv::Batch& batch) {
  for (std::size_t i = 0; i < new_names_.size(); ++i) {
    const NameId id{static_cast<std::uint32_t>(counters_.names - new_names_.size() + i)};
    rows_.put(kNamesFamily, name_key(id), encode_name(new_names_[i]));
  }
  rows_.put(kCountersFamily, std::string(kCountersKey), encode(counters_));
  rows_.write_to(batch);
}

Result<std::optional<HeadRow>> TruthWriter::head(const DocId& id) const {
  KIN_TRY(const auto row, rows_.get(kEntitiesFamily, entity_key(id)));
  if (!row) return std::optional<HeadRow>();
  KIN_TRY(HeadRow decoded, decode_head(*row));
  return std::optional(std::move(decoded));
}

Result<std::optional<EdgeRow>> TruthWriter::edge(const EdgePlace& place) const {
  KIN_TRY(const auto row, rows_.get(kForwardEdgesFamily, forward_key(place)));
  if (!row) return std::optional<EdgeRow>();
  KIN_TRY(EdgeRow decoded, decode_edge(*row));
  return std::optional(decoded);
}

Result<PartitionId> TruthWriter::partition_of(const DocId& id) const {
  KIN_TRY(const auto row, head(id));
  return row ? row->head.partition : PartitionId{};
}

Version TruthWriter::version_or_next(const std::optional<Version>& given) const {
  return given.value_or(Version{.epoch = epoch_, .lsn = counters_.last_lsn + 1});
}

std::optional<NameId> TruthWriter::known(std::string_view name) const {
  if (const auto id = names_.find(name)) return id;
  const auto found = new_ids_.find(std::string(name));
  if (found == new_ids_.end()) return {};
  return found->second;
}

NameId TruthWriter::intern(std::string_view name) {
  if (const auto id = known(name)) return *id;
  const NameId id{counters_.names++};
  new_names_.emplace_back(name);
  new_ids_.emplace(name, id);
  return id;
}

void TruthWriter::log(Change change) {
  change.lsn = ++counters_.last_lsn;
  rows_.put(kChangelogFamily, change_key(change.lsn), encode(change));
}

Result<DocNumber> TruthWriter::new_document(DocKind kind, std::string key) {
  const DocNumber number{counters_.numbers};
  if (number == kNoNumber) {
    return Error{Code::kResourceExhausted,
                 "the shard has used all its document numbers (export it and make it anew)"};
  }
  ++counters_.numbers;
  rows_.put(kDocumentsFamily, document_key(number),
            encode(DocumentRow{.kind = kind, .key = std::move(key)}));
  return number;
}

void TruthWriter::retire(DocNumber number) {
  if (number != kNoNumber) rows_.remove(kDocumentsFamily, document_key(number));
}

Result<Hash128> TruthWriter::refer(std::string_view summary) {
  const Hash128 hash = summary_hash(summary);
  KIN_TRY(const auto row, rows_.get(kSummariesFamily, summary_count_key(hash)));
  std::uint64_t count = 0;
  if (row) {
    KIN_TRY(count, decode_summary_count(*row));
  } else {
    rows_.put(kSummariesFamily, summary_text_key(hash), encode_summary_text(summary));
  }
  rows_.put(kSummariesFamily, summary_count_key(hash), encode_summary_count(count + 1));
  return hash;
}

Status TruthWriter::release(const Hash128& summary) {
  KIN_TRY(const auto row, rows_.get(kSummariesFamily, summary_count_key(summary)));
  if (!row) return Error{Code::kDataLoss, "a summary is missing"};
  KIN_TRY(const std::uint64_t count, decode_summary_count(*row));
  if (count > 1) {
    rows_.put(kSummariesFamily, summary_count_key(summary), encode_summary_count(count - 1));
    return Done{};
  }
  rows_.remove(kSummariesFamily, summary_count_key(summary));
  rows_.remove(kSummariesFamily, summary_text_key(summary));
  return Done{};
}

Status TruthWriter::clear_entity(const HeadRow& row) {
  for (const Hash128& summary : row.summaries) KIN_RETURN_IF_ERROR(release(summary));
  for (const NameId space : row.spaces)
    rows_.remove(kVectorsFamily, vector_key(row.head.number, space));
  rows_.remove(kContentsFamily, content_key(row.head.number));
  rows_.remove(kMembersFamily, member_key(row.head.partition, row.head.number));
  retire(row.head.number);
  return Done{};
}

Status TruthWriter::write_entity(const PutEntity& put, const HeadRow& row) {
  const Entity& entity = put.entity;
  ContentRow content{.key = entity.key,
                     .title = entity.title,
                     .text = entity.text,
                     .tags = all_tags(entity.tags, entity.text),
                     .attributes = {}};
  for (const Attribute& attribute : entity.attributes)
    content.attributes.push_back({.name = intern(attribute.name), .value = attribute.value});
  for (std::size_t i = 0; i < entity.vectors.size(); ++i) {
    rows_.put(kVectorsFamily, vector_key(row.head.number, row.spaces[i]),
              encode_vector(entity.vectors[i].values));
  }
  rows_.put(kContentsFamily, content_key(row.head.number), encode(content));
  rows_.put(kMembersFamily, member_key(row.head.partition, row.head.number), entity_key(entity.id));
  rows_.put(kEntitiesFamily, entity_key(entity.id), encode(row));
  return Done{};
}

Result<Outcome> TruthWriter::run(const PutEntity& put) {
  const Entity& entity = put.entity;
  KIN_TRY(const auto before, head(entity.id));
  const Version version = version_or_next(put.version);
  if (before && version <= before->head.version) return stale();
  const bool was_there = before && !before->deleted;
  HeadRow row{.head = {.version = version, .valid = entity.valid},
              .born = was_there ? before->born : version,
              .source = intern(entity.source)};
  row.head.partition = put.partition.value_or(before ? before->head.partition : PartitionId{});
  for (const std::string& summary : entity.summaries) {
    KIN_TRY(const Hash128 hash, refer(summary));
    row.summaries.push_back(hash);
  }
  for (const SpaceVector& vector : entity.vectors) row.spaces.push_back(intern(vector.space));
  if (was_there) {
    KIN_RETURN_IF_ERROR(clear_entity(*before));
  }
  KIN_TRY(row.head.number, new_document(DocKind::kEntity, entity_key(entity.id)));
  KIN_RETURN_IF_ERROR(write_entity(put, row));
  counters_.entities += was_there ? 0 : 1;
  log({.kind = ChangeKind::kEntityPut,
       .partition = row.head.partition,
       .version = version,
       .number = row.head.number,
       .retired = was_there ? before->head.number : kNoNumber,
       .id = entity.id});
  return Outcome{.number = row.head.number, .version = version};
}

Result<Outcome> TruthWriter::run(const RemoveEntity& remove) {
  KIN_TRY(const auto before, head(remove.id));
  const bool was_there = before && !before->deleted;
  // Somebody else's deletion leaves its mark even so: what it deleted may yet arrive.
  if (!was_there && !remove.version) return absent();
  const Version version = version_or_next(remove.version);
  if (before && version <= before->head.version) return stale();
  const PartitionId partition = before ? before->head.partition : PartitionId{};
  KIN_RETURN_IF_ERROR(remove_edges_of(remove.id, version));
  KIN_RETURN_IF_ERROR(remove_fragments(Of::kEntity, remove.id.view(), version));
  if (was_there) {
    KIN_RETURN_IF_ERROR(clear_entity(*before));
    --counters_.entities;
  }
  const HeadRow mark{.deleted = true, .head = {.partition = partition, .version = version}};
  rows_.put(kEntitiesFamily, entity_key(remove.id), encode(mark));
  log({.kind = ChangeKind::kEntityRemoved,
       .partition = partition,
       .version = version,
       .retired = was_there ? before->head.number : kNoNumber,
       .id = remove.id});
  return Outcome{.version = version};
}

Result<Outcome> TruthWriter::run(const AssignPartition& assign) {
  KIN_TRY(auto row, head(assign.id));
  if (!row || row->deleted) return absent();
  const PartitionId former = row->head.partition;
  if (former == assign.partition) return stale();
  rows_.remove(kMembersFamily, member_key(former, row->head.number));
  rows_.put(kMembersFamily, member_key(assign.partition, row->head.number), entity_key(assign.id));
  row->head.partition = assign.partition;
  rows_.put(kEntitiesFamily, entity_key(assign.id), encode(*row));
  log({.kind = ChangeKind::kEntityAssigned,
       .partition = assign.partition,
       .former = former,
       .version = row->head.version,
       .number = row->head.number,
       .id = assign.id});
  return Outcome{.number = row->head.number, .version = row->head.version};
}

}  // namespace kin::index
