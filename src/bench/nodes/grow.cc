#include "bench/nodes/grow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/disk.h"
#include "base/file.h"
#include "base/json_writer.h"
#include "base/random.h"
#include "bench/nodes/vector_shards.h"
#include "index/replication.h"
#include "router/mover.h"
#include "router/partition_plan.h"

namespace kin::bench {
namespace {

namespace fs = std::filesystem;
using Vectors = std::vector<std::vector<float>>;
using router::PartitionWeights;

constexpr std::size_t kBatch = 500;
constexpr std::size_t kMostSample = 20'000;

struct Growing {
  std::string name = {};
  // Like the sample, and unlike it.
  Vectors first = {};
  Vectors later = {};
};

// Points around places that are drawn in a cube. Clumps are well apart: about seven times as far as
// a point is from its place.
Vectors clumps(std::size_t count, std::size_t places, std::uint64_t seed) {
  constexpr std::size_t kDimension = 16;
  constexpr double kSpread = 0.05;
  Random random(seed);
  Vectors centres(places, std::vector<float>(kDimension));
  for (auto& centre : centres) {
    for (float& value : centre) value = static_cast<float>(random.unit() - 0.5);
  }
  Vectors points;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<float> point = centres[random.below(places)];
    for (float& value : point) {
      const double length = std::sqrt(-2 * std::log(1 - random.unit()));
      value +=
          static_cast<float>(kSpread * length * std::cos(2 * std::numbers::pi * random.unit()));
    }
    points.push_back(std::move(point));
  }
  return points;
}

Result<std::vector<Growing>> sets_of(const GrowBench& bench) {
  std::vector<Growing> sets;
  const std::size_t first = bench.clumped / 4;
  sets.push_back({.name = "clumps",
                  .first = clumps(first, 40, 1),
                  .later = clumps(bench.clumped - first, 120, 2)});
  if (!bench.vectors) return sets;
  // Rare words are in other places than frequent ones.
  KIN_TRY(Vectors all,
          read_word_vectors(*bench.vectors, {.by_frequency = true, .most = bench.most_vectors}));
  const auto quarter = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 4);
  sets.push_back({.name = "GloVe",
                  .first = Vectors(all.begin(), quarter),
                  .later = Vectors(quarter, all.end())});
  return sets;
}

// Takes about `count` vectors out, at equal distances.
Vectors questions_of(Vectors& vectors, std::size_t count) {
  const std::size_t every =
      std::max<std::size_t>(2, vectors.size() / std::max<std::size_t>(count, 1));
  Vectors questions, rest;
  for (std::size_t i = 0; i < vectors.size(); ++i)
    (i % every == every / 2 ? questions : rest).push_back(std::move(vectors[i]));
  vectors = std::move(rest);
  return questions;
}

// One growing index, over several shards and on one. One thread only.
class Growth {
 public:
  Growth(const GrowBench& bench, Growing& set) : bench_(bench), set_(set) {
    first_questions_ = questions_of(set.first, bench.queries / 4);
    later_questions_ = questions_of(set.later, bench.queries - bench.queries / 4);
  }

  Result<GrowFigures::Set> run(const fs::path& folder) {
    KIN_RETURN_IF_ERROR(open(folder));
    GrowFigures::Set figures{.name = set_.name};
    const auto add = [&](std::string name) -> Status {
      KIN_TRY(auto stage, measure(std::move(name)));
      figures.stages.push_back(std::move(stage));
      return Done{};
    };
    KIN_RETURN_IF_ERROR(write(set_.first));
    KIN_RETURN_IF_ERROR(add("before"));
    KIN_RETURN_IF_ERROR(write(set_.later));
    has_grown_ = true;
    KIN_RETURN_IF_ERROR(add("grown"));
    KIN_RETURN_IF_ERROR(balance());
    KIN_RETURN_IF_ERROR(add("balanced, not divided"));
    KIN_RETURN_IF_ERROR(split(1));
    KIN_RETURN_IF_ERROR(add("one split"));
    KIN_RETURN_IF_ERROR(split(16));
    KIN_RETURN_IF_ERROR(add("split and merged"));
    KIN_RETURN_IF_ERROR(balance());
    KIN_RETURN_IF_ERROR(add("balanced"));
    for (std::uint32_t shard = 0; shard < bench_.nodes; ++shard) {
      KIN_TRY(const router::Centroids centroids, centroids_now());
      KIN_RETURN_IF_ERROR(divide(router::retrained(map(), centroids, shard)));
    }
    KIN_RETURN_IF_ERROR(add("retrained"));
    return figures;
  }

