// The truth of a shard at one moment.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "index/truth/change.h"
#include "index/truth/entity_format.h"
#include "index/truth/name_table.h"
#include "kv/key_value_store.h"

namespace kin::index {

// The parts of an entity to read.
struct Want {
  bool vectors = true;
  bool summaries = true;
  std::optional<Millis> as_of = {};  // only entities that are valid at that moment
};

struct ScanRequest {
  std::optional<PartitionId> partition = {};  // nothing: all partitions
  std::optional<DocNumber> after = {};        // `next` of the page before
  std::size_t limit = 1'000;
  Want want = {};
};

struct ScanPage {
  // In the order of their numbers. An entity that changes between two pages comes again at the end.
  std::vector<StoredEntity> entities = {};
  std::optional<DocNumber> next = {};  // nothing: this was the last page
};

struct ChangesRequest {
  Lsn after = 0;
  std::size_t limit = 10'000;
  // Only changes of things in these partitions, or that left one of them. Nothing: all changes.
  std::optional<std::set<PartitionId>> partitions = {};
};

struct ChangesPage {
  std::vector<Change> changes = {};  // in the order of their LSNs
  Lsn up_to = 0;                     // every change up to this LSN was looked at
};

// Fragments by time, the oldest first.
struct FragmentRange {
  Millis from = kBeginning;
  Millis until = kForever;    // exclusive; as of T is until T + 1
  std::size_t limit = 1'000;  // if there are more, the newest ones
};

struct EntityFragmentRef {
  DocId id = {};
  StoredFragment fragment = {};
};
struct EdgeFragmentRef {
  EdgeId edge = {};  // without its period
  StoredFragment fragment = {};
};
// Anything that has a document number.
using StoredDocument = std::variant<StoredEntity, StoredEdge, EntityFragmentRef, EdgeFragmentRef>;

// A snapshot: it holds every batch up to lsn() and nothing of later ones. Thread-safe. The truth
// must outlive it. While a view lives, the store keeps overwritten data, so drop it soon.
class TruthView {
 public:
  TruthView(const NameTable& names, kv::Snapshot snapshot, const Counters& counters);

  const Counters& counters() const { return counters_; }
  Lsn lsn() const { return counters_.last_lsn; }  // of the last change in the view
  // Empty: the shard was never told of an owner, and owns every partition.
  Result<Owners> owners() const;

  // Nothing for an entity that does not exist, is deleted, or is not valid at `as_of`.
  Result<std::optional<StoredEntity>> get(const DocId& id, const Want& want = {}) const;
  Result<std::vector<std::optional<StoredEntity>>> get_many(std::span<const DocId> ids,
                                                            const Want& want = {}) const;
  Result<std::vector<std::optional<EntityHead>>> heads(std::span<const DocId> ids) const;
  // By document number. Nothing for a document that is not an entity or has no vector in the space.
  Result<std::vector<std::optional<std::vector<float>>>> vectors(std::span<const DocNumber> numbers,
                                                                 std::string_view space) const;
  Result<ScanPage> scan(const ScanRequest& request) const;
  // The partitions that have entities. Reads one row of each.
  Result<std::set<PartitionId>> partitions() const;

  Result<std::optional<StoredEdge>> edge(const EdgeId& id) const;
  Result<std::vector<StoredFragment>> fragments(const DocId& id, const FragmentRange& range) const;
  // Fragments of all periods of the edge.
  Result<std::vector<StoredFragment>> fragments(const EdgeId& edge,
                                                const FragmentRange& range) const;

  // Nothing for a number that is retired or was never used.
  Result<std::vector<std::optional<DocumentRow>>> document_rows(
      std::span<const DocNumber> numbers) const;
  Result<std::optional<StoredDocument>> document(DocNumber number, const Want& want = {}) const;
  Result<std::vector<std::optional<StoredDocument>>> documents(std::span<const DocNumber> numbers,
                                                               const Want& want = {}) const;

  // Reads the log until `limit` changes match or many were looked at; the page says how far it
  // came. kFailedPrecondition if changes after `after` are trimmed: rebuild from scan() or an
  // export.
  Result<ChangesPage> changes(const ChangesRequest& request) const;

  std::optional<NameId> find_name(std::string_view name) const { return names_.find(name); }
  Result<std::string_view> name(NameId id) const { return names_.name(id); }
  kv::Cursor rows(kv::Family family, const kv::KeyRange& range = {}) const {
    return snapshot_.cursor(range, family);
  }
  Result<std::optional<std::string>> row(kv::Family family, std::string_view key) const {
    return snapshot_.get(key, family);
  }
  // The edge of a row that is not deleted.
  Result<StoredEdge> assemble_edge(const EdgeKey& key, const EdgeRow& row) const;

 private:
  // Nothing for deleted entities.
  Result<std::vector<std::optional<HeadRow>>> read_heads(std::span<const DocId> ids) const;
  Result<StoredEntity> assemble(const DocId& id, const HeadRow& head, const Want& want) const;
  struct VectorOf {
    std::size_t entity;
    NameId space;
  };
  Status add_vectors(std::span<const VectorOf> of, std::span<const std::string> keys,
                     std::vector<std::optional<StoredEntity>>& entities) const;
  Result<StoredDocument> other_document(const DocumentRow& row, std::string_view value) const;
  Status add_content(std::string_view content, Entity& entity) const;
  Result<std::string> summary(const Hash128& hash) const;
  Result<std::vector<StoredFragment>> read_fragments(kv::Family family, std::string_view prefix,
                                                     const FragmentRange& range) const;
  struct ScanStep {
    std::vector<DocId> ids;
    std::optional<DocNumber> next;
  };
  Result<ScanStep> next_members(const ScanRequest& request) const;
  Result<ScanStep> next_entities(const ScanRequest& request) const;

  const NameTable& names_;
  kv::Snapshot snapshot_;
  Counters counters_;
};

}  // namespace kin::index
