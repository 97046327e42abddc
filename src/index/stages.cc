#include "index/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "index/shard/search.h"

namespace kin::index {
namespace {

double best_of(std::span<const ShardHit> hits) {
  double best = 0;
  for (const ShardHit& hit : hits) best = std::max(best, hit.score);
  return best;
}

double part_of(double score, double best) {
  return best > 0 ? std::max(0.0, score) / best : 0;
}

Error wrong(const char* what) {
  return {Code::kInvalidArgument, what};
}

struct CheckStage {
  Status operator()(const FindStage& stage) const {
    if (stage.keep >= 0 && stage.keep <= 1) return Done{};
    return wrong("the share of the score that is kept must be from 0 to 1");
  }
  Status operator()(const ExpandStage& stage) const {
    if (stage.expand.hops == 0) return wrong("an expansion needs at least one hop");
    return check(stage.expand);
  }
  Status operator()(const FilterStage&) const { return Done{}; }
  Status operator()(const LimitStage&) const { return Done{}; }
};

}  // namespace

Status check_stages(std::span<const Stage> stages) {
  if (stages.empty()) return wrong("a pipeline needs at least one stage");
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const bool lacks_candidates = i == 0 && !std::holds_alternative<FindStage>(stages[i]);
    const Status valid = lacks_candidates ? Status(wrong("the first stage must be a find stage"))
                                          : std::visit(CheckStage{}, stages[i]);
    if (!valid.ok()) return with_context(fmt::format("stage {}", i + 1), valid.error());
  }
  return Done{};
}

ShardQuery query_of(const FindStage& stage) {
  ShardQuery query = stage.query;
  query.count = false;
  query.facets.clear();
  query.offset = 0;
  return query;
}

void keep_history(double keep, std::span<const ShardHit> before, std::vector<ShardHit>& now) {
  std::map<DocIdentity, const ShardHit*> old;
  for (const ShardHit& hit : before) old.emplace(hit.doc, &hit);
  const double best_before = best_of(before);
  const double best_now = best_of(now);
  for (ShardHit& hit : now) {
    const auto known = old.find(hit.doc);
    if (known == old.end()) continue;
    const ShardHit& was = *known->second;
    if (keep > 0)
      hit.score =
          keep * part_of(was.score, best_before) + (1 - keep) * part_of(hit.score, best_now);
    hit.legs.insert(hit.legs.begin(), was.legs.begin(), was.legs.end());
    if (!hit.trace) hit.trace = was.trace;
  }
}

}  // namespace kin::index