 private:
  Status open(const fs::path& folder) {
    KIN_RETURN_IF_ERROR(system_disk().make_folder(folder));
    const auto dimension = static_cast<std::uint32_t>(set_.first.front().size());
    KIN_TRY(one_, index::Shard::open(folder / "one", vector_options(dimension)));
    Vectors sample;
    const std::size_t every = std::max<std::size_t>(2, set_.first.size() / kMostSample);
    for (std::size_t i = 0; i < set_.first.size(); i += every) sample.push_back(set_.first[i]);
    KIN_TRY(many_,
            VectorShards::create(
                folder, sample,
                {.shards = bench_.nodes, .partitions = bench_.partitions, .dimension = dimension}));
    return Done{};
  }

  Status write(const Vectors& vectors) {
    for (std::size_t at = 0; at < vectors.size(); at += kBatch) {
      const std::size_t count = std::min(kBatch, vectors.size() - at);
      const auto batch = vector_batch(std::span(vectors).subspan(at, count), written_);
      written_ += count;
      KIN_RETURN_IF_ERROR(one_->apply(batch, {.sync = false}));
      KIN_RETURN_IF_ERROR(work_off(*one_));
      KIN_RETURN_IF_ERROR(many_->write(batch));
    }
    return Done{};
  }

  // A router that knows nothing of before.
  Result<std::unique_ptr<router::Router>> open_router() {
    return router::Router::open(kVectorIndex, many_->meta(), many_->connect());
  }
  router::ShardMap map() {
    const auto router = open_router();
    return router.ok() ? (*router)->map() : router::ShardMap{};
  }
  Result<router::Centroids> centroids_now() {
    const router::ShardMap now = map();
    if (!now.centroids) return Error{Code::kNotFound, "the index has no centroids"};
    KIN_TRY(const std::string bytes, router::read_blob(many_->connect(), now, *now.centroids));
    return router::Centroids::decode(bytes);
  }
  Result<PartitionWeights> weights() {
    PartitionWeights weights;
    for (std::size_t i = 0; i < many_->count(); ++i) {
      KIN_TRY(const auto sizes, index::count_partitions(many_->shard(i).view().truth()));
      for (const auto& [partition, count] : sizes) weights[partition] += static_cast<double>(count);
    }
    return weights;
  }

