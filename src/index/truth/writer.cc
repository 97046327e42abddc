#include "index/truth/writer.h"

#include <algorithm>

#include "index/truth/entity_tags.h"
#include "index/truth/owners.h"

namespace kin::index {
namespace {

const EdgeId* edge_in(const Mutation& mutation) {
  const auto* put = std::get_if<PutEdge>(&mutation);
  return put == nullptr ? nullptr : &put->edge.id;
}
const EdgeId* edge_in(const Record& record) {
  const auto* edge = std::get_if<EdgeRecord>(&record);
  return edge == nullptr ? nullptr : &edge->edge.id;
}

template <typename Items>
Status fetch_rows(const Items& items, const NameTable& names, StagedRows& rows) {
  std::vector<std::string> heads;
  std::vector<std::string> edges;
  for (const auto& item : items) {
    if (const DocId* id = std::visit(EntityOf{}, item)) heads.push_back(entity_key(*id));
    const EdgeId* edge = edge_in(item);
    if (edge == nullptr) continue;
    if (const auto name = names.find(edge->name))
      edges.push_back(forward_key(edge_key(*edge, *name)));
  }
  // Many items of a batch belong to the same entities.
  std::sort(heads.begin(), heads.end());
  heads.erase(std::unique(heads.begin(), heads.end()), heads.end());
  KIN_RETURN_IF_ERROR(rows.fetch(kEntitiesFamily, std::move(heads)));
  return rows.fetch(kForwardEdgesFamily, std::move(edges));
}

Outcome stale() {
  return {.effect = Effect::kStale};
}
Outcome absent() {
  return {.effect = Effect::kAbsent};
}

bool is_live(const std::optional<HeadRow>& row) {
  return row && !row->deleted;
}

// Tombstones have a partition too. Without any row it is 0, until a router assigns another.
PartitionId partition_in(const std::optional<HeadRow>& row) {
  return row ? row->head.partition : PartitionId{};
}

}  // namespace

TruthWriter::TruthWriter(const Start& start)
    : names_(start.names),
      owners_(start.owners),
      rows_(start.store),
      counters_(start.counters),
      map_epoch_(start.map_epoch),
      together_(start.together) {}

Status TruthWriter::fetch(std::span<const Mutation> mutations) {
  return fetch_rows(mutations, names_, rows_);
}

Status TruthWriter::fetch(std::span<const Record> records) {
  return fetch_rows(records, names_, rows_);
}

Result<Outcome> TruthWriter::apply(const Mutation& mutation) {
  return std::visit([this](const auto& one) { return run(one); }, mutation);
}

Result<Outcome> TruthWriter::apply(const Record& record) {
  return std::visit([this](const auto& one) { return run(one); }, record);
}

void TruthWriter::finish(kv::Batch& batch) {
  // New names have the last numbers that were given out.
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

Result<std::optional<EdgeRow>> TruthWriter::edge(const EdgeKey& key) const {
  KIN_TRY(const auto row, rows_.get(kForwardEdgesFamily, forward_key(key)));
  if (!row) return std::optional<EdgeRow>();
  KIN_TRY(EdgeRow decoded, decode_edge(*row));
  return std::optional(decoded);
}

Result<PartitionId> TruthWriter::partition_of(const DocId& id) const {
  KIN_TRY(const auto row, head(id));
  return partition_in(row);
}

const Ownership* TruthWriter::owner_of(PartitionId partition) const {
  // Owners that this batch assigns already hold for the mutations after them.
  const Ownership* owner = find_owner(new_owners_, partition);
  return owner != nullptr ? owner : find_owner(owners_, partition);
}

std::optional<Outcome> TruthWriter::refuse(PartitionId partition) const {
  if (owners_.empty() && new_owners_.empty()) return {};
  const Ownership* owner = owner_of(partition);
  const auto effect = refusal(owner, map_epoch_);
  if (!effect) return {};
  return Outcome{.effect = *effect, .version = {.epoch = owner == nullptr ? 0 : owner->epoch}};
}

// Versions of a thing must only grow. Epoch and LSN of this shard are not enough: an entity may
// come from a partition whose owner has a higher epoch, or with LSNs of another shard.
Version TruthWriter::next_version(PartitionId partition, const Version& before) const {
  const Ownership* owner = owner_of(partition);
  const Version next{.epoch = owner == nullptr ? 0 : owner->epoch,
                     .lsn = std::max(counters_.last_lsn + 1, age_)};
  return std::max(next, Version{.epoch = before.epoch, .lsn = before.lsn + 1});
}

std::optional<NameId> TruthWriter::known(std::string_view name) const {
  // Names of this batch are in no table yet: they are added when it is written.
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
  // Numbers are never used again, so a shard can run out of them.
  const DocNumber number{counters_.numbers};
  if (number == kNoNumber) {
    return Error{Code::kResourceExhausted,
                 "the shard has used all its document numbers (copy its documents to a new index)"};
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
  // Equal summaries are stored once and counted.
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
  // The text goes with its last reference.
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

// Filtered readers of the log follow entities between partitions by this change. Edges and
// fragments may be older than their entity: until it comes they are in partition 0.
Status TruthWriter::log_move(const EntityWrite& write) {
  const PartitionId former = partition_in(write.before);
  const EntityHead& head = write.after.head;
  if (former == head.partition) return Done{};
  bool leaves_something = write.before.has_value();
  for (const kv::Family family :
       {kForwardEdgesFamily, kEntityFragmentsFamily, kEdgeFragmentsFamily}) {
    if (leaves_something) break;
    KIN_TRY(leaves_something, rows_.has_any(family, write.id.view()));
  }
  if (!leaves_something) return Done{};
  log({.kind = ChangeKind::kEntityAssigned,
       .partition = head.partition,
       .former = former,
       .version = head.assigned,
       .number = head.number,
       .id = write.id});
  return Done{};
}

Result<Outcome> TruthWriter::write_entity(EntityWrite write, const Entity& entity,
                                          std::vector<std::string> tags) {
  HeadRow& row = write.after;
  const bool was_there = is_live(write.before);
  row.source = intern(entity.source);
  // The new summaries are referred to before the old ones are released: one that stays is then not
  // removed and written again.
  for (const std::string& summary : entity.summaries) {
    KIN_TRY(const Hash128 hash, refer(summary));
    row.summaries.push_back(hash);
  }
  for (const SpaceVector& vector : entity.vectors) row.spaces.push_back(intern(vector.space));
  // Rows are stored by number, and the new state gets a new one: nothing is overwritten in place.
  if (was_there) KIN_RETURN_IF_ERROR(clear_entity(*write.before));
  const std::string key = entity_key(write.id);
  KIN_TRY(row.head.number, new_document(DocKind::kEntity, key));
  ContentRow content{.key = entity.key,
                     .title = entity.title,
                     .text = entity.text,
                     .tags = std::move(tags),
                     .attributes = {}};
  for (const Attribute& attribute : entity.attributes)
    content.attributes.push_back({.name = intern(attribute.name), .value = attribute.value});
  for (std::size_t i = 0; i < entity.vectors.size(); ++i) {
    rows_.put(kVectorsFamily, vector_key(row.head.number, row.spaces[i]),
              encode_vector(entity.vectors[i].values));
  }
  rows_.put(kContentsFamily, content_key(row.head.number), encode(content));
  rows_.put(kMembersFamily, member_key(row.head.partition, row.head.number), key);
  rows_.put(kEntitiesFamily, key, encode(row));
  counters_.entities += was_there ? 0 : 1;
  log({.kind = ChangeKind::kEntityPut,
       .partition = row.head.partition,
       .version = row.head.version,
       .number = row.head.number,
       .retired = was_there ? write.before->head.number : kNoNumber,
       .id = write.id});
  KIN_RETURN_IF_ERROR(log_move(write));
  return Outcome{.number = row.head.number, .version = row.head.version};
}

Result<Outcome> TruthWriter::bury_entity(const EntityWrite& write) {
  const EntityHead& head = write.after.head;
  const bool was_there = is_live(write.before);
  if (was_there) {
    KIN_RETURN_IF_ERROR(clear_entity(*write.before));
    --counters_.entities;
  }
  const HeadRow mark{
      .deleted = true,
      .head = {.partition = head.partition, .assigned = head.assigned, .version = head.version}};
  rows_.put(kEntitiesFamily, entity_key(write.id), encode(mark));
  log({.kind = ChangeKind::kEntityRemoved,
       .partition = head.partition,
       .version = head.version,
       .retired = was_there ? write.before->head.number : kNoNumber,
       .id = write.id});
  KIN_RETURN_IF_ERROR(log_move(write));
  return Outcome{.version = head.version};
}

// A tombstone has a partition too, so that copies of a partition have the same tombstones.
Result<Outcome> TruthWriter::move_entity(const EntityWrite& write) {
  const EntityHead& head = write.after.head;
  if (!write.after.deleted) {
    rows_.remove(kMembersFamily, member_key(write.before->head.partition, head.number));
    rows_.put(kMembersFamily, member_key(head.partition, head.number), entity_key(write.id));
  }
  rows_.put(kEntitiesFamily, entity_key(write.id), encode(write.after));
  // The version of the partition is newer even where the partition is the same.
  if (write.before->head.partition == head.partition) {
    log({.kind = ChangeKind::kEntityAssigned,
         .partition = head.partition,
         .former = head.partition,
         .version = head.assigned,
         .number = head.number,
         .id = write.id});
  }
  KIN_RETURN_IF_ERROR(log_move(write));
  return Outcome{.number = head.number, .version = head.version};
}

Result<Outcome> TruthWriter::run(const PutEntity& put) {
  const Entity& entity = put.entity;
  KIN_TRY(const auto before, head(entity.id));
  const PartitionId former = partition_in(before);
  PartitionId partition = put.partition.value_or(former);
  if (before && together_.contains(former) && together_.contains(partition)) partition = former;
  // An entity that moves leaves a partition and enters another; the shard must own both.
  if (is_live(before)) {
    if (const auto refused = refuse(former)) return *refused;
  }
  if (const auto refused = refuse(partition)) return *refused;
  const EntityHead old = before ? before->head : EntityHead{};
  // Newer than both versions of before, also than those of a tombstone.
  const Version version = next_version(partition, std::max(old.version, old.assigned));
  const bool stays = before && partition == former;
  HeadRow after;
  after.head = {.partition = partition,
                .assigned = stays ? old.assigned : version,
                .version = version,
                .valid = entity.valid};
  return write_entity({.id = entity.id, .before = before, .after = std::move(after)}, entity,
                      all_tags(entity.tags, entity.text));
}

Result<Outcome> TruthWriter::run(const RemoveEntity& remove) {
  KIN_TRY(const auto before, head(remove.id));
  if (!is_live(before)) return absent();
  const PartitionId partition = before->head.partition;
  if (const auto refused = refuse(partition)) return *refused;
  HeadRow after;
  after.head = before->head;
  after.head.version = next_version(partition, before->head.version);
  KIN_RETURN_IF_ERROR(remove_edges_of(remove.id, partition));
  KIN_RETURN_IF_ERROR(remove_fragments(kEntityFragmentsFamily, remove.id.view(), partition));
  return bury_entity({.id = remove.id, .before = before, .after = std::move(after)});
}

Result<Outcome> TruthWriter::run(const AssignPartition& assign) {
  KIN_TRY(const auto before, head(assign.id));
  if (!is_live(before)) return absent();
  const PartitionId former = before->head.partition;
  if (const auto refused = refuse(former)) return *refused;
  if (const auto refused = refuse(assign.partition)) return *refused;
  if (former == assign.partition) return stale();
  HeadRow after = *before;
  after.head.partition = assign.partition;
  after.head.assigned = next_version(assign.partition, before->head.assigned);
  return move_entity({.id = assign.id, .before = before, .after = std::move(after)});
}

Result<Outcome> TruthWriter::run(const EntityRecord& record) {
  KIN_TRY(const auto before, head(record.entity.id));
  // Contents and partition are compared apart: a record may be newer in one and older in the other.
  const bool says_more = !before || record.version > before->head.version;
  const bool moves = !before || record.assigned > before->head.assigned;
  if (!says_more && !moves) return stale();
  HeadRow after = before && !says_more ? *before : HeadRow{.deleted = record.deleted};
  after.head.partition = moves ? record.partition : before->head.partition;
  after.head.assigned = moves ? record.assigned : before->head.assigned;
  if (!says_more)
    return move_entity({.id = record.entity.id, .before = before, .after = std::move(after)});
  after.head.version = record.version;
  after.head.valid = record.entity.valid;
  EntityWrite write{.id = record.entity.id, .before = before, .after = std::move(after)};
  if (record.deleted) return bury_entity(write);
  // The tags of a record include the hashtags already.
  return write_entity(std::move(write), record.entity, record.entity.tags);
}

Outcome TruthWriter::set_owner(PartitionId partition, const Ownership& owner) {
  const Ownership* before = owner_of(partition);
  // Repeating the last assignment is done, not stale: the caller need not know that it came twice.
  if (before != nullptr && *before == owner) return {.version = {.epoch = owner.epoch}};
  if (before != nullptr && owner.epoch <= before->epoch) return stale();
  rows_.put(kOwnersFamily, owner_key(partition), encode(owner));
  new_owners_[partition] = owner;
  const Version version{.epoch = owner.epoch, .lsn = counters_.last_lsn + 1};
  log({.kind = ChangeKind::kOwnerAssigned, .partition = partition, .version = version});
  return {.version = version};
}

Result<Outcome> TruthWriter::run(const AssignOwner& assign) {
  return set_owner(assign.partition, {.epoch = assign.epoch, .owned = assign.owned});
}

Result<Outcome> TruthWriter::run(const OwnerRecord& record) {
  return set_owner(record.partition, {.epoch = record.epoch, .owned = false});
}

}  // namespace kin::index
