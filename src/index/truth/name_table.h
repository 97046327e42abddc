// Names and their numbers, both ways.
#pragma once

#include <deque>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "index/truth/name_id.h"
#include "kv/key_value_store.h"

namespace kin::index {

// All of them in memory: they are few, and recur in every row. Thread-safe.
class NameTable {
 public:
  // From the `names` of a store, of which there must be exactly `count`.
  Status load(const kv::KeyValueStore& store, std::uint32_t count);

  std::optional<NameId> find(std::string_view name) const;
  // kDataLoss if there is no such name. Lives as long as the table.
  Result<std::string_view> name(NameId id) const;
  std::uint32_t size() const;
  // The next number; `name` must be new.
  NameId add(std::string_view name);

 private:
  mutable std::shared_mutex mutex_;
  std::deque<std::string> names_;  // never moved, so that views of them hold
  std::unordered_map<std::string_view, NameId> ids_;
};

}  // namespace kin::index
