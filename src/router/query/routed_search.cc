#include "router/query/routed_search.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "index/find.h"
#include "router/calls/places.h"
#include "router/query/edge_reader.h"
#include "router/query/showing.h"
#include "router/query/walks.h"

namespace kin::router {
namespace {

// A search over several shards may miss neighbours that are on shards it passes over, and
// neighbours that a shard does not find among its own. These are the shares of both in what the
// search as a whole may miss.
constexpr double kPassedOver = 0.4;
constexpr double kNotFound = 0.5;

// Hits that each of several shards shows. Most pages need no more; a few cost another round.
std::size_t shown_by_each(std::size_t k, std::size_t shards) {
  return shards < 2 ? k : std::min(k, 2 * k / shards + 1);
}

// Moves what shows a document to place `to`. False if the shard did not show it.
bool take_shown(const index::Findings& found, FindReply& reply, const index::DocIdentity& doc,
                Presented& all, std::size_t to) {
  for (std::size_t i = 0; i < reply.shown.size() && i < reply.presented.documents.size(); ++i) {
    if (reply.shown[i] >= found.candidates.size() || found.candidates[reply.shown[i]] != doc)
      continue;
    all.documents[to] = std::move(reply.presented.documents[i]);
    if (i < reply.presented.snippets.size())
      all.snippets[to] = std::move(reply.presented.snippets[i]);
    if (i < reply.presented.explanations.size())
      all.explanations[to] = std::move(reply.presented.explanations[i]);
    return true;
  }
  return false;
}

}  // namespace

template <typename T>
Status RoutedSearch::accept(std::uint32_t shard, const Told<T>& told) {
  map_changed_ = map_changed_ || told.map_changed;
  if (told.map_changed || told.reply.ok()) return Done{};
  const Error& error = told.reply.error();
  // A query that makes no sense makes none on the others either.
  if (!options_.partial || error.code == Code::kInvalidArgument)
    return with_context(known_->map.shards[shard], error);
  missing_.push_back(shards_.problem(known_, shard, error));
  return Done{};
}

Result<RoutedHits> RoutedSearch::run() {
  if (query_.graph && (query_.text || query_.vector))
    return Error{Code::kInvalidArgument,
                 "a search over several shards by links cannot be joined with one by words or "
                 "vectors (use an expansion)"};
  MapPauses pauses(shards_.options());
  for (;;) {
    known_ = shards_.known();
    KIN_TRY(auto hits, attempt());
    if (hits) return std::move(*hits);
    KIN_RETURN_IF_ERROR(begin_again(pauses));
  }
}

Status RoutedSearch::begin_again(MapPauses& pauses) {
  KIN_RETURN_IF_ERROR(shards_.refresh());
  if (shards_.is_over(deadline_))
    return Error{Code::kUnavailable, "the map of the index changed during the search"};
  if (shards_.known() == known_) pauses.sleep();
  return Done{};
}

Result<std::vector<index::ShardHit>> RoutedSearch::join(std::vector<index::ShardHit> hits) {
  MapPauses pauses(shards_.options());
  for (;;) {
    known_ = shards_.known();
    map_changed_ = false;
    std::vector<index::ShardHit> joined = hits;
    KIN_RETURN_IF_ERROR(join_neighbours(joined));
    if (!map_changed_) return joined;
    KIN_RETURN_IF_ERROR(begin_again(pauses));
  }
}

std::vector<std::uint32_t> RoutedSearch::all_shards() const {
  std::vector<bool> owns(known_->map.shards.size(), false);
  for (const PartitionOwner& owner : known_->map.partitions) owns[owner.shard] = true;
  std::vector<std::uint32_t> all;
  for (std::uint32_t shard = 0; shard < owns.size(); ++shard) {
    if (owns[shard]) all.push_back(shard);
  }
  return all;
}

index::ShardQuery RoutedSearch::query_for(std::uint32_t shard) const {
  index::ShardQuery query = query_;
  query.scope.partitions = known_->map.partitions_of(shard);
  query.statistics = nullptr;
  if (query.vector && several_) query.vector->recall = 1 - (1 - query.vector->recall) * kNotFound;
  return query;
}

// A shard that does not answer must leave time for those that do.
Limits RoutedSearch::round_limits() const {
  if (!options_.partial) return {deadline_, options_.staleness};
  const SteadyTime now = shards_.options().clock->steady_now();
  return {now + std::max(std::chrono::nanoseconds{0}, (deadline_ - now) / 2), options_.staleness};
}

bool RoutedSearch::can_skip_by_distance() const {
  // Facets and counts need every shard, and so does a search that must miss nothing.
  return query_.vector && !query_.text && !query_.vector->exact && !query_.vector->vector.empty() &&
         !query_.count && query_.facets.empty() && !query_.scope.among && known_->centroids &&
         (query_.vector->space.empty() || query_.vector->space == known_->centroids->space());
}

Result<std::optional<RoutedHits>> RoutedSearch::attempt() {
  map_changed_ = false;
  missing_.clear();
  forget_found();
  statistics_.reset();
  const std::vector<std::uint32_t> shards = all_shards();
  several_ = shards.size() > 1;
  if (query_.graph)
    KIN_RETURN_IF_ERROR(find_reached(shards));
  else if (query_.text && shards.size() > 1)
    KIN_RETURN_IF_ERROR(find_words(shards));  // one shard has all statistics by itself
  else
    KIN_RETURN_IF_ERROR(can_skip_by_distance() ? find_near() : find_at(shards));
  if (map_changed_) return std::optional<RoutedHits>();
  RoutedHits hits{.found = index::fuse(found_, query_), .asked = found_.size()};
  for (index::ShardHit& hit : hits.found.hits)
    hit.shard = query_.graph ? reached_at_.at(hit.doc.id) : found_at_[hit.shard];
  if (query_.expand.hops > 0 && !query_.graph)
    KIN_RETURN_IF_ERROR(join_neighbours(hits.found.hits));
  if (map_changed_) return std::optional<RoutedHits>();
  KIN_RETURN_IF_ERROR(add_joined(hits));
  index::keep_page(query_, hits.found);
  KIN_TRY(const bool shown, show(hits));
  if (map_changed_ || !shown) return std::optional<RoutedHits>();
  hits.missing = std::move(missing_);
  hits.statistics = std::move(statistics_);
  return std::optional(std::move(hits));
}

Status RoutedSearch::find_words(std::vector<std::uint32_t> shards) {
  std::vector<std::string> names;
  for (const std::uint32_t shard : shards) names.push_back(known_->name_of(shard));
  KIN_TRY(auto parts, shards_.statistics().find(names, *query_.text));
  if (parts) {
    KIN_TRY(const bool valid, find_unchanged(shards, *parts));
    if (valid || map_changed_) return Done{};
    forget_found();
  } else {
    KIN_TRY(parts, read_statistics(shards));
    if (map_changed_) return Done{};
  }
  sum_up(*parts);
  // All statistics are of states after the search began, so that nothing acknowledged is missed
  // where there is none of the words.
  if (!query_.vector) {
    KIN_TRY(shards, matching(shards, *parts));
  }
  // A shard that did not answer is not asked again.
  std::erase_if(shards, [&](std::uint32_t shard) { return is_missing(shard); });
  return find_at(shards);
}

void RoutedSearch::sum_up(const std::vector<StatisticsReply>& parts) {
  statistics_ = index::TextStatistics{};
  for (const StatisticsReply& part : parts) statistics_->add(part.text);
}

bool RoutedSearch::is_missing(std::uint32_t shard) const {
  return std::ranges::find(missing_, shard, &ShardProblem::shard) != missing_.end();
}

Result<std::vector<StatisticsReply>> RoutedSearch::read_statistics(
    const std::vector<std::uint32_t>& shards) {
  std::vector<Ask<StatisticsRequest>> asks;
  for (const std::uint32_t shard : shards) asks.push_back({shard, {.query = query_for(shard)}});
  auto told = shards_.ask(known_, asks, round_limits());
  std::vector<StatisticsReply> parts(shards.size());
  for (std::size_t i = 0; i < told.size(); ++i) {
    KIN_RETURN_IF_ERROR(accept(shards[i], told[i]));
    if (told[i].map_changed || !told[i].reply.ok()) continue;
    parts[i] = std::move(*told[i].reply);
    shards_.statistics().learn(known_->name_of(shards[i]), parts[i]);
  }
  return parts;
}

Result<bool> RoutedSearch::find_unchanged(const std::vector<std::uint32_t>& shards,
                                          std::vector<StatisticsReply>& parts) {
  sum_up(parts);
  std::vector<Ask<FindRequest>> asks;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    asks.push_back({shards[i], request_for(shards[i], shards.size())});
    asks.back().request.state = parts[i].state;
  }
  auto told = shards_.ask(known_, asks, round_limits());
  bool valid = true;
  for (std::size_t i = 0; i < told.size(); ++i) {
    KIN_RETURN_IF_ERROR(accept(shards[i], told[i]));
    if (told[i].map_changed || !told[i].reply.ok()) continue;
    if (told[i].reply->changed) {
      valid = false;
      parts[i] = std::move(*told[i].reply->changed);
      shards_.statistics().learn(known_->name_of(shards[i]), parts[i]);
    } else {
      keep(shards[i], std::move(*told[i].reply));
    }
  }
  return valid;
}

