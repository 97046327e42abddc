#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "index/query.h"
#include "index/shard/scope.h"
#include "index/shard/search.h"

namespace kin::index {
namespace {

using Hits = std::vector<ShardHit>;

DocSet numbers_of(const Hits& hits) {
  DocSet numbers;
  for (const ShardHit& hit : hits) numbers.add(static_cast<std::uint32_t>(hit.number));
  return numbers;
}

double best_of(const Hits& hits) {
  double best = 0;
  for (const ShardHit& hit : hits) best = std::max(best, hit.score);
  return best;
}

double part_of(double score, double best) {
  return best > 0 ? std::max(0.0, score) / best : 0;
}

// Scores of different kinds are compared as shares of the best of their kind. A hit keeps the legs
// of all stages that it passed, not only of the last.
void add_history(double keep, const Hits& before, Hits& now) {
  std::unordered_map<DocNumber, const ShardHit*> old;
  for (const ShardHit& hit : before) old.emplace(hit.number, &hit);
  const double best_before = best_of(before);
  const double best_now = best_of(now);
  for (ShardHit& hit : now) {
    const ShardHit& was = *old.at(hit.number);
    if (keep > 0)
      hit.score =
          keep * part_of(was.score, best_before) + (1 - keep) * part_of(hit.score, best_now);
    hit.legs.insert(hit.legs.begin(), was.legs.begin(), was.legs.end());
    if (!hit.trace) hit.trace = was.trace;
  }
}

// Runs the stages of one pipeline. One thread only.
class PipelineRun {
 public:
  explicit PipelineRun(const ShardView& view) : view_(view) {}

  Status operator()(const FindStage& stage) {
    if (!(stage.keep >= 0 && stage.keep <= 1))
      return Error{Code::kInvalidArgument,
                   "the share of the score that is kept must be from 0 to 1"};
    // Counts and pages are for searches without stages.
    ShardQuery query = stage.query;
    query.count = false;
    query.facets.clear();
    query.offset = 0;
    const DocSet among = numbers_of(hits_);
    KIN_TRY(ShardHits found, search_among(view_, query, first_ ? nullptr : &among));
    if (!first_) {
      add_history(stage.keep, hits_, found.hits);
      put_in_order(found.hits);
    }
    hits_ = std::move(found.hits);
    first_ = false;
    return Done{};
  }

  Status operator()(const ExpandStage& stage) {
    KIN_RETURN_IF_ERROR(needs_candidates());
    KIN_RETURN_IF_ERROR(check(stage.expand));
    if (stage.expand.hops == 0)
      return Error{Code::kInvalidArgument, "an expansion needs at least one hop"};
    return join_neighbours(view_, {.expand = stage.expand, .scope = {}}, hits_);
  }

  Status operator()(const FilterStage& stage) {
    KIN_RETURN_IF_ERROR(needs_candidates());
    const DocSet among = numbers_of(hits_);
    KIN_TRY(const ScopedDocs docs, ScopedDocs::of(view_, stage.scope, &among));
    const DocSet kept = docs.all();
    std::erase_if(hits_, [&](const ShardHit& hit) {
      return !kept.contains(static_cast<std::uint32_t>(hit.number));
    });
    return Done{};
  }

  Status operator()(const LimitStage& stage) {
    KIN_RETURN_IF_ERROR(needs_candidates());
    if (hits_.size() > stage.k) hits_.resize(stage.k);
    return Done{};
  }

  Hits take() { return std::move(hits_); }

 private:
  Status needs_candidates() const {
    if (!first_) return Done{};
    return Error{Code::kInvalidArgument, "the first stage must be a find stage"};
  }

  const ShardView& view_;
  bool first_ = true;
  Hits hits_;
};

}  // namespace

Result<ShardHits> run_pipeline(const ShardView& view, std::span<const Stage> stages) {
  if (stages.empty()) return Error{Code::kInvalidArgument, "a pipeline needs at least one stage"};
  PipelineRun run(view);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (Status done = std::visit(run, stages[i]); !done)
      return with_context(fmt::format("stage {}", i + 1), done.error());
  }
  return ShardHits{.hits = run.take()};
}

}  // namespace kin::index
