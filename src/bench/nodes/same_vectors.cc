#include "bench/nodes/same_vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/disk.h"
#include "base/file.h"
#include "base/hash.h"
#include "router/local_meta_store.h"
#include "router/router.h"
#include "router/shard_host.h"

namespace kin::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBatch = 500;
constexpr std::uint32_t kDimension = 100;

class VectorFile {
 public:
  static Result<VectorFile> read(const SameBench& bench) {
    VectorFile file;
    KIN_TRY(file.bytes_, read_file(*bench.vectors / "glove100.f32"));
    const std::size_t rows = file.bytes_.size() / (kDimension * sizeof(float));
    const std::size_t most = std::min<std::size_t>(rows, bench.most_vectors);
    // One vector in `every` is a question; the others are in the index.
    const std::size_t every = std::max<std::size_t>(2, most / bench.queries);
    for (std::size_t i = 0; i < most; ++i) {
      // Not in the order of the file, in which words are sorted by frequency.
      const std::size_t row = i * 7'919 % rows;
      if (!file.has_direction(row)) continue;
      (i % every == every / 2 ? file.questions : file.indexed).push_back(row);
    }
    return file;
  }

  std::vector<float> vector(std::size_t row) const {
    std::vector<float> values(kDimension);
    std::memcpy(values.data(), bytes_.data() + row * kDimension * sizeof(float),
                kDimension * sizeof(float));
    return values;
  }

  std::vector<std::size_t> indexed;
  std::vector<std::size_t> questions;

 private:
  bool has_direction(std::size_t row) const {
    return std::ranges::any_of(vector(row), [](float value) { return value != 0; });
  }
  std::string bytes_;
};

index::ShardOptions vector_options() {
  index::ShardOptions options;
  options.spaces = {{.name = "main", .space = {.dimension = kDimension}}};
  return options;
}

std::vector<index::Mutation> batch_of(const VectorFile& file, std::size_t from) {
  std::vector<index::Mutation> batch;
  for (std::size_t i = from; i < std::min(file.indexed.size(), from + kBatch); ++i) {
    index::Entity entity;
    entity.key = fmt::format("{}", file.indexed[i]);
    entity.id = doc_id_of("", entity.key);
    entity.vectors = {{"main", file.vector(file.indexed[i])}};
    batch.emplace_back(index::PutEntity{.entity = std::move(entity)});
  }
  return batch;
}

Status work_off(index::Shard& shard) {
  for (;;) {
    KIN_TRY(const StepOutcome outcome, shard.step());
    if (!outcome.did_work()) return Done{};
  }
}

// Shards of this process behind a router.
struct Cluster {
  std::unique_ptr<router::LocalMetaStore> meta;
  std::vector<std::unique_ptr<router::ShardHost>> hosts;
  std::unique_ptr<router::Router> router;

  router::Connect connect() {
    return [this](const std::string& address) -> std::shared_ptr<router::ShardClient> {
      return std::make_shared<router::LocalClient>(*hosts.at(std::stoul(address)));
    };
  }
};

Status open_cluster(const SameBench& bench, const VectorFile& file, const fs::path& folder,
                    Cluster& cluster) {
  constexpr std::size_t kPartitions = 64;
  constexpr std::size_t kSample = 20'000;
  KIN_TRY(cluster.meta, router::LocalMetaStore::open(folder / "meta", {}));
  std::vector<std::string> addresses;
  for (std::size_t i = 0; i < bench.nodes; ++i) {
    addresses.push_back(std::to_string(i));
    KIN_TRY(auto host, router::ShardHost::open(folder / ("shard" + addresses.back()),
                                               vector_options(), hash128(addresses.back())));
    cluster.hosts.push_back(std::move(host));
  }
  std::vector<std::vector<float>> sample;
  const std::size_t every = std::max<std::size_t>(1, file.indexed.size() / kSample);
  for (std::size_t i = 0; i < file.indexed.size(); i += every)
    sample.push_back(file.vector(file.indexed[i]));
  KIN_TRY(auto centroids,
          router::Centroids::train(vector_options().spaces[0], sample,
                                   {.partitions = kPartitions, .shards = bench.nodes}));
  router::NewIndex index{.map = router::spread_partitions("words", addresses, centroids),
                         .centroids = std::move(centroids)};
  KIN_RETURN_IF_ERROR(router::create_index(*cluster.meta, cluster.connect(), std::move(index)));
  KIN_TRY(cluster.router, router::Router::open("words", *cluster.meta, cluster.connect()));
  return Done{};
}

std::size_t count_common(const std::vector<index::ShardHit>& truth,
                         const std::vector<index::ShardHit>& found) {
  std::size_t common = 0;
  for (const index::ShardHit& hit : truth)
    common += std::ranges::find(found, hit.doc, &index::ShardHit::doc) != found.end() ? 1 : 0;
  return common;
}

}  // namespace

Result<SameFigures::Vectors> compare_vectors(const SameBench& bench, const fs::path& folder) {
  KIN_TRY(const VectorFile file, VectorFile::read(bench));
  KIN_RETURN_IF_ERROR(system_disk().make_folder(folder));
  KIN_TRY(const auto one, index::Shard::open(folder / "one", vector_options()));
  Cluster many;
  KIN_RETURN_IF_ERROR(open_cluster(bench, file, folder, many));
  for (std::size_t at = 0; at < file.indexed.size(); at += kBatch) {
    const auto batch = batch_of(file, at);
    KIN_RETURN_IF_ERROR(one->apply(batch, {.sync = false}));
    KIN_TRY(const router::Written written, many.router->write(batch));
    if (!written.problems.empty()) return written.problems[0].error;
    KIN_RETURN_IF_ERROR(work_off(*one));
    for (const auto& host : many.hosts) KIN_RETURN_IF_ERROR(work_off(host->shard()));
  }
  std::size_t wanted = 0, by_one = 0, by_many = 0, by_all = 0, asked = 0;
  for (const std::size_t row : file.questions) {
    index::ShardQuery query{
        .vector = index::VectorLeg{.vector = file.vector(row), .recall = bench.recall}};
    KIN_TRY(const auto near, index::search(one->view(), query));
    KIN_TRY(const router::RoutedHits routed, many.router->search(query));
    query.facets = {"type"};  // facets need every shard
    KIN_TRY(const router::RoutedHits everywhere, many.router->search(query));
    query.facets.clear();
    query.vector->exact = true;
    KIN_TRY(const auto truth, index::search(one->view(), query));
    wanted += truth.hits.size();
    by_one += count_common(truth.hits, near.hits);
    by_many += count_common(truth.hits, routed.found.hits);
    by_all += count_common(truth.hits, everywhere.found.hits);
    asked += routed.asked;
  }
  std::uint64_t largest = 0;
  for (const auto& host : many.hosts)
    largest = std::max(largest, host->shard().stats().counters.entities);
  const auto share = [&](std::size_t part, std::size_t all) {
    return static_cast<double>(part) / static_cast<double>(std::max<std::size_t>(all, 1));
  };
  return SameFigures::Vectors{.vectors = file.indexed.size(),
                              .one = share(by_one, wanted),
                              .many = share(by_many, wanted),
                              .all = share(by_all, wanted),
                              .visited = share(asked, bench.nodes * file.questions.size()),
                              .skew = share(largest * bench.nodes, file.indexed.size())};
}

}  // namespace kin::bench