Result<std::vector<std::uint32_t>> RoutedSearch::matching(
    const std::vector<std::uint32_t>& shards, const std::vector<StatisticsReply>& parts) const {
  std::vector<std::uint32_t> found;
  std::vector<std::uint32_t> answering;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    if (is_missing(shards[i])) continue;
    answering.push_back(shards[i]);
    KIN_TRY(const bool may, shards_.statistics().may_match(*query_.text, parts[i].text));
    if (may) found.push_back(shards[i]);
  }
  // Somebody has to say that nothing matches.
  if (found.empty() && !answering.empty()) found.push_back(answering.front());
  return found;
}

FindRequest RoutedSearch::request_for(std::uint32_t shard, std::size_t asked) const {
  FindRequest request{.query = query_for(shard), .statistics = statistics_};
  // Of later pages a shard cannot tell which of its hits are on them.
  if (options_.show && query_.offset == 0) {
    request.show = options_.show;
    request.show->most = shown_by_each(query_.k, asked);
  }
  return request;
}

void RoutedSearch::forget_found() {
  found_.clear();
  found_at_.clear();
  replies_.clear();
}

void RoutedSearch::keep(std::uint32_t shard, FindReply reply) {
  found_at_.push_back(shard);
  found_.push_back(std::move(reply.found));
  replies_.push_back(std::move(reply));
}

