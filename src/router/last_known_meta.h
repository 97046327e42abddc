// What a meta store said last, for the time when it is away.
//
//   LastKnownMeta meta(etcd, clock);
//   KIN_RETURN_IF_ERROR(meta.load());
//   for (;;) [[maybe_unused]] const Status seen = meta.follow(clock.steady_now() + 1min);
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "router/meta_store.h"

namespace kin::router {

// Reads are answered by the store, and from memory while it is away; they may be old then, which
// does no harm to readers whose requests are checked by epoch. Changes need the store. Thread-safe.
class LastKnownMeta final : public MetaStore {
 public:
  // `store` and `clock` must outlive it.
  LastKnownMeta(MetaStore& store, Clock& clock) : store_(store), clock_(clock) {}

  // Reads everything.
  Status load();
  // Waits for changes until `until`, and takes them over. An error means that the store is away:
  // reads come from memory until a later call succeeds.
  Status follow(SteadyTime until);

  Result<std::optional<MetaValue>> get(std::string_view key) override;
  Result<std::optional<std::uint64_t>> swap(std::string_view key, std::uint64_t expected,
                                            std::optional<std::string_view> bytes) override;
  // kUnavailable while the store is away, unless `after` is 0: then what is known is returned.
  Result<MetaChanges> watch(std::string_view prefix, std::uint64_t after,
                            SteadyTime until) override;

 private:
  MetaChanges known(std::string_view prefix) const;

  MetaStore& store_;
  Clock& clock_;
  std::atomic<bool> away_{false};
  mutable std::mutex mutex_;  // guards what follows
  std::map<std::string, MetaValue, std::less<>> values_;
  std::uint64_t revision_ = 0;
};

}  // namespace kin::router
