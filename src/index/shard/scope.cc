#include "index/shard/scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace kin::index {
namespace {

constexpr std::string_view kId = "id";
constexpr std::string_view kSource = "source";
constexpr std::string_view kAttribute = "attribute";

using Values = std::vector<std::string_view>;

bool is_facet(std::string_view name) {
  return name == "tag" || name == kSource || name == "type";
}

// Any of `values` of a facet.
Result<TextQuery> any_value(const TextOptions& options, std::string_view name,
                            const Values& values) {
  const std::string facet(is_facet(name) ? name : kAttribute);
  if (std::ranges::find(options.facets, facet) == options.facets.end())
    return Error{Code::kInvalidArgument,
                 fmt::format("nothing can be filtered by \"{}\" here", name)};
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

}  // namespace

std::vector<DocId> ids_called(const ShardView& view, const Scope& scope, std::string_view name) {
  // An id of its own is the same whatever the source.
  if (const auto uuid = parse_uuid(name)) return {*uuid};
  if (const auto ulid = parse_ulid(name)) return {*ulid};
  std::vector<std::string> sources;
  for (const Filter& filter : scope.filters) {
    if (filter.name == kSource) sources.push_back(filter.value);
  }
  if (sources.empty()) sources = view.text().facet_values(kSource);
  std::vector<DocId> ids;
  for (const std::string& source : sources) ids.push_back(doc_id_of(source, name));
  return ids;
}

Result<ScopedDocs> ScopedDocs::of(const ShardView& view, const Scope& scope, const DocSet* among) {
  ScopedDocs docs(view, scope);
  KIN_RETURN_IF_ERROR(docs.add_filters(among));
  return docs;
}

Status ScopedDocs::add_filters(const DocSet* among) {
  if (among != nullptr) named_ = *among;
  std::map<std::string_view, Values> by_name;
  for (const Filter& filter : scope_->filters) {
    if (filter.name.empty())
      return Error{Code::kInvalidArgument,
                   fmt::format("a filter for \"{}\" lacks a name", filter.value)};
    by_name[filter.name].push_back(filter.value);
  }
  TextQuery facets;
  for (const auto& [name, values] : by_name) {
    if (name == kId) {
      std::vector<DocId> ids;
      for (const std::string_view value : values) {
        for (const DocId& id : ids_called(*view_, *scope_, value)) ids.push_back(id);
      }
      KIN_TRY(DocSet numbers, numbers_of(*view_, ids));
      if (named_) numbers.keep(*named_);
      named_ = std::move(numbers);
      continue;
    }
    KIN_TRY(TextQuery any, any_value(view_->text().options(), name, values));
    facets.must.push_back(std::move(any));
  }
  if (!facets.must.empty())
    named_ = view_->text().matching(facets, {.filter = named_ ? &*named_ : nullptr});
  return Done{};
}

TextSearch ScopedDocs::text() const {
  return {.filter = named_ ? &*named_ : nullptr, .kinds = scope_->kinds, .valid_at = scope_->as_of};
}

DocSet ScopedDocs::all() const {
  const TextQuery everything{.kind = TextQuery::Kind::kEverything};
  return view_->text().matching(everything, text());
}

const IdFilter* ScopedDocs::entities() {
  if (!named_ && !scope_->as_of) return nullptr;
  if (!entities_) entities_.emplace(scope_->as_of ? all() : *named_);
  return &*entities_;
}

}  // namespace kin::index
