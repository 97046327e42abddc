#include "router/node/load.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kin::router {
namespace {

using Numbers = std::vector<index::PartitionId>;

// Less than this is nothing: an hour after one second of work.
constexpr double kLeast = 1e-6;

double decayed(double value, std::chrono::nanoseconds passed) {
  const std::chrono::duration<double> half = Loads::kHalfLife;
  const std::chrono::duration<double> seconds = std::max(passed, std::chrono::nanoseconds{0});
  return value * std::exp2(-seconds / half);
}

Numbers all_of(const Partitions& partitions) {
  return {partitions.begin(), partitions.end()};
}
Numbers all_of(const index::ShardQuery& query) {
  return all_of(query.scope.partitions.value_or(Partitions{}));
}

void add(const std::optional<index::StoredDocument>& document, Numbers& to) {
  const auto* entity = document ? std::get_if<index::StoredEntity>(&*document) : nullptr;
  if (entity != nullptr) to.push_back(entity->head.partition);
}

Numbers shown_in(const Presented& shown, Numbers otherwise) {
  Numbers numbers;
  for (const auto& document : shown.documents) add(document, numbers);
  return numbers.empty() ? otherwise : numbers;
}

struct WorkedFor {
  const Response& response;

  template <typename T>
  const T& reply() const {
    static const T kNone{};
    const T* given = std::get_if<T>(&response);
    return given == nullptr ? kNone : *given;
  }

  Numbers operator()(const WriteRequest& request) const {
    Numbers numbers;
    for (const index::Mutation& mutation : request.mutations) {
      const auto* put = std::get_if<index::PutEntity>(&mutation);
      if (put != nullptr && put->partition) numbers.push_back(*put->partition);
    }
    return numbers.empty() ? all_of(request.partitions) : numbers;
  }
  Numbers operator()(const ClaimRequest& request) const {
    Numbers numbers;
    for (const Claim& claim : request.claims) numbers.push_back(claim.home);
    return numbers;
  }
  Numbers operator()(const LocateRequest& request) const {
    Numbers numbers;
    for (const Locate& one : request.entities) numbers.push_back(one.home);
    return numbers;
  }
  Numbers operator()(const GetRequest& request) const {
    Numbers numbers;
    for (const auto& entity : reply<Entities>().entities) {
      if (entity) numbers.push_back(entity->head.partition);
    }
    return numbers.empty() ? all_of(request.partitions) : numbers;
  }
  Numbers operator()(const AboutRequest& request) const {
    Numbers numbers;
    for (const auto& about : reply<Abouts>().entities) {
      if (about) numbers.push_back(about->entity.head.partition);
    }
    return numbers.empty() ? all_of(request.partitions) : numbers;
  }
  Numbers operator()(const FindRequest& request) const {
    return shown_in(reply<FindReply>().presented, all_of(request.query));
  }
  Numbers operator()(const PresentRequest& request) const {
    return shown_in(reply<Presented>(), all_of(request.partitions));
  }
  Numbers operator()(const StatisticsRequest& request) const { return all_of(request.query); }
  Numbers operator()(const SumRequest& request) const { return all_of(request.query); }
  Numbers operator()(const HeadsRequest& request) const { return all_of(request.partitions); }
  Numbers operator()(const EdgesRequest& request) const { return all_of(request.partitions); }
  Numbers operator()(const ScopeRequest& request) const {
    return all_of(request.scope.partitions.value_or(Partitions{}));
  }
  Numbers operator()(const ListRequest& request) const { return {request.partition}; }
  // Copies, care, and what is asked of the shard as a whole.
  template <typename Other>
  Numbers operator()(const Other&) const {
    return {};
  }
};

}  // namespace

void Loads::add(std::span<const index::PartitionId> partitions, std::chrono::nanoseconds work,
                SteadyTime now) {
  if (partitions.empty() || work.count() <= 0) return;
  const std::chrono::duration<double, std::milli> each =
      work / static_cast<double>(partitions.size());
  // With this weight, the same work in every second makes that work the average.
  const double weight = std::numbers::ln2 / std::chrono::duration<double>(kHalfLife).count();
  const std::lock_guard lock(mutex_);
  for (const index::PartitionId partition : partitions) {
    Load& load = loads_[partition];
    load.value = decayed(load.value, now - load.since) + each.count() * weight;
    load.since = std::max(load.since, now);
  }
}

PartitionLoads Loads::at(SteadyTime now) const {
  PartitionLoads all;
  const std::lock_guard lock(mutex_);
  for (const auto& [partition, load] : loads_) {
    const double value = decayed(load.value, now - load.since);
    if (value >= kLeast) all.emplace(partition, value);
  }
  return all;
}

std::vector<index::PartitionId> worked_for(const Request& request, const Response& response) {
  return std::visit(WorkedFor{response}, request);
}

}  // namespace kin::router
