// Mutations, turned into rows.
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
#include "index/truth/change.h"
#include "index/truth/entity_format.h"
#include "index/truth/name_table.h"
#include "index/truth/staging.h"

namespace kin::index {

struct Outcome {
  Effect effect = Effect::kDone;
  DocNumber number = kNoNumber;  // of the document it made, if it made one
  Version version = {};          // that it was written with
};

// The rows of one batch of mutations, none of which is written before finish(). While it is used
// nobody else may write to the store. One thread only.
class TruthWriter {
 public:
  struct Start {
    const kv::KeyValueStore& store;
    const NameTable& names;
    Counters counters;
    std::uint64_t epoch = 0;
  };
  explicit TruthWriter(const Start& start);

  // Reads at once what these will ask for one by one.
  Status fetch(std::span<const Mutation> mutations);
  // The mutation must have passed check(). After an error the whole batch must be dropped.
  Result<Outcome> apply(const Mutation& mutation);
  // Everything so far, with the counters.
  void finish(kv::Batch& batch);

  const Counters& counters() const { return counters_; }
  // In the order of their numbers, which follow those of the table.
  const std::vector<std::string>& new_names() const { return new_names_; }

 private:
  Result<Outcome> run(const PutEntity& put);
  Result<Outcome> run(const RemoveEntity& remove);
  Result<Outcome> run(const AssignPartition& assign);
  Result<Outcome> run(const PutEdge& put);
  Result<Outcome> run(const SetEdges& set);
  Result<Outcome> run(const CloseEdge& close);
  Result<Outcome> run(const RemoveEdge& remove);
  Result<Outcome> run(const AddFragment& add);
  Result<Outcome> run(const AddEdgeFragment& add);

  Result<std::optional<HeadRow>> head(const DocId& id) const;
  Result<std::optional<EdgeRow>> edge(const EdgePlace& place) const;
  Result<PartitionId> partition_of(const DocId& id) const;
  Version version_or_next(const std::optional<Version>& given) const;
  NameId intern(std::string_view name);
  std::optional<NameId> known(std::string_view name) const;

  void log(Change change);
  Result<DocNumber> new_document(DocKind kind, std::string key);
  void retire(DocNumber number);
  Result<Hash128> refer(std::string_view summary);
  Status release(const Hash128& summary);
  // All rows of an entity but its head.
  Status clear_entity(const HeadRow& row);

  Status write_entity(const PutEntity& put, const HeadRow& row);
  struct EdgeWrite {
    EdgePlace place;
    std::optional<EdgeRow> before;
    EdgeRow after;  // number and summary are filled in
    std::string_view summary;
  };
  Result<Outcome> write_edge(EdgeWrite write);
  Result<Outcome> put_edge(const Edge& given, const Version& version);
  // Is the edge there, and says what `given` says?
  static bool is_same(const EdgeRow& row, const Edge& given);
  struct EdgeRemoval {
    EdgePlace place;
    EdgeRow before;
    Version version;
  };
  Status bury_edge(const EdgeRemoval& removal);
  Result<Outcome> remove_period(const EdgeRemoval& removal);
  Status remove_edges_of(const DocId& id, const Version& version);
  enum class Of { kEntity, kEdge };
  Status remove_fragments(Of of, std::string_view prefix, const Version& version);
  struct FragmentWrite {
    Of of;
    FragmentPlace place;
    std::string_view text;
    Version version;
  };
  Result<Outcome> write_fragment(const FragmentWrite& write);
  Result<bool> has_period(const DocId& from, NameId name, const DocId& to) const;

  const NameTable& names_;
  StagedRows rows_;
  Counters counters_;
  std::uint64_t epoch_;
  std::vector<std::string> new_names_;
  std::unordered_map<std::string, NameId> new_ids_;
};

}  // namespace kin::index
