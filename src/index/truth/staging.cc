#include "index/truth/staging.h"

namespace kin::index {
namespace {

std::size_t slot(kv::Family family) {
  return static_cast<std::size_t>(family);
}

}  // namespace

Status StagedRows::fetch(kv::Family family, std::vector<std::string> keys) {
  KIN_TRY(auto values, store_.get_many(keys, family));
  auto& known = fetched_[slot(family)];
  for (std::size_t i = 0; i < keys.size(); ++i)
    known.insert_or_assign(std::move(keys[i]), std::move(values[i]));
  return Done{};
}

Result<std::optional<std::string>> StagedRows::get(kv::Family family,
                                                   const std::string& key) const {
  // Changes of this batch hide rows that were fetched, and those hide the store.
  const Rows& changed = changed_[slot(family)];
  if (const auto found = changed.find(key); found != changed.end()) return found->second;
  const auto& known = fetched_[slot(family)];
  if (const auto found = known.find(key); found != known.end()) return found->second;
  return store_.get(key, family);
}

Status StagedRows::for_each(kv::Family family, std::string_view prefix, const Visit& visit) const {
  // Collected before the first visit, since visits may change rows.
  std::map<std::string, std::string> rows;
  kv::Cursor at = store_.cursor(kv::keys_with(prefix), family);
  for (; at.valid(); at.next()) rows.emplace(at.key(), at.value());
  KIN_RETURN_IF_ERROR(at.status());
  const Rows& changed = changed_[slot(family)];
  for (auto row = changed.lower_bound(std::string(prefix));
       row != changed.end() && row->first.starts_with(prefix); ++row) {
    if (row->second) rows.insert_or_assign(row->first, *row->second);
    if (!row->second) rows.erase(row->first);
  }
  for (const auto& [key, value] : rows) KIN_RETURN_IF_ERROR(visit(key, value));
  return Done{};
}

Result<bool> StagedRows::has_any(kv::Family family, std::string_view prefix) const {
  bool found = false;
  KIN_RETURN_IF_ERROR(for_each(family, prefix, [&](const std::string&, const std::string&) {
    found = true;
    return Status(Done{});
  }));
  return found;
}

void StagedRows::put(kv::Family family, std::string key, std::string value) {
  Rows& rows = changed_[slot(family)];
  // Keys of contents, documents and changes only grow, so the end is mostly the right hint.
  rows.insert_or_assign(rows.end(), std::move(key), std::move(value));
}

void StagedRows::remove(kv::Family family, std::string key) {
  changed_[slot(family)].insert_or_assign(std::move(key), std::nullopt);
}

void StagedRows::write_to(kv::Batch& batch) const {
  for (std::size_t family = 0; family < changed_.size(); ++family) {
    for (const auto& [key, value] : changed_[family]) {
      const kv::Family to{static_cast<std::uint32_t>(family)};
      value ? batch.put(key, *value, to) : batch.remove(key, to);
    }
  }
}

}  // namespace kin::index
