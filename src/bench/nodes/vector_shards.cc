#include "bench/nodes/vector_shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/file.h"
#include "base/hash.h"

namespace kin::bench {
namespace {

namespace fs = std::filesystem;

}  // namespace

index::ShardOptions vector_options(std::uint32_t dimension) {
  index::ShardOptions options;
  options.spaces = {{.name = "main", .space = {.dimension = dimension}}};
  return options;
}

std::vector<index::Mutation> vector_batch(std::span<const std::vector<float>> vectors,
                                          std::size_t from) {
  std::vector<index::Mutation> batch;
  for (const auto& vector : vectors) {
    index::Entity entity;
    entity.key = fmt::format("{}", from++);
    entity.id = doc_id_of("", entity.key);
    entity.vectors = {{"main", vector}};
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

std::size_t count_common(const std::vector<index::ShardHit>& truth,
                         const std::vector<index::ShardHit>& found) {
  std::size_t common = 0;
  for (const index::ShardHit& hit : truth)
    common += std::ranges::find(found, hit.doc, &index::ShardHit::doc) != found.end() ? 1 : 0;
  return common;
}

Result<std::unique_ptr<VectorShards>> VectorShards::create(
    const fs::path& folder, std::span<const std::vector<float>> sample,
    const VectorShardsOptions& options) {
  std::unique_ptr<VectorShards> made(new VectorShards);
  KIN_TRY(made->meta_, router::LocalMetaStore::open(folder / "meta", {}));
  std::vector<std::string> addresses;
  for (std::size_t i = 0; i < options.shards; ++i) {
    addresses.push_back(std::to_string(i));
    KIN_TRY(auto host,
            router::ShardHost::open(folder / ("shard" + addresses.back()),
                                    vector_options(options.dimension), hash128(addresses.back())));
    made->hosts_.push_back(std::move(host));
  }
  KIN_TRY(auto centroids,
          router::Centroids::train(vector_options(options.dimension).spaces[0], sample,
                                   {.partitions = options.partitions, .shards = options.shards}));
  router::NewIndex index{.map = router::spread_partitions(kVectorIndex, addresses, centroids),
                         .centroids = std::move(centroids)};
  KIN_RETURN_IF_ERROR(router::create_index(*made->meta_, made->connect(), std::move(index)));
  KIN_TRY(made->router_, router::Router::open(kVectorIndex, *made->meta_, made->connect()));
  return made;
}

router::Connect VectorShards::connect() {
  return [this](const std::string& address) -> std::shared_ptr<router::ShardClient> {
    return std::make_shared<router::LocalClient>(*hosts_.at(std::stoul(address)));
  };
}

Status VectorShards::write(const std::vector<index::Mutation>& batch) {
  KIN_TRY(const router::Written written, router_->write(batch));
  if (!written.problems.empty()) return written.problems[0].error;
  for (const auto& host : hosts_) KIN_RETURN_IF_ERROR(work_off(host->shard()));
  return Done{};
}

double VectorShards::skew() const {
  std::uint64_t largest = 0, all = 0;
  for (const auto& host : hosts_) {
    const std::uint64_t entities = host->shard().stats().counters.entities;
    largest = std::max(largest, entities);
    all += entities;
  }
  return static_cast<double>(largest * hosts_.size()) /
         static_cast<double>(std::max<std::uint64_t>(all, 1));
}

Result<std::vector<std::vector<float>>> read_word_vectors(const fs::path& folder,
                                                          const WordVectors& wanted) {
  KIN_TRY(const std::string bytes, read_file(folder / "glove100.f32"));
  const std::size_t rows = bytes.size() / (kWordDimension * sizeof(float));
  const std::size_t most = std::min(rows, wanted.most);
  std::vector<std::size_t> chosen;
  // Words are sorted by frequency in the file.
  for (std::size_t i = 0; i < most; ++i) chosen.push_back(i * 7'919 % rows);
  if (wanted.by_frequency) std::ranges::sort(chosen);
  std::vector<std::vector<float>> vectors;
  for (const std::size_t row : chosen) {
    std::vector<float> values(kWordDimension);
    std::memcpy(values.data(), bytes.data() + row * kWordDimension * sizeof(float),
                kWordDimension * sizeof(float));
    if (std::ranges::any_of(values, [](float value) { return value != 0; }))
      vectors.push_back(std::move(values));
  }
  return vectors;
}

}  // namespace kin::bench