  Status carry_out(const auto& is_over) {
    router::Mover mover(kVectorIndex, many_->meta(), many_->connect(),
                        {.pause = std::chrono::milliseconds{1},
                         .grace = std::chrono::milliseconds{1},
                         .divided = 5'000});
    for (;;) {
      KIN_TRY(const bool over, is_over());
      if (over) break;
      KIN_TRY(const StepOutcome outcome, mover.step());
      const auto next = outcome.next(system_clock().steady_now());
      if (next) system_clock().sleep_for(*next - system_clock().steady_now());
    }
    for (std::size_t i = 0; i < many_->count(); ++i) KIN_RETURN_IF_ERROR(work_off(many_->shard(i)));
    return Done{};
  }
  Status divide(const router::NewRepartition& wanted) {
    KIN_TRY([[maybe_unused]] const auto begun,
            router::begin_repartition(many_->meta(), kVectorIndex, wanted));
    const auto phase_now = [&]() -> Result<router::RepartitionPhase> {
      KIN_TRY(const auto last, router::read_repartition(many_->meta(), kVectorIndex));
      if (!last) return Error{Code::kNotFound, "there is no repartition"};
      return last->repartition.phase;
    };
    KIN_RETURN_IF_ERROR(carry_out([&]() -> Result<bool> {
      KIN_TRY(const auto phase, phase_now());
      return router::rule_of(phase).over;
    }));
    KIN_TRY(const auto phase, phase_now());
    if (phase == router::RepartitionPhase::kDone) return Done{};
    return Error{Code::kInternal, "a repartition was undone"};
  }
  // So many repartitions of the plan.
  Status split(std::size_t most) {
    KIN_TRY(const router::Centroids centroids, centroids_now());
    KIN_TRY(const PartitionWeights held, weights());
    for (const auto& wanted :
         router::plan_partitions(map(), centroids, held, {.least = 200, .most = most}))
      KIN_RETURN_IF_ERROR(divide(wanted));
    return Done{};
  }
  Status balance() {
    KIN_TRY(const PartitionWeights held, weights());
    for (const router::NewMove& move :
         router::plan_balance(map(), held, {.max_skew = 1.05, .least_gain = 0.005})) {
      KIN_TRY([[maybe_unused]] const auto begun,
              router::begin_move(many_->meta(), kVectorIndex, move));
      KIN_RETURN_IF_ERROR(carry_out([&]() -> Result<bool> {
        KIN_TRY(const auto moves, router::read_moves(many_->meta(), kVectorIndex));
        return std::ranges::all_of(
            moves, [](const router::Move& one) { return router::rule_of(one.phase).over; });
      }));
    }
    return Done{};
  }

  Result<GrowFigures::Stage> measure(std::string name) {
    KIN_TRY(const auto router, open_router());
    GrowFigures::Stage stage{.name = std::move(name), .vectors = written_};
    KIN_TRY(const PartitionWeights held, weights());
    stage.partitions = held.size();
    stage.skew = many_->skew();
    std::size_t wanted = 0, by_one = 0, by_many = 0, by_all = 0, asked = 0, questions = 0;
    const auto ask = [&](const Vectors& all) -> Status {
      for (const auto& question : all) {
        index::ShardQuery query{.vector =
                                    index::VectorLeg{.vector = question, .recall = bench_.recall}};
        KIN_TRY(const auto near, index::search(one_->view(), query));
        KIN_TRY(const router::RoutedHits routed, router->search(query));
        query.facets = {"type"};  // facets need every shard
        KIN_TRY(const router::RoutedHits everywhere, router->search(query));
        query.facets.clear();
        query.vector->exact = true;
        KIN_TRY(const auto truth, index::search(one_->view(), query));
        wanted += truth.hits.size();
        by_one += count_common(truth.hits, near.hits);
        by_many += count_common(truth.hits, routed.found.hits);
        by_all += count_common(truth.hits, everywhere.found.hits);
        asked += routed.asked;
        ++questions;
      }
      return Done{};
    };
    const auto share = [](std::size_t part, std::size_t all) {
      return static_cast<double>(part) / static_cast<double>(std::max<std::size_t>(all, 1));
    };
    KIN_RETURN_IF_ERROR(ask(first_questions_));
    stage.old_visited = share(asked, bench_.nodes * questions);
    if (has_grown_) KIN_RETURN_IF_ERROR(ask(later_questions_));
    stage.visited = share(asked, bench_.nodes * questions);
    stage.one = share(by_one, wanted);
    stage.many = share(by_many, wanted);
    stage.all = share(by_all, wanted);
    return stage;
  }

  const GrowBench& bench_;
  Growing& set_;
  Vectors first_questions_;
  Vectors later_questions_;
  bool has_grown_ = false;
  std::size_t written_ = 0;
  std::unique_ptr<index::Shard> one_;
  std::unique_ptr<VectorShards> many_;
};

}  // namespace

Result<GrowFigures> bench_grow(const GrowBench& bench) {
  GrowFigures figures{.bench = bench};
  KIN_TRY(const TemporaryFolder folder, TemporaryFolder::create(bench.folder));
  KIN_TRY(auto sets, sets_of(bench));
  for (Growing& set : sets) {
    Growth growth(bench, set);
    KIN_TRY(auto made, growth.run(folder.path() / set.name));
    figures.sets.push_back(std::move(made));
  }
  return figures;
}

std::string to_json(const GrowFigures& figures) {
  JsonWriter json;
  json.begin_object().field("nodes", figures.bench.nodes).field("recall", figures.bench.recall);
  json.key("sets").begin_array();
  for (const GrowFigures::Set& set : figures.sets) {
    json.begin_object().field("set", set.name).key("stages").begin_array();
    for (const GrowFigures::Stage& stage : set.stages) {
      json.begin_object().field("stage", stage.name).field("vectors", stage.vectors);
      json.field("partitions", stage.partitions).field("recall_one", stage.one);
      json.field("recall_many", stage.many).field("recall_all", stage.all);
      json.field("visited_by_first", stage.old_visited).field("visited", stage.visited);
      json.field("skew", stage.skew).end();
    }
    json.end().end();
  }
  return json.end().end().take();
}

std::string to_table(const GrowFigures& figures) {
  std::string out;
  for (const GrowFigures::Set& set : figures.sets) {
    out += fmt::format("{}: recall@10 at {} asked, over {} nodes\n", set.name, figures.bench.recall,
                       figures.bench.nodes);
    for (const GrowFigures::Stage& stage : set.stages)
      out += fmt::format(
          "{:<22}{:>7} vectors{:>5} partitions  one {:.3f}  nodes {:.3f}  all {:.3f}  asked "
          "{:>5.1f} "
          "% (like the sample {:>5.1f} %)  largest {:.2f}\n",
          stage.name, stage.vectors, stage.partitions, stage.one, stage.many, stage.all,
          100 * stage.visited, 100 * stage.old_visited, stage.skew);
  }
  return out;
}

}  // namespace kin::bench
