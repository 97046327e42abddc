#include "index/shard/scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "index/truth/partition_documents.h"

namespace kin::index {
namespace {

constexpr std::string_view kId = "id";
constexpr std::string_view kSource = "source";
constexpr std::string_view kAttribute = "attribute";

using Values = std::vector<std::string_view>;

bool is_facet(std::string_view name) {
  return name == "tag" || name == kSource || name == "type";
}

// A query for documents with any of `values` of a facet.
Result<TextQuery> any_value(const TextOptions& options, std::string_view name,
                            const Values& values) {
  const std::string facet(is_facet(name) ? name : kAttribute);
  if (std::ranges::find(options.facets, facet) == options.facets.end())
    return Error{Code::kInvalidArgument, fmt::format("this index has no filter \"{}\"", name)};
  TextQuery any;
  for (const std::string_view value : values) {
    any.should.push_back(
        {.kind = TextQuery::Kind::kPhrase,
         .text = is_facet(name) ? std::string(value) : fmt::format("{}={}", name, value),
         .field = facet});
  }
  return any;
}

Result<DocSet> numbers_of(const ShardView& view, const std::vector<DocId>& ids) {
  KIN_TRY(const auto heads, view.truth().heads(ids));
  DocSet numbers;
  for (const auto& head : heads) {
    if (head) numbers.add(static_cast<std::uint32_t>(head->number));
  }
  return numbers;
}

struct NumberOf {
  DocNumber operator()(const StoredEntity& entity) const { return entity.head.number; }
  DocNumber operator()(const StoredEdge& edge) const { return edge.number; }
  DocNumber operator()(const EntityFragmentRef& said) const { return said.fragment.number; }
  DocNumber operator()(const EdgeFragmentRef& said) const { return said.fragment.number; }
};

// The ids that a filter by "id" may mean: a UUID, a ULID, or the key that a source gives an entity.
std::vector<DocId> ids_called(const ShardView& view, std::string_view name) {
  // UUIDs and ULIDs are the same for every source.
  if (const auto uuid = parse_uuid(name)) return {*uuid};
  if (const auto ulid = parse_ulid(name)) return {*ulid};
  std::vector<DocId> ids;
  for (const std::string& source : view.text().facet_values(kSource))
    ids.push_back(doc_id_of(source, name));
  // Ids may have been made without the source, even of entities that name one.
  ids.push_back(doc_id_of("", name));
  return ids;
}

}  // namespace

Result<ScopedDocs> ScopedDocs::of(const ShardView& view, const Scope& scope, const DocSet* among) {
  ScopedDocs docs(view, scope);
  if (among != nullptr) docs.allowed_ = *among;
  KIN_RETURN_IF_ERROR(docs.keep_among());
  KIN_RETURN_IF_ERROR(docs.hide_partitions());
  KIN_RETURN_IF_ERROR(docs.add_filters());
  return docs;
}

void ScopedDocs::restrict(DocSet numbers) {
  if (allowed_) numbers.keep(*allowed_);
  allowed_ = std::move(numbers);
}

Status ScopedDocs::keep_among() {
  if (!scope_->among) return Done{};
  std::vector<DocId> entities;
  std::vector<DocIdentity> others;
  for (const DocIdentity& doc : *scope_->among) {
    if (doc.kind == DocKind::kEntity)
      entities.push_back(doc.id);
    else
      others.push_back(doc);
  }
  KIN_TRY(DocSet numbers, numbers_of(*view_, entities));
  KIN_TRY(const auto documents, read_documents(view_->truth(), others));
  for (const auto& document : documents) {
    const DocNumber number = document ? std::visit(NumberOf{}, *document) : kNoNumber;
    if (number != kNoNumber) numbers.add(static_cast<std::uint32_t>(number));
  }
  restrict(std::move(numbers));
  return Done{};
}

Status ScopedDocs::hide_partitions() {
  if (!scope_->partitions || view_->is_within(*scope_->partitions)) return Done{};
  hidden_ = view_->sections_outside(*scope_->partitions);
  DocSet hidden;
  if (const auto known = view_->known_outside(*scope_->partitions)) {
    for (const auto& numbers : *known) hidden.add(*numbers);
  } else {
    KIN_TRY(hidden, documents_outside(view_->truth(), *scope_->partitions));
  }
  if (hidden.size() == 0) return Done{};  // no restriction, so no set of all documents
  DocSet visible = DocSet::below(view_->truth().counters().numbers);
  visible.remove(hidden);
  restrict(std::move(visible));
  return Done{};
}

Status ScopedDocs::add_filters() {
  std::map<std::string_view, Values> by_name;
  for (const Filter& filter : scope_->filters) {
    if (filter.name.empty())
      return Error{Code::kInvalidArgument,
                   fmt::format("a filter for \"{}\" lacks a name", filter.value)};
    by_name[filter.name].push_back(filter.value);
  }
  TextQuery facets;
  // Facets are one query of the text index; ids are looked up in the truth.
  for (const auto& [name, values] : by_name) {
    if (name == kId) {
      std::vector<DocId> ids;
      for (const std::string_view value : values) {
        for (const DocId& id : ids_called(*view_, value)) ids.push_back(id);
      }
      KIN_TRY(DocSet numbers, numbers_of(*view_, ids));
      restrict(std::move(numbers));
      continue;
    }
    KIN_TRY(TextQuery any, any_value(view_->text().options(), name, values));
    facets.must.push_back(std::move(any));
  }
  if (!facets.must.empty())
    allowed_ = view_->text().matching(
        facets, {.filter = allowed_ ? &*allowed_ : nullptr, .hidden = hidden_});
  return Done{};
}

TextSearch ScopedDocs::text() const {
  return {.filter = allowed_ ? &*allowed_ : nullptr,
          .kinds = scope_->kinds,
          .valid_at = scope_->as_of,
          .hidden = hidden_};
}

DocSet ScopedDocs::all() const {
  const TextQuery everything{.kind = TextQuery::Kind::kEverything};
  return view_->text().matching(everything, text());
}

const IdFilter* ScopedDocs::entities() {
  if (!allowed_ && !scope_->as_of) return nullptr;
  // Made once: several legs ask for it.
  if (!entities_) entities_.emplace(scope_->as_of ? all() : *allowed_);
  return &*entities_;
}

}  // namespace kin::index
