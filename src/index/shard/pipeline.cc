#include <fmt/format.h>

#include "index/query.h"
#include "index/shard/scope.h"
#include "index/shard/search.h"
#include "index/stages.h"

namespace kin::index {
namespace {

using Hits = std::vector<ShardHit>;

DocSet numbers_of(const Hits& hits) {
  DocSet numbers;
  for (const ShardHit& hit : hits) numbers.add(static_cast<std::uint32_t>(hit.number));
  return numbers;
}

// Runs the stages of one pipeline. One thread only.
class PipelineRun {
 public:
  explicit PipelineRun(const ShardView& view) : view_(view) {}

  Status operator()(const FindStage& stage) {
    const DocSet among = numbers_of(hits_);
    KIN_TRY(ShardHits found, search_among(view_, query_of(stage), first_ ? nullptr : &among));
    if (!first_) {
      keep_history(stage.keep, hits_, found.hits);
      put_in_order(found.hits);
    }
    hits_ = std::move(found.hits);
    first_ = false;
    return Done{};
  }

  Status operator()(const ExpandStage& stage) {
    return join_neighbours(view_, {.expand = stage.expand, .scope = {}}, hits_);
  }

  Status operator()(const FilterStage& stage) {
    const DocSet among = numbers_of(hits_);
    KIN_TRY(const ScopedDocs docs, ScopedDocs::of(view_, stage.scope, &among));
    const DocSet kept = docs.all();
    std::erase_if(hits_, [&](const ShardHit& hit) {
      return !kept.contains(static_cast<std::uint32_t>(hit.number));
    });
    return Done{};
  }

  Status operator()(const LimitStage& stage) {
    if (hits_.size() > stage.k) hits_.resize(stage.k);
    return Done{};
  }

  Hits take() { return std::move(hits_); }

 private:
  const ShardView& view_;
  bool first_ = true;
  Hits hits_;
};

}  // namespace

Result<ShardHits> run_pipeline(const ShardView& view, std::span<const Stage> stages) {
  KIN_RETURN_IF_ERROR(check_stages(stages));
  PipelineRun run(view);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (Status done = std::visit(run, stages[i]); !done)
      return with_context(fmt::format("stage {}", i + 1), done.error());
  }
  return ShardHits{.hits = run.take()};
}

}  // namespace kin::index
