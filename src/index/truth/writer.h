// Turns mutations and records into rows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "index/mutation.h"
#include "index/record.h"
#include "index/truth/change.h"
#include "index/truth/entity_format.h"
#include "index/truth/name_table.h"
#include "index/truth/staging.h"

namespace kin::index {

struct Outcome {
  Effect effect = Effect::kDone;
  DocNumber number = kNoNumber;  // of the document that was written, if one was
  Version version = {};          // that was written, if any was
};

// The rows of one batch of mutations or records. Nothing is written before finish(). While it is in
// use nobody else may write to the store. One thread only.
class TruthWriter {
 public:
  struct Start {
    const kv::KeyValueStore& store;
    const NameTable& names;
    const Owners& owners;  // empty: the shard owns every partition
    Counters counters;
    std::optional<std::uint64_t> map_epoch = {};  // as in ApplyOptions
    std::set<PartitionId> together = {};          // as in ApplyOptions
  };
  explicit TruthWriter(const Start& start);

  // Reads in one go the rows that apply() will need.
  Status fetch(std::span<const Mutation> mutations);
  Status fetch(std::span<const Record> records);
  // The age of the items that apply() gets next; see ApplyOptions::ages.
  void set_age(std::uint64_t age) { age_ = age; }
  // The mutation or record must have passed check(). After an error drop the whole batch.
  Result<Outcome> apply(const Mutation& mutation);
  Result<Outcome> apply(const Record& record);
  // Removes every row of an entity, its edges and their fragments, tombstones too. The changes are
  // logged with the versions that the things had, so that copies which have them stay as they are.
  Status forget(const DocId& id);
  // Adds all rows so far, and the counters, to the batch.
  void finish(kv::Batch& batch);

  const Counters& counters() const { return counters_; }
  // In the order of their numbers, which follow those of the table.
  const std::vector<std::string>& new_names() const { return new_names_; }
  const Owners& new_owners() const { return new_owners_; }

 private:
  Result<Outcome> run(const PutEntity& put);
  Result<Outcome> run(const RemoveEntity& remove);
  Result<Outcome> run(const AssignPartition& assign);
  Result<Outcome> run(const AssignOwner& assign);
  Result<Outcome> run(const PutEdge& put);
  Result<Outcome> run(const SetEdges& set);
  Result<Outcome> run(const CloseEdge& close);
  Result<Outcome> run(const RemoveEdge& remove);
  Result<Outcome> run(const AddFragment& add);
  Result<Outcome> run(const AddEdgeFragment& add);
  Result<Outcome> run(const EntityRecord& record);
  Result<Outcome> run(const EdgeRecord& record);
  Result<Outcome> run(const FragmentRecord& record);
  Result<Outcome> run(const OwnerRecord& record);

  Result<std::optional<HeadRow>> head(const DocId& id) const;
  Result<std::optional<EdgeRow>> edge(const EdgeKey& key) const;
  // 0 for an entity that never existed.
  Result<PartitionId> partition_of(const DocId& id) const;
  NameId intern(std::string_view name);
  std::optional<NameId> known(std::string_view name) const;

  const Ownership* owner_of(PartitionId partition) const;
  // kNotOwned or kOldEpoch; nothing if the shard may write the partition.
  std::optional<Outcome> refuse(PartitionId partition) const;
  Outcome set_owner(PartitionId partition, const Ownership& owner);
  // The next version in a partition, newer than `before`.
  Version next_version(PartitionId partition, const Version& before = {}) const;

  void log(Change change);
  Result<DocNumber> new_document(DocKind kind, std::string key);
  void retire(DocNumber number);
  Result<Hash128> refer(std::string_view summary);
  Status release(const Hash128& summary);

  struct EntityWrite {
    const DocId& id;
    const std::optional<HeadRow>& before;
    HeadRow after;  // versions, partition and validity; the rest is filled in
  };
  Result<Outcome> write_entity(EntityWrite write, const Entity& entity,
                               std::vector<std::string> tags);
  Result<Outcome> bury_entity(const EntityWrite& write);
  Result<Outcome> move_entity(const EntityWrite& write);
  // Removes all rows of an entity but its head.
  Status clear_entity(const HeadRow& row);
  Status log_move(const EntityWrite& write);

  struct EdgeWrite {
    EdgeKey key;
    std::optional<EdgeRow> before;
    EdgeRow after;  // number and summary are filled in
    std::string_view summary;
  };
  Result<Outcome> write_edge(EdgeWrite write);
  Result<Outcome> put_edge(const Edge& given, PartitionId partition);
  static bool is_same(const EdgeRow& row, const Edge& given);
  struct EdgeRemoval {
    EdgeKey key;
    EdgeRow before;
    Version version;
  };
  Status bury_edge(const EdgeRemoval& removal);
  Result<Outcome> remove_period(const EdgeRemoval& removal);
  Status remove_edges_of(const DocId& id, PartitionId partition);
  Result<bool> has_period(const DocId& from, NameId name, const DocId& to) const;

  Status forget_edges(const DocId& id, PartitionId partition);
  Status forget_fragments(kv::Family family, const DocId& id, PartitionId partition);

  struct FragmentWrite {
    kv::Family family;  // of fragments of entities, or of edges
    FragmentKey key;
    FragmentRow after;  // the number is filled in
  };
  Result<std::optional<FragmentRow>> fragment(kv::Family family, const FragmentKey& key) const;
  Result<Outcome> add_fragment(FragmentWrite write, PartitionId partition);
  Result<Outcome> write_fragment(FragmentWrite write, const std::optional<FragmentRow>& before);
  Status remove_fragments(kv::Family family, std::string_view prefix, PartitionId partition);

  const NameTable& names_;
  const Owners& owners_;
  StagedRows rows_;
  Counters counters_;
  std::optional<std::uint64_t> map_epoch_;
  std::set<PartitionId> together_;
  std::uint64_t age_ = 0;
  Owners new_owners_;
  std::vector<std::string> new_names_;
  std::unordered_map<std::string, NameId> new_ids_;
};

}  // namespace kin::index
