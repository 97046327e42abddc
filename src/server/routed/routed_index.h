// An index over the shards of many nodes: documents in, answers out, as search::SearchIndex has
// them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "embed/embedder.h"
#include "router/router.h"
#include "search/answer.h"
#include "search/document.h"
#include "search/index_config.h"
#include "search/path.h"
#include "search/question.h"
#include "search/search_index.h"

namespace kin::server {

// Thread-safe.
class RoutedIndex {
 public:
  // `embedder` makes the vectors of documents and questions; null: they are given, or there are
  // none.
  RoutedIndex(search::IndexConfig config, std::unique_ptr<router::Router> router,
              std::shared_ptr<const embed::Embedder> embedder, Clock& clock);

  const search::IndexConfig& config() const { return config_; }
  router::Router& shards() { return *router_; }
  // Whether words can be searched by their meaning.
  bool makes_vectors() const { return source_ != nullptr; }

  // Adds or replaces documents. On success all are durable and found by every later search, but for
  // refused near-duplicates. kInvalidArgument names a document that cannot be added, and nothing is
  // written. kUnavailable if it is not known of some whether they were: sending them again does no
  // harm.
  Result<search::AddReport> add(std::span<const search::Document> documents);
  // Returns how many of them existed.
  Result<std::uint64_t> remove(std::span<const std::string> ids);

  // Reads. Null for `staleness` is as empty. As SearchIndex::search().
  Result<search::Answer> search(const search::Question& question,
                                router::Staleness* staleness = nullptr) const;
  // With its links and fragments. Nothing if there is no such document.
  Result<std::optional<search::Document>> document(std::string_view id,
                                                   std::optional<index::Millis> as_of,
                                                   router::Staleness* staleness = nullptr) const;
  // As SearchIndex::neighbours().
  Result<search::Neighbours> neighbours(const search::NeighboursQuestion& question,
                                        router::Staleness* staleness = nullptr) const;
  // As SearchIndex::path(); among paths of equal length any may be given.
  Result<std::optional<search::Path>> path(const search::PathQuestion& question,
                                           router::Staleness* staleness = nullptr) const;

  // The documents of one partition after another, with their links, fragments and given vectors.
  // Nothing for the partition behind the last one.
  struct Place {
    std::uint32_t partition = 0;
    std::optional<index::DocNumber> after = {};
    // ShardMap::divided of the first page; nothing: this is the first. kFailedPrecondition if
    // partitions were divided since: documents may be in others now.
    std::optional<std::uint64_t> divided = {};
  };
  struct Page {
    std::vector<search::Document> documents = {};
    std::optional<Place> next = {};  // nothing: there are no more
  };
  Result<Page> list(const Place& from, std::size_t most,
                    router::Staleness* staleness = nullptr) const;

  // Compares indexes and truth on every shard. Faults name the shard.
  Result<index::CheckReport> check() const;

 private:
  Status check(const search::Document& document, std::span<const index::Mutation> mutations) const;
  // The keys of documents, or their UUIDs where they do not exist.
  Result<std::unordered_map<DocId, std::string>> keys_of(std::vector<DocId> ids,
                                                         router::Staleness* staleness) const;
  Result<std::vector<search::Document>> linked(std::span<const index::About> abouts,
                                               router::Staleness* staleness) const;
  Result<std::vector<search::AnswerHit>> present(const index::ShardHits& found,
                                                 const router::Presented& shown,
                                                 const search::Question& question,
                                                 router::Staleness* staleness) const;

  const search::IndexConfig config_;
  const std::unique_ptr<router::Router> router_;
  const std::shared_ptr<const embed::Embedder> embedder_;
  const std::shared_ptr<const index::VectorSource> source_;  // of embedder_
  Clock& clock_;
};

}  // namespace kin::server
