#include "index/shard/legs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "index/shard/expand.h"
#include "index/text_query_legs.h"

namespace kin::index {
namespace {

void add_ranked(LegFound& found, std::uint32_t number, double score) {
  const auto rank = static_cast<std::uint32_t>(found.hits.size() + 1);
  found.hits.push_back({.number = number, .score = score, .rank = rank});
}

void add_counts(FacetCounts& to, const FacetCounts& from) {
  std::map<std::string_view, std::uint64_t> more;
  for (const FacetCount& value : from.values) more.emplace(value.value, value.count);
  for (FacetCount& value : to.values) {
    const auto known = more.find(value.value);
    if (known == more.end()) continue;
    value.count += known->second;
    more.erase(known);
  }
  for (const auto& [value, count] : more) to.values.push_back({std::string(value), count});
  // Validities have an order of their own.
  if (to.name != kValidity)
    std::ranges::stable_sort(to.values, std::ranges::greater(), &FacetCount::count);
}

bool has_direction(std::span<const float> vector) {
  return std::ranges::any_of(vector, [](float value) { return value != 0; });
}

}  // namespace

double similarity(Distance kind, float distance) {
  switch (kind) {
    case Distance::kCosine: return 1 - static_cast<double>(distance);
    case Distance::kDot: return -static_cast<double>(distance);
    case Distance::kL2: return 1 / (1 + static_cast<double>(distance));
  }
  KIN_UNREACHABLE();
}

Result<VectorQuestion> vector_question(const ShardView& view, const VectorLeg& leg,
                                       const std::optional<TextLeg>& text) {
  KIN_TRY(const SpaceView* space, view.space(leg.space));
  if (!leg.vector.empty()) return VectorQuestion{.space = space, .vector = leg.vector};
  if (space->source == nullptr)
    return Error{Code::kFailedPrecondition,
                 fmt::format("nothing makes vectors of texts for the space \"{}\": give a vector",
                             space->name)};
  std::string words = leg.text;
  if (words.empty() && text) {
    KIN_TRY(words, words_of(*text, view.text().options()));
  }
  if (words.empty())
    return Error{Code::kInvalidArgument, "a search by nearness needs a vector or a text"};
  KIN_TRY(std::vector<float> vector, space->source->query(words));
  if (!has_direction(vector)) vector.clear();
  return VectorQuestion{.space = space, .vector = std::move(vector)};
}

Status LegSearch::run() {
  if (query_.text) {
    KIN_RETURN_IF_ERROR(find_texts());
  } else {
    KIN_RETURN_IF_ERROR(summarise());
  }
  if (query_.vector) {
    KIN_RETURN_IF_ERROR(find_vectors());
  }
  if (query_.graph) {
    KIN_RETURN_IF_ERROR(find_reached());
  }
  if (found_.size() < 2 || query_.fusion.how != Fusion::kAlpha) return Done{};
  return score_missing();
}

TextSearch LegSearch::summing_search() const {
  TextSearch search = docs_.text();
  search.count = query_.count;
  search.facets = query_.facets;
  search.validity_at = query_.validity_at;
  search.statistics = query_.statistics;
  return search;
}

Status LegSearch::summarise() {
  if (!query_.count && query_.facets.empty()) return Done{};
  TextSearch search = summing_search();
  search.k = 0;
  KIN_TRY(summary_, view_.text().search({.kind = TextQuery::Kind::kEverything}, search));
  return Done{};
}

Status LegSearch::summarise_too(const std::vector<std::uint32_t>& numbers) {
  DocSet others{numbers};
  const TextSearch matching{.k = numbers.size(), .filter = &others};
  KIN_TRY(const TextHits matched, view_.text().search(text_, matching));
  for (const TextHit& hit : matched.hits) others.remove(hit.number);
  TextSearch search = summing_search();
  search.k = 0;
  search.filter = &others;
  KIN_TRY(const TextHits more, view_.text().search({.kind = TextQuery::Kind::kEverything}, search));
  if (summary_.count) *summary_.count += *more.count;
  for (std::size_t i = 0; i < summary_.facets.size(); ++i)
    add_counts(summary_.facets[i], more.facets[i]);
  return Done{};
}

Status LegSearch::find_texts() {
  KIN_TRY(text_, text_query(*query_.text, view_.text().options()));
  TextSearch search = summing_search();
  search.k = depth_;
  KIN_TRY(summary_, view_.text().search(text_, search));
  LegFound found{.leg = LegKind::kText};
  for (const TextHit& hit : summary_.hits) add_ranked(found, hit.number, hit.score);
  found_.push_back(std::move(found));
  return Done{};
}

Status LegSearch::find_vectors() {
  KIN_TRY(question_, vector_question(view_, *query_.vector, query_.text));
  LegFound found{.leg = LegKind::kVector};
  if (docs_.has_entities() && !question_.vector.empty()) {
    const VectorSearch how{.k = static_cast<std::uint32_t>(depth_),
                           .recall = query_.vector->recall,
                           .filter = docs_.entities(),
                           .exact = query_.vector->exact};
    KIN_TRY(const auto hits, view_.nearest(*question_.space, question_.vector, how));
    const Distance kind = question_.space->index->space().distance;
    for (const VectorHit& hit : hits) add_ranked(found, hit.id, similarity(kind, hit.distance));
  }
  found_.push_back(std::move(found));
  return Done{};
}

Status LegSearch::find_reached() {
  std::vector<Seed> seeds;
  std::set<DocId> starts;
  for (const DocId& id : query_.graph->from) {
    if (starts.insert(id).second) seeds.push_back({.id = id, .score = 1});
  }
  Expansion reach = query_.expand;
  reach.hops = std::max(reach.hops, 1U);
  KIN_TRY(auto reached, neighbours_of(view_, seeds, reach, query_.scope.as_of));
  LegFound found{.leg = LegKind::kGraph};
  const IdFilter* among = docs_.entities();
  for (Neighbour& one : reached) {
    if (found.hits.size() == reach.most || !docs_.has_entities()) break;
    if (starts.contains(one.id) || (among != nullptr && !among->contains(one.number))) continue;
    add_ranked(found, one.number, one.score);
    traces_.emplace(one.number, std::move(one.trace));
  }
  found_.push_back(std::move(found));
  return Done{};
}

// What one leg found is scored by the others too, so that not having been among their best is not
// taken for not matching at all.
Status LegSearch::score_missing() {
  std::set<std::uint32_t> all;
  for (const LegFound& found : found_) {
    for (const LegHit& hit : found.hits) all.insert(hit.number);
  }
  for (LegFound& found : found_) {
    std::set<std::uint32_t> missing = all;
    for (const LegHit& hit : found.hits) missing.erase(hit.number);
    const std::vector<std::uint32_t> numbers(missing.begin(), missing.end());
    if (numbers.empty()) continue;
    if (found.leg == LegKind::kText) {
      KIN_RETURN_IF_ERROR(score_texts(numbers, found));
    } else if (found.leg == LegKind::kVector && !question_.vector.empty()) {
      KIN_RETURN_IF_ERROR(score_vectors(numbers, found));
    }
  }
  return Done{};
}

Status LegSearch::score_texts(const std::vector<std::uint32_t>& numbers, LegFound& found) const {
  const DocSet among{numbers};
  const TextSearch search{.k = numbers.size(), .filter = &among, .statistics = query_.statistics};
  KIN_TRY(const TextHits hits, view_.text().search(text_, search));
  for (const TextHit& hit : hits.hits) found.hits.push_back({hit.number, hit.score, 0});
  return Done{};
}

Status LegSearch::score_vectors(const std::vector<std::uint32_t>& numbers, LegFound& found) const {
  const IdFilter among = IdFilter::of(numbers);
  const VectorSearch how{.k = static_cast<std::uint32_t>(numbers.size()), .filter = &among};
  KIN_TRY(const auto hits, view_.nearest(*question_.space, question_.vector, how));
  const Distance kind = question_.space->index->space().distance;
  for (const VectorHit& hit : hits)
    found.hits.push_back({hit.id, similarity(kind, hit.distance), 0});
  return Done{};
}

}  // namespace kin::index
