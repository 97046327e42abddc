// The small facts that all routers of an installation agree on: maps of indexes, above all.
//
//   KIN_TRY(const auto now, meta.get("map/papers"));
//   KIN_TRY(const auto written, meta.swap("map/papers", now ? now->revision : 0, bytes));
//   if (!written) ...  // somebody else was faster: read again
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace kin::router {

struct MetaValue {
  std::string bytes = {};
  std::uint64_t revision = 0;  // grows with every change of the store; at least 1
  friend bool operator==(const MetaValue&, const MetaValue&) = default;
};

struct MetaEntry {
  std::string key = {};
  std::optional<MetaValue> value = {};  // nothing: the key was removed
  friend bool operator==(const MetaEntry&, const MetaEntry&) = default;
};

struct MetaChanges {
  std::vector<MetaEntry> entries = {};  // by key, each once, in its last state
  std::uint64_t revision = 0;           // every change up to this one was looked at
};

// Changes are durable when a call returns, and all callers see them in the same order. An error
// kUnavailable of swap() means that it may or may not have taken effect. Thread-safe.
class MetaStore {
 public:
  virtual ~MetaStore() = default;

  virtual Result<std::optional<MetaValue>> get(std::string_view key) = 0;

  // Writes `bytes`, or removes the key if there are none, if the key's revision is `expected` (0:
  // there is no such key). Returns the new revision; nothing if it was another.
  virtual Result<std::optional<std::uint64_t>> swap(std::string_view key, std::uint64_t expected,
                                                    std::optional<std::string_view> bytes) = 0;

  // The keys with this prefix that changed after revision `after`. Returns at once if there are
  // any, else when one changes or at `until`, without entries. 0 gives all keys that exist.
  virtual Result<MetaChanges> watch(std::string_view prefix, std::uint64_t after,
                                    SteadyTime until) = 0;
};

}  // namespace kin::router