Status RoutedSearch::find_at(const std::vector<std::uint32_t>& shards) {
  std::vector<Ask<FindRequest>> asks;
  for (const std::uint32_t shard : shards)
    asks.push_back({shard, request_for(shard, shards.size())});
  auto told = shards_.ask(known_, asks, round_limits());
  for (std::size_t i = 0; i < told.size(); ++i) {
    KIN_RETURN_IF_ERROR(accept(shards[i], told[i]));
    if (!told[i].map_changed && told[i].reply.ok()) keep(shards[i], std::move(*told[i].reply));
  }
  return Done{};
}

Result<bool> RoutedSearch::show(RoutedHits& hits) {
  if (!options_.show || map_changed_) return true;
  const std::vector<index::ShardHit>& all = hits.found.hits;
  hits.shown.documents.resize(all.size());
  hits.shown.snippets.resize(all.size());
  hits.shown.explanations.resize(all.size());
  std::vector<index::ShardHit> rest;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto at = std::ranges::find(found_at_, static_cast<std::uint32_t>(all[i].shard));
    const auto place = static_cast<std::size_t>(at - found_at_.begin());
    if (at != found_at_.end() &&
        take_shown(found_[place], replies_[place], all[i].doc, hits.shown, i))
      continue;
    rest.push_back(all[i]);
    places.push_back(i);
  }
  if (rest.empty()) return true;
  KIN_TRY(auto more, read_shown(shards_, known_, rest, *options_.show,
                                {deadline_, options_.staleness},
                                statistics_ ? &*statistics_ : nullptr));
  if (!more) return false;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    hits.shown.documents[places[i]] = std::move(more->documents[i]);
    hits.shown.snippets[places[i]] = std::move(more->snippets[i]);
    hits.shown.explanations[places[i]] = std::move(more->explanations[i]);
  }
  return true;
}

Result<std::vector<RoutedSearch::Reached>> RoutedSearch::reach(std::span<const index::Seed> seeds,
                                                               const index::Expansion& expand) {
  std::vector<Reached> reached;
  const index::TraverseRequest request = index::walk_from(seeds, expand, query_.scope);
  EdgeReader reader(shards_, known_, request.filter, {deadline_, options_.staleness});
  const auto found = walk(reader, request);
  map_changed_ = map_changed_ || reader.map_changed();
  if (map_changed_) return reached;
  if (!found.ok()) return found.error();
  for (index::Neighbour& one : index::spread(*found, seeds, expand))
    reached.push_back({.neighbour = std::move(one)});
  KIN_RETURN_IF_ERROR(keep_in_scope(reached));
  std::ranges::sort(reached, [](const Reached& a, const Reached& b) {
    if (a.neighbour.score != b.neighbour.score) return a.neighbour.score > b.neighbour.score;
    return a.age != b.age ? a.age < b.age : a.neighbour.id < b.neighbour.id;
  });
  return reached;
}

