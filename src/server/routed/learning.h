// What an index over nodes learns from a sample of documents before it is made: vectors, if they
// come from the documents themselves, and the centroids that documents are placed by.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "router/centroids.h"
#include "search/document.h"
#include "search/index_config.h"
#include "search/search_index.h"

namespace kin::server {

// Vectors that the sample needs for each partition. With fewer, centroids say little.
inline constexpr std::size_t kSamplePerPartition = 10;

struct Learnt {
  search::IndexConfig config = {};  // with the dimension of the vectors, and the hash of the model
  std::optional<std::string> model = {};  // the bytes of a corpus model
  std::optional<router::Centroids> centroids = {};  // nothing: documents are placed by their ids
};

struct LearnOptions {
  std::size_t partitions = 64;
  std::size_t shards = 1;
  search::OpenOptions embedders = {};
};

// Without a sample nothing is learnt. Vectors that documents of the sample bring are used only if
// the index has given vectors. kInvalidArgument for a sample that does not fit the index or is too
// small, kFailedPrecondition for one whose texts have too few words in common. Thread-safe.
Result<Learnt> learn(const search::IndexConfig& asked, std::span<const search::Document> sample,
                     const LearnOptions& options);

}  // namespace kin::server
