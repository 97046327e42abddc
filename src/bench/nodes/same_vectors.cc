#include "bench/nodes/same_vectors.h"

#include <algorithm>

#include "base/disk.h"
#include "bench/nodes/vector_shards.h"

namespace kin::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBatch = 500;
constexpr std::size_t kSample = 20'000;

struct Words {
  std::vector<std::vector<float>> indexed = {};
  std::vector<std::vector<float>> questions = {};
};

Result<Words> read_words(const SameBench& bench) {
  KIN_TRY(auto all, read_word_vectors(*bench.vectors, {.most = bench.most_vectors}));
  // One vector in `every` is a question; the others are in the index.
  const std::size_t every = std::max<std::size_t>(2, all.size() / bench.queries);
  Words words;
  for (std::size_t i = 0; i < all.size(); ++i)
    (i % every == every / 2 ? words.questions : words.indexed).push_back(std::move(all[i]));
  return words;
}

}  // namespace

Result<SameFigures::Vectors> compare_vectors(const SameBench& bench, const fs::path& folder) {
  KIN_TRY(const Words words, read_words(bench));
  KIN_RETURN_IF_ERROR(system_disk().make_folder(folder));
  KIN_TRY(const auto one, index::Shard::open(folder / "one", vector_options(kWordDimension)));
  std::vector<std::vector<float>> sample;
  const std::size_t every = std::max<std::size_t>(1, words.indexed.size() / kSample);
  for (std::size_t i = 0; i < words.indexed.size(); i += every) sample.push_back(words.indexed[i]);
  KIN_TRY(
      const auto many,
      VectorShards::create(folder, sample, {.shards = bench.nodes, .dimension = kWordDimension}));
  for (std::size_t at = 0; at < words.indexed.size(); at += kBatch) {
    const std::size_t count = std::min(kBatch, words.indexed.size() - at);
    const auto batch = vector_batch(std::span(words.indexed).subspan(at, count), at);
    KIN_RETURN_IF_ERROR(one->apply(batch, {.sync = false}));
    KIN_RETURN_IF_ERROR(work_off(*one));
    KIN_RETURN_IF_ERROR(many->write(batch));
  }
  std::size_t wanted = 0, by_one = 0, by_many = 0, by_all = 0, asked = 0;
  for (const auto& question : words.questions) {
    index::ShardQuery query{.vector = index::VectorLeg{.vector = question, .recall = bench.recall}};
    KIN_TRY(const auto near, index::search(one->view(), query));
    KIN_TRY(const router::RoutedHits routed, many->router().search(query));
    query.facets = {"type"};  // facets need every shard
    KIN_TRY(const router::RoutedHits everywhere, many->router().search(query));
    query.facets.clear();
    query.vector->exact = true;
    KIN_TRY(const auto truth, index::search(one->view(), query));
    wanted += truth.hits.size();
    by_one += count_common(truth.hits, near.hits);
    by_many += count_common(truth.hits, routed.found.hits);
    by_all += count_common(truth.hits, everywhere.found.hits);
    asked += routed.asked;
  }
  const auto share = [&](std::size_t part, std::size_t all) {
    return static_cast<double>(part) / static_cast<double>(std::max<std::size_t>(all, 1));
  };
  return SameFigures::Vectors{.vectors = words.indexed.size(),
                              .one = share(by_one, wanted),
                              .many = share(by_many, wanted),
                              .all = share(by_all, wanted),
                              .visited = share(asked, bench.nodes * words.questions.size()),
                              .skew = many->skew()};
}

}  // namespace kin::bench