Status RoutedSearch::keep_in_scope(std::vector<Reached>& reached) {
  std::vector<DocId> ids;
  for (const Reached& one : reached) ids.push_back(one.neighbour.id);
  const PlacesFound places = locate(shards_, known_, ids, {deadline_, options_.staleness});
  map_changed_ = map_changed_ || places.map_changed;
  if (map_changed_) return Done{};
  if (!places.problems.empty())
    return with_context(places.problems[0].address, places.problems[0].error);
  std::map<std::uint32_t, ScopeRequest> by_shard;
  std::map<std::uint32_t, std::vector<std::size_t>> indexes;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const auto place = places.places.find(ids[i]);
    if (place == places.places.end()) continue;
    reached[i].shard = known_->map.shard_of(place->second);
    by_shard[reached[i].shard].ids.push_back(ids[i]);
    indexes[reached[i].shard].push_back(i);
  }
  std::vector<Ask<ScopeRequest>> asks;
  for (auto& [shard, request] : by_shard) {
    request.scope = query_.scope;
    request.scope.partitions = known_->map.partitions_of(shard);
    asks.push_back({shard, std::move(request)});
  }
  auto told = shards_.ask(known_, asks, round_limits());
  std::vector<bool> in_scope(reached.size(), false);
  for (std::size_t a = 0; a < asks.size(); ++a) {
    KIN_RETURN_IF_ERROR(accept(asks[a].shard, told[a]));
    if (told[a].map_changed || !told[a].reply.ok()) continue;
    const auto& ages = told[a].reply->ages;
    const auto& where = indexes[asks[a].shard];
    for (std::size_t i = 0; i < where.size() && i < ages.size(); ++i) {
      in_scope[where[i]] = ages[i].has_value();
      reached[where[i]].age = ages[i].value_or(0);
    }
  }
  std::vector<Reached> kept;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    if (in_scope[i]) kept.push_back(std::move(reached[i]));
  }
  reached = std::move(kept);
  return Done{};
}

// The graph leg, as the findings of one shard.
Status RoutedSearch::find_reached(const std::vector<std::uint32_t>& shards) {
  const std::vector<index::Seed> seeds = index::seeds_of(*query_.graph);
  index::Expansion expand = query_.expand;
  expand.hops = std::max(expand.hops, 1U);
  KIN_TRY(auto reached, reach(seeds, expand));
  if (map_changed_) return Done{};
  FindReply reply;
  index::LegFound& leg =
      reply.found.legs.emplace_back(index::LegFound{.leg = index::LegKind::kGraph});
  for (Reached& one : reached) {
    if (leg.hits.size() == expand.most) break;
    const DocId& id = one.neighbour.id;
    // Starts are not hits.
    if (std::ranges::find(query_.graph->from, id) != query_.graph->from.end()) continue;
    const auto place = static_cast<std::uint32_t>(reply.found.candidates.size());
    reply.found.candidates.push_back({.id = id});
    reply.found.ages.push_back(one.age);
    leg.hits.push_back({.document = place, .score = one.neighbour.score, .rank = place + 1});
    reply.found.traces.emplace(place, std::move(one.neighbour.trace));
    reached_at_[id] = one.shard;
  }
  KIN_RETURN_IF_ERROR(add_facets(shards, reply.found));
  keep(0, std::move(reply));
  return Done{};
}

// Facets of a search by links alone are those of the scope.
Status RoutedSearch::add_facets(const std::vector<std::uint32_t>& shards, index::Findings& found) {
  if (query_.facets.empty()) return Done{};
  std::vector<Ask<FindRequest>> asks;
  for (const std::uint32_t shard : shards) {
    index::ShardQuery query = query_for(shard);
    query.graph.reset();
    query.expand = {};
    query.k = 0;
    query.offset = 0;
    asks.push_back({shard, {.query = std::move(query)}});
  }
  auto told = shards_.ask(known_, asks, round_limits());
  for (const std::string& facet : query_.facets) found.facets.push_back({.name = facet});
  for (std::size_t a = 0; a < asks.size(); ++a) {
    KIN_RETURN_IF_ERROR(accept(asks[a].shard, told[a]));
    if (told[a].map_changed || !told[a].reply.ok()) continue;
    const auto& facets = told[a].reply->found.facets;
    for (std::size_t f = 0; f < facets.size() && f < found.facets.size(); ++f)
      index::add_counts(facets[f], found.facets[f]);
  }
  return Done{};
}

