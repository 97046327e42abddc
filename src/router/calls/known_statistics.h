// Statistics of words that shards told, remembered for as long as the shards stay in the same
// state.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "index/leg_terms.h"
#include "index/query.h"
#include "router/requests.h"

namespace kin::router {

// Thread-safe.
class KnownStatistics {
 public:
  // Without options nothing is remembered.
  explicit KnownStatistics(std::optional<index::TextOptions> options) {
    if (options) terms_.emplace(*std::move(options));
  }

  // The statistics that the leg needs, as these shards told them earlier, in their order. Shards
  // have the names of Known::name_of(). Nothing if one of them has not told all. They are right if
  // every shard is in the state.
  Result<std::optional<std::vector<StatisticsReply>>> find(
      const std::vector<std::string>& shards, const index::TextLeg& leg) const;
  void learn(const std::string& shard, const StatisticsReply& reply);

  // Whether a shard with these statistics can have a match; true without options.
  Result<bool> may_match(const index::TextLeg& leg, const index::TextStatistics& text) const;

 private:
  struct OfShard {
    std::uint64_t state = 0;
    std::uint64_t documents = 0;
    std::uint64_t total_length = 0;
    std::unordered_map<std::string, std::uint64_t> frequencies = {};
  };

  std::optional<index::LegTerms> terms_;
  mutable std::mutex mutex_;               // guards what follows
  std::map<std::string, OfShard> shards_;  // by name
};

}  // namespace kin::router
