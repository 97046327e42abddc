// How much work each partition of a shard makes.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "base/clock.h"
#include "router/requests.h"

namespace kin::router {

// Moving averages: work of `kHalfLife` ago counts half. Thread-safe.
class Loads {
 public:
  static constexpr std::chrono::seconds kHalfLife{120};

  // Adds work that was done until `now`, in equal parts for each of the partitions.
  void add(std::span<const index::PartitionId> partitions, std::chrono::nanoseconds work,
           SteadyTime now);
  PartitionLoads at(SteadyTime now) const;

 private:
  struct Load {
    double value = 0;  // at `since`
    SteadyTime since = {};
  };
  mutable std::mutex mutex_;
  std::map<index::PartitionId, Load> loads_;
};

// The partitions that the work of an answered request counts for, which may repeat. A write counts
// for the partitions of its entities. A request that shows documents counts for the partitions
// these are in, since most of its work was there; if it shows none, for all that it names. Requests
// about the shard as a whole count for none. Thread-safe.
std::vector<index::PartitionId> worked_for(const Request& request, const Response& response);

}  // namespace kin::router