// As index::search() does on one shard.
Status RoutedSearch::join_neighbours(std::vector<index::ShardHit>& hits) {
  std::vector<index::Seed> seeds;
  std::map<index::DocIdentity, std::size_t> places;
  // A product or a cosine below 0 passes on nothing.
  for (std::size_t i = 0; i < hits.size(); ++i) {
    seeds.push_back({.id = hits[i].doc.id, .score = std::max(0.0, hits[i].score)});
    places.emplace(hits[i].doc, i);
  }
  KIN_TRY(auto reached, reach(seeds, query_.expand));
  std::uint32_t joined = 0;
  for (Reached& one : reached) {
    if (joined == query_.expand.most) break;
    const index::DocIdentity doc{.id = one.neighbour.id};
    const auto [place, fresh] = places.emplace(doc, hits.size());
    if (fresh) hits.push_back({.doc = doc, .age = one.age, .shard = one.shard});
    index::ShardHit& hit = hits[place->second];
    if (one.neighbour.score > hit.score) index::lift(hit, std::move(one.neighbour), ++joined);
  }
  index::put_in_order_of_age(hits);
  return Done{};
}

Status RoutedSearch::find_near() {
  NearSearch search{.vector = query_.vector->vector,
                    .recall = 1 - (1 - query_.vector->recall) * kPassedOver};
  KIN_TRY(const auto near, known_->centroids->near(search, known_->map.partitions));
  KIN_RETURN_IF_ERROR(find_at(near));
  if (map_changed_ || query_.offset + query_.k == 0) return Done{};
  // The last hit may be farther than expected: the page is longer, or a filter leaves few
  // documents. Then more shards can have nearer ones; all, if there are too few hits.
  std::vector<std::uint32_t> further = all_shards();
  if ((search.last = last_similarity())) {
    KIN_TRY(further, known_->centroids->near(search, known_->map.partitions));
  }
  std::erase_if(further,
                [&](std::uint32_t shard) { return std::ranges::find(near, shard) != near.end(); });
  return further.empty() ? Done{} : find_at(further);
}

std::optional<double> RoutedSearch::last_similarity() const {
  std::vector<double> scores;
  for (const index::Findings& found : found_) {
    for (const index::LegFound& leg : found.legs) {
      for (const index::LegHit& hit : leg.hits) scores.push_back(hit.score);
    }
  }
  const std::size_t wanted = query_.offset + query_.k;
  if (scores.size() < wanted) return {};
  const auto last = scores.begin() + static_cast<std::ptrdiff_t>(wanted - 1);
  std::nth_element(scores.begin(), last, scores.end(), std::greater<>());
  return *last;
}

Status RoutedSearch::add_joined(RoutedHits& hits) {
  if (!query_.text || query_.words_only || (!query_.count && query_.facets.empty())) return Done{};
  std::map<std::uint32_t, std::vector<DocId>> by_shard;
  for (const index::ShardHit& hit : hits.found.hits) {
    const bool by_text =
        std::ranges::find(hit.legs, index::LegKind::kText, &index::LegScore::leg) != hit.legs.end();
    if (!by_text) by_shard[static_cast<std::uint32_t>(hit.shard)].push_back(hit.doc.id);
  }
  std::vector<Ask<SumRequest>> asks;
  for (auto& [shard, ids] : by_shard)
    asks.push_back({shard, {.query = query_for(shard), .joined = std::move(ids)}});
  auto told = shards_.ask(known_, asks, round_limits());
  for (std::size_t i = 0; i < told.size(); ++i) {
    KIN_RETURN_IF_ERROR(accept(asks[i].shard, told[i]));
    if (told[i].map_changed || !told[i].reply.ok()) continue;
    const Sums& sums = *told[i].reply;
    if (hits.found.count && sums.count) *hits.found.count += *sums.count;
    for (std::size_t f = 0; f < hits.found.facets.size() && f < sums.facets.size(); ++f)
      index::add_counts(sums.facets[f], hits.found.facets[f]);
  }
  return Done{};
}

}  // namespace kin::router
