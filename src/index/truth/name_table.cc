#include "index/truth/name_table.h"

#include <fmt/format.h>

#include <mutex>

#include "index/truth/entity_format.h"
#include "index/truth/entity_keys.h"

namespace kin::index {

Status NameTable::load(const kv::KeyValueStore& store, std::uint32_t count) {
  const auto take = [this](std::string_view key, std::string_view value) -> Status {
    KIN_TRY(const std::string name, decode_name(value));
    const std::optional<NameId> id = decode_name_key(key);
    // Rows come in the order of numbers, which are dense.
    if (!id || static_cast<std::uint32_t>(*id) != size() || find(name))
      return Error{Code::kDataLoss, fmt::format("the name \"{}\" has the wrong number", name)};
    add(name);
    return Done{};
  };
  KIN_RETURN_IF_ERROR(store.for_each("", take, kNamesFamily));
  if (size() == count) return Done{};
  return Error{Code::kDataLoss, fmt::format("{} names are there, and should be {}", size(), count)};
}

std::optional<NameId> NameTable::find(std::string_view name) const {
  const std::shared_lock lock(mutex_);
  const auto found = ids_.find(name);
  if (found == ids_.end()) return {};
  return found->second;
}

Result<std::string_view> NameTable::name(NameId id) const {
  const std::shared_lock lock(mutex_);
  const auto place = static_cast<std::size_t>(id);
  if (place < names_.size()) return std::string_view(names_[place]);
  return Error{Code::kDataLoss, fmt::format("name {} is missing", place)};
}

std::uint32_t NameTable::size() const {
  const std::shared_lock lock(mutex_);
  return static_cast<std::uint32_t>(names_.size());
}

NameId NameTable::add(std::string_view name) {
  const std::unique_lock lock(mutex_);
  const NameId id{static_cast<std::uint32_t>(names_.size())};
  names_.emplace_back(name);
  // The map's key is a view of the deque's string, which never moves.
  ids_.emplace(names_.back(), id);
  return id;
}

}  // namespace kin::index
