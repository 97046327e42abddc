#include "index/truth/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>

namespace kin::index {
namespace {

Error missing(std::string_view what, const DocId& id) {
  return {Code::kDataLoss, fmt::format("the {} of entity {} is missing", what, to_string(id))};
}

bool wanted(const EntityHead& head, const Want& want) {
  return !want.as_of || head.valid.holds_at(*want.as_of);
}

// The family of a document that is not an entity. Entities are spread over several families, and
// get_many() puts them together.
kv::Family family_of(DocKind kind) {
  if (kind == DocKind::kEdge) return kForwardEdgesFamily;
  return kind == DocKind::kEntityFragment ? kEntityFragmentsFamily : kEdgeFragmentsFamily;
}

// The least key after `key`, for pages that continue where the last one ended.
std::string successor(const std::string& key) {
  return key + '\0';
}

// Most changes that a filtered page looks at: a selective filter must not read the whole log.
constexpr std::size_t kMostLooked = 100'000;

bool concerns(const Change& change, const std::set<PartitionId>& partitions) {
  return partitions.contains(change.partition) ||
         (change.kind == ChangeKind::kEntityAssigned && partitions.contains(change.former));
}

}  // namespace

TruthView::TruthView(const NameTable& names, kv::Snapshot snapshot, const Counters& counters)
    : names_(names), snapshot_(std::move(snapshot)), counters_(counters) {}

Result<Owners> TruthView::owners() const {
  Owners owners;
  kv::Cursor at = rows(kOwnersFamily, kv::keys_with(kOwnersPrefix));
  for (; at.valid(); at.next()) {
    const auto partition = decode_owner_key(at.key());
    if (!partition) return Error{Code::kDataLoss, "a key of owners is damaged"};
    KIN_TRY(owners[*partition], decode_owner(at.value()));
  }
  KIN_RETURN_IF_ERROR(at.status());
  return owners;
}

Result<std::vector<std::optional<HeadRow>>> TruthView::read_heads(
    std::span<const DocId> ids) const {
  std::vector<std::string> keys(ids.size());
  std::transform(ids.begin(), ids.end(), keys.begin(), entity_key);
  KIN_TRY(const auto values, snapshot_.get_many(keys, kEntitiesFamily));
  std::vector<std::optional<HeadRow>> rows(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!values[i]) continue;
    KIN_TRY(HeadRow row, decode_head(*values[i]));
    if (!row.deleted) rows[i] = std::move(row);
  }
  return rows;
}

Result<std::vector<std::optional<EntityHead>>> TruthView::heads(std::span<const DocId> ids) const {
  KIN_TRY(const auto rows, read_heads(ids));
  std::vector<std::optional<EntityHead>> heads(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i]) heads[i] = rows[i]->head;
  }
  return heads;
}

Result<std::string> TruthView::summary(const Hash128& hash) const {
  KIN_TRY(const auto row, snapshot_.get(summary_text_key(hash), kSummariesFamily));
  if (!row) return Error{Code::kDataLoss, "a summary is missing"};
  return decode_summary_text(*row);
}

Status TruthView::add_content(std::string_view content, Entity& entity) const {
  // Rows have numbers for the names of attributes, since few names occur in very many rows.
  KIN_TRY(ContentRow row, decode_content(content));
  entity.key = std::move(row.key);
  entity.title = std::move(row.title);
  entity.text = std::move(row.text);
  entity.tags = std::move(row.tags);
  for (AttributeRow& attribute : row.attributes) {
    KIN_TRY(const std::string_view name, names_.name(attribute.name));
    entity.attributes.push_back({.name = std::string(name), .value = std::move(attribute.value)});
  }
  return Done{};
}

Result<StoredEntity> TruthView::assemble(const DocId& id, const HeadRow& head,
                                         const Want& want) const {
  StoredEntity stored{.head = head.head, .entity = {.id = id, .valid = head.head.valid}};
  KIN_TRY(const std::string_view source, names_.name(head.source));
  stored.entity.source = source;
  if (want.summaries) {
    for (const Hash128& hash : head.summaries) {
      KIN_TRY(std::string text, summary(hash));
      stored.entity.summaries.push_back(std::move(text));
    }
  }
  return stored;
}

