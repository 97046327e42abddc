// Seeds of simulated runs in tests: which ones, and what is told of one that fails.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "router/testing/cluster_run.h"

namespace kin::router {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr std::uint64_t kSeeds = 20;
#else
inline constexpr std::uint64_t kSeeds = 300;
#endif

// KIN_FIRST_SEED, or 1.
std::uint64_t first_seed();
// KIN_SEEDS, or `otherwise`.
std::uint64_t seeds(std::uint64_t otherwise);

// The failing run as it is, and as little of it as fails, too.
std::string tell(const RunOptions& options, const RunReport& report);

// Runs with everything: followers and take-overs, an unreliable object store, two routers and, in
// most seeds, moves, aborts and shards that join; in five of eight, repartitions.
RunOptions everything(std::uint64_t seed, Sabotage sabotage = Sabotage::kNone);

// The first seed from 1 on with a violation; 0 if there is none up to `most`.
std::uint64_t first_violation(std::uint64_t most,
                              const std::function<RunOptions(std::uint64_t)>& options);

}  // namespace kin::router
