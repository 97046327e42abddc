#include "router/calls/known_statistics.h"

namespace kin::router {
namespace {

// Words remembered of one shard. Forgetting them costs a round of calls and nothing else.
constexpr std::size_t kMostWords = 200'000;

}  // namespace

Result<std::optional<std::vector<StatisticsReply>>> KnownStatistics::find(
    const std::vector<std::string>& shards, const index::TextLeg& leg) const {
  const std::optional<std::vector<StatisticsReply>> unknown;
  if (!terms_) return unknown;
  KIN_TRY(const auto keys, terms_->of(leg));
  if (!keys) return unknown;
  std::vector<StatisticsReply> replies;
  const std::lock_guard lock(mutex_);
  for (const std::string& shard : shards) {
    const auto found = shards_.find(shard);
    if (found == shards_.end()) return unknown;
    const OfShard& known = found->second;
    StatisticsReply& reply = replies.emplace_back();
    reply.state = known.state;
    reply.text = {.documents = known.documents, .total_length = known.total_length};
    for (const std::string& key : *keys) {
      const auto frequency = known.frequencies.find(key);
      if (frequency == known.frequencies.end()) return unknown;
      reply.text.frequencies.emplace(key, frequency->second);
    }
  }
  return std::optional(std::move(replies));
}

Result<bool> KnownStatistics::may_match(const index::TextLeg& leg,
                                        const index::TextStatistics& text) const {
  if (!terms_) return true;
  return terms_->may_match(leg, text);
}

void KnownStatistics::learn(const std::string& shard, const StatisticsReply& reply) {
  if (!terms_) return;
  const std::lock_guard lock(mutex_);
  OfShard& known = shards_[shard];
  if (known.state != reply.state || known.frequencies.size() > kMostWords) known = {};
  known.state = reply.state;
  known.documents = reply.text.documents;
  known.total_length = reply.text.total_length;
  for (const auto& [key, frequency] : reply.text.frequencies)
    known.frequencies.insert_or_assign(key, frequency);
}

}  // namespace kin::router