Status TruthView::add_vectors(std::span<const VectorOf> of, std::span<const std::string> keys,
                              std::vector<std::optional<StoredEntity>>& entities) const {
  KIN_TRY(const auto rows, snapshot_.get_many(keys, kVectorsFamily));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Entity& entity = entities[of[i].entity]->entity;
    // The head names the spaces, so a vector that is missing is damage and not absence.
    if (!rows[i]) return missing("vector", entity.id);
    KIN_TRY(std::vector<float> values, decode_vector(*rows[i]));
    KIN_TRY(const std::string_view name, names_.name(of[i].space));
    entity.vectors.push_back({.space = std::string(name), .values = std::move(values)});
  }
  return Done{};
}

Result<std::optional<StoredEntity>> TruthView::get(const DocId& id, const Want& want) const {
  KIN_TRY(auto found, get_many(std::span(&id, 1), want));
  return std::move(found[0]);
}

Result<std::vector<std::optional<StoredEntity>>> TruthView::get_many(std::span<const DocId> ids,
                                                                     const Want& want) const {
  KIN_TRY(const auto heads, read_heads(ids));
  // Contents are stored by number, and the numbers are in the heads: two reads for any number of
  // entities, and a third for their vectors.
  std::vector<std::size_t> places;
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!heads[i] || !wanted(heads[i]->head, want)) continue;
    places.push_back(i);
    keys.push_back(content_key(heads[i]->head.number));
  }
  KIN_TRY(const auto contents, snapshot_.get_many(keys, kContentsFamily));
  std::vector<std::optional<StoredEntity>> found(ids.size());
  // The vectors of all entities are read together, after their contents.
  std::vector<VectorOf> vectors_of;
  std::vector<std::string> vector_keys;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const DocId& id = ids[places[i]];
    const HeadRow& head = *heads[places[i]];
    if (!contents[i]) return missing("content", id);
    KIN_TRY(StoredEntity stored, assemble(id, head, want));
    KIN_RETURN_IF_ERROR(add_content(*contents[i], stored.entity));
    found[places[i]] = std::move(stored);
    if (!want.vectors) continue;
    for (const NameId space : head.spaces) {
      vectors_of.push_back({places[i], space});
      vector_keys.push_back(vector_key(head.head.number, space));
    }
  }
  KIN_RETURN_IF_ERROR(add_vectors(vectors_of, vector_keys, found));
  return found;
}

Result<std::vector<std::optional<std::vector<float>>>> TruthView::vectors(
    std::span<const DocNumber> numbers, std::string_view space) const {
  std::vector<std::optional<std::vector<float>>> found(numbers.size());
  const auto name = names_.find(space);
  if (!name) return found;  // no entity has ever had a vector of the space
  std::vector<std::string> keys(numbers.size());
  std::transform(numbers.begin(), numbers.end(), keys.begin(),
                 [&](DocNumber number) { return vector_key(number, *name); });
  KIN_TRY(const auto rows, snapshot_.get_many(keys, kVectorsFamily));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i]) continue;
    KIN_TRY(found[i], decode_vector(*rows[i]));
  }
  return found;
}

Result<TruthView::ScanStep> TruthView::next_members(const ScanRequest& request) const {
  // Members are ordered by number, as documents are, so both kinds of scans page alike.
  kv::KeyRange range = kv::keys_with(members_prefix(*request.partition));
  if (request.after) range.from = successor(member_key(*request.partition, *request.after));
  ScanStep step;
  kv::Cursor at = snapshot_.cursor(range, kMembersFamily);
  for (; at.valid() && step.ids.size() < request.limit; at.next()) {
    const auto number = decode_member_key(at.key());
    const auto id = decode_entity_key(at.value());
    if (!number || !id) return Error{Code::kDataLoss, "a row of members is damaged"};
    step.ids.push_back(*id);
    step.next = number;
  }
  KIN_RETURN_IF_ERROR(at.status());
  if (!at.valid()) step.next.reset();  // the last page
  return step;
}

Result<TruthView::ScanStep> TruthView::next_entities(const ScanRequest& request) const {
  kv::KeyRange range;
  if (request.after) range.from = successor(document_key(*request.after));
  ScanStep step;
  kv::Cursor at = snapshot_.cursor(range, kDocumentsFamily);
  for (; at.valid() && step.ids.size() < request.limit; at.next()) {
    KIN_TRY(const DocumentRow row, decode_document(at.value()));
    // The page ends at a document of any kind, so `next` is not always an entity.
    step.next = decode_document_key(at.key());
    if (row.kind == DocKind::kEntity) step.ids.push_back(*decode_entity_key(row.key));
  }
  KIN_RETURN_IF_ERROR(at.status());
  if (!at.valid()) step.next.reset();
  return step;
}

