// What a shard knew at one moment.
#pragma once

#include <cstdint>
#include <optional>
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

struct Want {
  bool vectors = true;
  bool summaries = true;
  std::optional<Millis> as_of = {};  // only what is valid at that moment
};

struct ScanRequest {
  std::optional<PartitionId> partition = {};  // nothing: all of them
  std::optional<DocNumber> after = {};        // where the page before ended
  std::size_t limit = 1'000;
  Want want = {};
};

struct ScanPage {
  // In the order of their numbers: what changes between two pages comes again, at the end.
  std::vector<StoredEntity> entities = {};
  std::optional<DocNumber> next = {};  // where to go on after; nothing: that was all
};

struct ChangesRequest {
  Lsn after = 0;
  std::size_t limit = 10'000;
  std::optional<PartitionId> partition = {};  // that a thing is or was in
};

// Fragments by time, the oldest first.
struct FragmentRange {
  Millis from = kBeginning;
  Millis until = kForever;    // without it; as of T is until T + 1
  std::size_t limit = 1'000;  // the newest of them
};

// What a document number stands for.
struct EntityFragmentRef {
  DocId id = {};
  StoredFragment fragment = {};
};
struct EdgeFragmentRef {
  EdgeId edge = {};  // without its period
  StoredFragment fragment = {};
};
using Document = std::variant<StoredEntity, StoredEdge, EntityFragmentRef, EdgeFragmentRef>;

// A consistent view: an entity is in it whole, with the edges and fragments it was written with.
// Thread-safe; not longer than its truth lives, which keeps for it what is overwritten, so drop it
// soon.
class TruthView {
 public:
  TruthView(const NameTable& names, kv::Snapshot snapshot, const Counters& counters);

  const Counters& counters() const { return counters_; }
  Lsn lsn() const { return counters_.last_lsn; }  // of the last change that is in it

  // Nothing where there is none, where it was deleted, or where it is not valid as wanted.
  Result<std::optional<StoredEntity>> get(const DocId& id, const Want& want = {}) const;
  Result<std::vector<std::optional<StoredEntity>>> get_many(std::span<const DocId> ids,
                                                            const Want& want = {}) const;
  Result<std::vector<std::optional<EntityHead>>> heads(std::span<const DocId> ids) const;
  // Also of those that were deleted, whose mark has one; nothing if it was never there.
  Result<std::vector<std::optional<Version>>> versions(std::span<const DocId> ids) const;
  Result<std::optional<std::vector<float>>> vector(const DocId& id, std::string_view space) const;
  // Without a look-up of the entity. Nothing where the document is no entity or has none.
  Result<std::vector<std::optional<std::vector<float>>>> vectors(std::span<const DocNumber> numbers,
                                                                 std::string_view space) const;
  Result<ScanPage> scan(const ScanRequest& request) const;

  Result<std::optional<StoredEdge>> edge(const EdgeId& id) const;
  Result<std::vector<StoredFragment>> fragments(const DocId& id, const FragmentRange& range) const;
  // Of the edge over all its periods.
  Result<std::vector<StoredFragment>> fragments(const EdgeId& edge,
                                                const FragmentRange& range) const;

  // Nothing for a number that is retired or was never given out.
  Result<std::vector<std::optional<DocumentRow>>> places(std::span<const DocNumber> numbers) const;
  Result<std::optional<Document>> document(DocNumber number, const Want& want = {}) const;
  Result<std::vector<std::optional<Document>>> documents(std::span<const DocNumber> numbers,
                                                         const Want& want = {}) const;

  // In the order of their LSNs. kFailedPrecondition if changes after `after` were trimmed: then an
  // index must be made anew from scan().
  Result<std::vector<Change>> changes(const ChangesRequest& request) const;

  std::optional<NameId> find_name(std::string_view name) const { return names_.find(name); }
  Result<std::string_view> name(NameId id) const { return names_.name(id); }
  kv::Cursor rows(kv::Family family, const kv::KeyRange& range = {}) const {
    return snapshot_.cursor(range, family);
  }

 private:
  // Of those that are not deleted.
  Result<std::vector<std::optional<HeadRow>>> read_heads(std::span<const DocId> ids) const;
  Result<StoredEntity> assemble(const DocId& id, const HeadRow& head, const Want& want) const;
  struct VectorOf {
    std::size_t entity;
    NameId space;
  };
  Status add_vectors(std::span<const VectorOf> of, std::span<const std::string> keys,
                     std::vector<std::optional<StoredEntity>>& entities) const;
  Result<Document> other_document(const DocumentRow& row, std::string_view value) const;
  Status add_content(std::string_view content, Entity& entity) const;
  Result<std::string> summary(const Hash128& hash) const;
  Result<StoredEdge> assemble_edge(const EdgePlace& place, const EdgeRow& row) const;
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
