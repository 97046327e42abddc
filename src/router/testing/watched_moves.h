// The calls of a mover in a simulation: observed one by one, and spoilt by deliberate mistakes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "router/meta_store.h"
#include "router/router.h"
#include "router/testing/simulated_node.h"

namespace kin::router {

struct MoverWatch {
  // Called before a call is sent. `peer` is the address of a shard, or "meta".
  std::function<void(const std::string& peer)> before = {};
  Sabotage sabotage = Sabotage::kNone;
};

// Ways to shards that make the mover's mistakes and tell the watch of every call.
Connect watched(Connect connect, MoverWatch watch);

// A page of a copy with the mistakes of whoever reads it from the source: a mover or the target.
void spoil(Sabotage sabotage, index::ExportPage& page);

// A meta store that does the same. One thread only; the other store outlives it.
class WatchedMeta final : public MetaStore {
 public:
  WatchedMeta(MetaStore& meta, MoverWatch watch) : meta_(meta), watch_(std::move(watch)) {}

  Result<std::optional<MetaValue>> get(std::string_view key) override;
  Result<std::optional<std::uint64_t>> swap(std::string_view key, std::uint64_t expected,
                                            std::optional<std::string_view> bytes) override;
  Result<MetaChanges> watch(std::string_view prefix, std::uint64_t after,
                            SteadyTime until) override;

 private:
  MetaStore& meta_;
  MoverWatch watch_;
};

}  // namespace kin::router