Result<std::set<PartitionId>> TruthView::partitions() const {
  std::set<PartitionId> found;
  for (kv::Cursor at = rows(kMembersFamily); at.valid();) {
    const auto partition = decode_member_partition(at.key());
    if (!partition) return Error{Code::kDataLoss, "a row of members is damaged"};
    found.insert(*partition);
    at.seek(member_key(*partition, kNoNumber));  // behind all of its members
    KIN_RETURN_IF_ERROR(at.status());
  }
  return found;
}

Result<ScanPage> TruthView::scan(const ScanRequest& request) const {
  if (request.limit == 0) return Error{Code::kInvalidArgument, "a page must have a limit above 0"};
  KIN_TRY(const ScanStep step, request.partition ? next_members(request) : next_entities(request));
  KIN_TRY(auto found, get_many(step.ids, request.want));
  ScanPage page{.next = step.next};
  for (auto& entity : found) {
    if (entity) page.entities.push_back(std::move(*entity));
  }
  return page;
}

Result<StoredEdge> TruthView::assemble_edge(const EdgeKey& key, const EdgeRow& row) const {
  KIN_TRY(const std::string_view name, names_.name(key.name));
  StoredEdge stored{.edge = {.id = {.from = key.from,
                                    .name = std::string(name),
                                    .to = key.to,
                                    .since = key.since},
                             .until = row.until,
                             .weight = row.weight},
                    .version = row.version,
                    .number = row.number};
  if (row.summary) {
    KIN_TRY(stored.edge.summary, summary(*row.summary));
  }
  return stored;
}

Result<std::optional<StoredEdge>> TruthView::edge(const EdgeId& id) const {
  const auto name = names_.find(id.name);
  if (!name) return std::optional<StoredEdge>();
  const EdgeKey key = edge_key(id, *name);
  KIN_TRY(const auto value, snapshot_.get(forward_key(key), kForwardEdgesFamily));
  if (!value) return std::optional<StoredEdge>();
  KIN_TRY(const EdgeRow row, decode_edge(*value));
  if (row.deleted) return std::optional<StoredEdge>();
  KIN_TRY(StoredEdge stored, assemble_edge(key, row));
  return std::optional(std::move(stored));
}

Result<std::vector<StoredFragment>> TruthView::read_fragments(kv::Family family,
                                                              std::string_view prefix,
                                                              const FragmentRange& range) const {
  std::deque<StoredFragment> newest;
  kv::Cursor at = snapshot_.cursor(kv::keys_with(prefix), family);
  for (; at.valid(); at.next()) {
    const auto key = decode_fragment_key(family, at.key());
    if (!key) return Error{Code::kDataLoss, "a key of fragments is damaged"};
    // Keys are in the order of times.
    if (key->time < range.from) continue;
    if (key->time >= range.until) break;
    KIN_TRY(FragmentRow row, decode_fragment(at.value()));
    if (row.deleted) continue;
    newest.push_back({.fragment = {.time = key->time, .text = std::move(row.text)},
                      .version = row.version,
                      .number = row.number});
    if (newest.size() > range.limit) newest.pop_front();  // keeps the newest ones
  }
  KIN_RETURN_IF_ERROR(at.status());
  return std::vector<StoredFragment>(std::make_move_iterator(newest.begin()),
                                     std::make_move_iterator(newest.end()));
}

Result<std::vector<StoredFragment>> TruthView::fragments(const DocId& id,
                                                         const FragmentRange& range) const {
  return read_fragments(kEntityFragmentsFamily, id.view(), range);
}

Result<std::vector<StoredFragment>> TruthView::fragments(const EdgeId& edge,
                                                         const FragmentRange& range) const {
  const auto name = names_.find(edge.name);
  if (!name) return std::vector<StoredFragment>();
  return read_fragments(kEdgeFragmentsFamily, periods_prefix(edge.from, *name, edge.to), range);
}

