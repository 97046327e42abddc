#include "index/doc_identity.h"

#include <limits>

#include "base/hash.h"

namespace kin::index {
namespace {

Result<DocIdentity> identity_of(const TruthView& view, const DocumentRow& row) {
  DocIdentity identity{.kind = row.kind};
  std::optional<NameId> name;
  if (row.kind == DocKind::kEntity) {
    identity.id = *decode_entity_key(row.key);
  } else if (row.kind == DocKind::kEdge) {
    const EdgeKey edge = *decode_forward_key(row.key);
    identity.id = edge.from;
    identity.to = edge.to;
    identity.time = edge.since;
    name = edge.name;
  } else {
    const bool of_edge = row.kind == DocKind::kEdgeFragment;
    const FragmentKey fragment =
        *decode_fragment_key(of_edge ? kEdgeFragmentsFamily : kEntityFragmentsFamily, row.key);
    identity.id = fragment.id;
    identity.to = fragment.to;
    identity.time = fragment.time;
    identity.content = fragment.content;
    if (of_edge) name = fragment.name;
  }
  // Numbers of names differ between shards, so an identity has the name itself.
  if (name) {
    KIN_TRY(identity.name, view.name(*name));
  }
  return identity;
}

EdgeId edge_of(const DocIdentity& identity) {
  return {.from = identity.id, .name = identity.name, .to = identity.to};
}

const Version& version_of(const StoredDocument& document) {
  if (const auto* entity = std::get_if<StoredEntity>(&document)) return entity->head.version;
  if (const auto* edge = std::get_if<StoredEdge>(&document)) return edge->version;
  if (const auto* said = std::get_if<EntityFragmentRef>(&document)) return said->fragment.version;
  return std::get<EdgeFragmentRef>(document).fragment.version;
}

// Fragments are stored by time; the hash distinguishes fragments of the same moment.
std::optional<StoredFragment> pick(std::vector<StoredFragment> said, const DocIdentity& wanted) {
  for (StoredFragment& one : said) {
    if (hash64(one.fragment.text) == wanted.content) return std::move(one);
  }
  return std::nullopt;
}

Result<std::optional<StoredDocument>> read_other(const TruthView& view, const DocIdentity& wanted) {
  if (wanted.kind == DocKind::kEdge) {
    EdgeId id = edge_of(wanted);
    id.since = wanted.time;
    KIN_TRY(auto edge, view.edge(id));
    return edge ? std::optional<StoredDocument>(std::move(*edge)) : std::nullopt;
  }
  // All fragments of that moment.
  const FragmentRange moment{.from = wanted.time,
                             .until = wanted.time + 1,
                             .limit = std::numeric_limits<std::size_t>::max()};
  const bool of_edge = wanted.kind == DocKind::kEdgeFragment;
  KIN_TRY(auto said,
          of_edge ? view.fragments(edge_of(wanted), moment) : view.fragments(wanted.id, moment));
  auto found = pick(std::move(said), wanted);
  if (!found) return std::optional<StoredDocument>();
  if (of_edge)
    return std::optional<StoredDocument>(EdgeFragmentRef{edge_of(wanted), std::move(*found)});
  return std::optional<StoredDocument>(EntityFragmentRef{wanted.id, std::move(*found)});
}

}  // namespace

Result<std::vector<std::optional<DocIdentity>>> identify(const TruthView& view,
                                                         std::span<const DocNumber> numbers) {
  KIN_TRY(const auto rows, view.document_rows(numbers));
  std::vector<std::optional<DocIdentity>> found(numbers.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i]) continue;
    KIN_TRY(found[i], identity_of(view, *rows[i]));
  }
  return found;
}

Result<std::vector<std::uint64_t>> read_ages(const TruthView& view,
                                             std::span<const DocIdentity> identities) {
  std::vector<std::uint64_t> ages(identities.size(), 0);
  std::vector<DocId> ids;
  std::vector<std::size_t> entities;
  for (std::size_t i = 0; i < identities.size(); ++i) {
    if (identities[i].kind == DocKind::kEntity) {
      ids.push_back(identities[i].id);
      entities.push_back(i);
      continue;
    }
    KIN_TRY(const auto other, read_other(view, identities[i]));
    if (other) ages[i] = version_of(*other).lsn;
  }
  KIN_TRY(const auto heads, view.heads(ids));
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (heads[i]) ages[entities[i]] = heads[i]->version.lsn;
  }
  return ages;
}

Result<std::vector<std::optional<StoredDocument>>> read_documents(
    const TruthView& view, std::span<const DocIdentity> identities) {
  std::vector<std::optional<StoredDocument>> found(identities.size());
  std::vector<DocId> ids;
  std::vector<std::size_t> entities;
  for (std::size_t i = 0; i < identities.size(); ++i) {
    // Entities, nearly all of them, are read together.
    if (identities[i].kind == DocKind::kEntity) {
      ids.push_back(identities[i].id);
      entities.push_back(i);
      continue;
    }
    KIN_TRY(found[i], read_other(view, identities[i]));
  }
  KIN_TRY(auto stored, view.get_many(ids, {.vectors = false, .summaries = false}));
  for (std::size_t i = 0; i < stored.size(); ++i) {
    if (stored[i]) found[entities[i]] = std::move(*stored[i]);
  }
  return found;
}

}  // namespace kin::index
