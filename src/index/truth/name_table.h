// Maps names to numbers and back.
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

// All names are in memory: they are few and occur in every row. Thread-safe.
class NameTable {
 public:
  // Reads the family `names`. kDataLoss unless there are exactly `count`.
  Status load(const kv::KeyValueStore& store, std::uint32_t count);

  std::optional<NameId> find(std::string_view name) const;
  // kDataLoss for an unknown number. The view lives as long as the table.
  Result<std::string_view> name(NameId id) const;
  std::uint32_t size() const;
  // Gives `name`, which must be new, the next number.
  NameId add(std::string_view name);

 private:
  mutable std::shared_mutex mutex_;
  std::deque<std::string> names_;  // never moved, so that views of them hold
  std::unordered_map<std::string_view, NameId> ids_;
};

}  // namespace kin::index
