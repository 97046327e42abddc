// Shards of vectors in this process, behind a router.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "router/local_meta_store.h"
#include "router/router.h"
#include "router/shard_host.h"

namespace kin::bench {

inline constexpr const char* kVectorIndex = "words";

struct VectorShardsOptions {
  std::size_t shards = 4;
  std::size_t partitions = 64;
  std::uint32_t dimension = 0;  // of a space "main", by cosine
};
index::ShardOptions vector_options(std::uint32_t dimension);

// Entities of these vectors, named by their numbers, the first of which is `from`.
std::vector<index::Mutation> vector_batch(std::span<const std::vector<float>> vectors,
                                          std::size_t from);
// Does the shard's background work.
Status work_off(index::Shard& shard);
std::size_t count_common(const std::vector<index::ShardHit>& truth,
                         const std::vector<index::ShardHit>& found);

// One thread only.
class VectorShards {
 public:
  // In an empty folder, with centroids of the sample.
  static Result<std::unique_ptr<VectorShards>> create(const std::filesystem::path& folder,
                                                      std::span<const std::vector<float>> sample,
                                                      const VectorShardsOptions& options);
  router::Router& router() { return *router_; }
  router::MetaStore& meta() { return *meta_; }
  router::Connect connect();
  index::Shard& shard(std::size_t place) { return hosts_[place]->shard(); }
  std::size_t count() const { return hosts_.size(); }

  Status write(const std::vector<index::Mutation>& batch);
  // Entities of the largest shard, as a multiple of the mean.
  double skew() const;

 private:
  VectorShards() = default;

  std::unique_ptr<router::LocalMetaStore> meta_;
  std::vector<std::unique_ptr<router::ShardHost>> hosts_;
  std::unique_ptr<router::Router> router_;
};

// The vectors of glove100.f32 in the folder, but those without a direction: at most `most`, spread
// over the file. Of frequent words first, if `by_frequency`.
struct WordVectors {
  bool by_frequency = false;
  std::size_t most = 0;
};
inline constexpr std::uint32_t kWordDimension = 100;
Result<std::vector<std::vector<float>>> read_word_vectors(const std::filesystem::path& folder,
                                                          const WordVectors& wanted);

}  // namespace kin::bench