Result<std::vector<std::optional<DocumentRow>>> TruthView::document_rows(
    std::span<const DocNumber> numbers) const {
  std::vector<std::string> keys(numbers.size());
  std::transform(numbers.begin(), numbers.end(), keys.begin(), document_key);
  KIN_TRY(const auto values, snapshot_.get_many(keys, kDocumentsFamily));
  std::vector<std::optional<DocumentRow>> rows(numbers.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!values[i]) continue;
    KIN_TRY(rows[i], decode_document(*values[i]));
  }
  return rows;
}

Result<std::optional<StoredDocument>> TruthView::document(DocNumber number,
                                                          const Want& want) const {
  KIN_TRY(auto found, documents(std::span(&number, 1), want));
  return std::move(found[0]);
}

Result<std::vector<std::optional<StoredDocument>>> TruthView::documents(
    std::span<const DocNumber> numbers, const Want& want) const {
  KIN_TRY(const auto rows, document_rows(numbers));
  std::vector<std::optional<StoredDocument>> found(numbers.size());
  std::vector<DocId> ids;
  // One read for each kind, however many documents there are.
  std::array<std::vector<std::size_t>, 4> of_kind;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i]) continue;
    of_kind[static_cast<std::size_t>(rows[i]->kind)].push_back(i);
    if (rows[i]->kind == DocKind::kEntity) ids.push_back(*decode_entity_key(rows[i]->key));
  }
  KIN_TRY(auto entities, get_many(ids, want));
  for (std::size_t i = 0; i < entities.size(); ++i) {
    if (entities[i]) found[of_kind[0][i]] = std::move(*entities[i]);
  }
  for (const DocKind kind : {DocKind::kEdge, DocKind::kEntityFragment, DocKind::kEdgeFragment}) {
    const std::vector<std::size_t>& all = of_kind[static_cast<std::size_t>(kind)];
    std::vector<std::string> keys(all.size());
    std::ranges::transform(all, keys.begin(), [&](std::size_t i) { return rows[i]->key; });
    KIN_TRY(const auto values, snapshot_.get_many(keys, family_of(kind)));
    for (std::size_t i = 0; i < all.size(); ++i) {
      // The row of a document goes with its thing, in one batch.
      if (!values[i]) return Error{Code::kDataLoss, "an edge or a fragment is missing"};
      KIN_TRY(found[all[i]], other_document(*rows[all[i]], *values[i]));
    }
  }
  return found;
}

Result<StoredDocument> TruthView::other_document(const DocumentRow& document,
                                                 std::string_view value) const {
  if (document.kind == DocKind::kEdge) {
    KIN_TRY(const EdgeRow row, decode_edge(value));
    KIN_TRY(StoredEdge edge, assemble_edge(*decode_forward_key(document.key), row));
    return StoredDocument(std::move(edge));
  }
  KIN_TRY(FragmentRow row, decode_fragment(value));
  const bool of_edge = document.kind == DocKind::kEdgeFragment;
  const FragmentKey key = *decode_fragment_key(family_of(document.kind), document.key);
  StoredFragment fragment{.fragment = {.time = key.time, .text = std::move(row.text)},
                          .version = row.version,
                          .number = row.number};
  if (!of_edge)
    return StoredDocument(EntityFragmentRef{.id = key.id, .fragment = std::move(fragment)});
  KIN_TRY(const std::string_view name, names_.name(key.name));
  return StoredDocument(
      EdgeFragmentRef{.edge = {.from = key.id, .name = std::string(name), .to = key.to},
                      .fragment = std::move(fragment)});
}

Result<ChangesPage> TruthView::changes(const ChangesRequest& request) const {
  if (request.after < counters_.trimmed) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("changes after {} are needed, and the log begins after {}",
                             request.after, counters_.trimmed)};
  }
  ChangesPage page{.up_to = request.after};
  // Without a filter every change that is looked at is on the page.
  std::size_t left = request.partitions ? kMostLooked : request.limit;
  kv::Cursor at = snapshot_.cursor({.from = change_key(request.after + 1)}, kChangelogFamily);
  for (; at.valid() && page.changes.size() < request.limit && left > 0; at.next(), --left) {
    const auto lsn = decode_change_key(at.key());
    if (!lsn) return Error{Code::kDataLoss, "a key of the changelog is damaged"};
    KIN_TRY(Change change, decode_change(*lsn, at.value()));
    if (!request.partitions || concerns(change, *request.partitions))
      page.changes.push_back(change);
    page.up_to = *lsn;
  }
  KIN_RETURN_IF_ERROR(at.status());
  return page;
}

}  // namespace kin::index
