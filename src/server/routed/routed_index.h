// An index over the shards of many nodes: documents in, answers out, as search::SearchIndex has
// them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "router/router.h"
#include "search/answer.h"
#include "search/document.h"
#include "search/index_config.h"
#include "search/question.h"

namespace kin::server {

// Thread-safe.
class RoutedIndex {
 public:
  RoutedIndex(search::IndexConfig config, std::unique_ptr<router::Router> router, Clock& clock)
      : config_(std::move(config)), router_(std::move(router)), clock_(clock) {}

  const search::IndexConfig& config() const { return config_; }
  router::Router& shards() { return *router_; }

  // Adds or replaces documents; returns how many. On success all are durable and found by every
  // later search. kInvalidArgument names a document that cannot be added, and nothing is written.
  // kUnavailable if it is not known of some whether they were: sending them again does no harm.
  Result<std::uint64_t> add(std::span<const search::Document> documents);
  // Returns how many of them existed.
  Result<std::uint64_t> remove(std::span<const std::string> ids);

  // As SearchIndex::search(). kInvalidArgument for questions that follow links, and for pipelines.
  Result<search::Answer> search(const search::Question& question) const;
  // Without links and fragments. Nothing if there is no such document.
  Result<std::optional<search::Document>> document(std::string_view id,
                                                   std::optional<index::Millis> as_of) const;

 private:
  Status check(const search::Document& document, std::span<const index::Mutation> mutations) const;
  Result<std::vector<search::AnswerHit>> present(const index::ShardHits& found,
                                                 const router::Presented& shown) const;

  const search::IndexConfig config_;
  const std::unique_ptr<router::Router> router_;
  Clock& clock_;
};

}  // namespace kin::server
