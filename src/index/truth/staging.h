// Rows of a batch that is not written yet, read as if it were.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "index/truth/entity_keys.h"
#include "kv/key_value_store.h"

namespace kin::index {

// A store with unwritten changes on top. While it is in use nobody else may write to the store. One
// thread only.
class StagedRows {
 public:
  explicit StagedRows(const kv::KeyValueStore& store) : store_(store) {}

  // Reads many rows in one go, for later calls of get().
  Status fetch(kv::Family family, std::vector<std::string> keys);
  Result<std::optional<std::string>> get(kv::Family family, const std::string& key) const;
  // In the order of keys; `visit` may change rows.
  using Visit = std::function<Status(const std::string& key, const std::string& value)>;
  Status for_each(kv::Family family, std::string_view prefix, const Visit& visit) const;
  Result<bool> has_any(kv::Family family, std::string_view prefix) const;

  void put(kv::Family family, std::string key, std::string value);
  void remove(kv::Family family, std::string key);
  void write_to(kv::Batch& batch) const;

 private:
  using Rows = std::map<std::string, std::optional<std::string>>;
  const kv::KeyValueStore& store_;
  std::array<Rows, kTruthFamilies> changed_;
  std::array<std::unordered_map<std::string, std::optional<std::string>>, kTruthFamilies> fetched_;
};

}  // namespace kin::index
