#include "router/last_known_meta.h"

namespace kin::router {
namespace {

bool is_away(const Error& error) {
  return error.code == Code::kUnavailable;
}

}  // namespace

Status LastKnownMeta::load() {
  return follow(clock_.steady_now());
}

Status LastKnownMeta::follow(SteadyTime until) {
  std::uint64_t after = 0;
  {
    const std::lock_guard lock(mutex_);
    after = revision_;
  }
  const auto changes = store_.watch("", after, until);
  away_ = !changes.ok();
  if (!changes.ok()) return changes.error();
  const std::lock_guard lock(mutex_);
  for (const MetaEntry& entry : changes->entries) {
    if (entry.value)
      values_.insert_or_assign(entry.key, *entry.value);
    else
      values_.erase(entry.key);
  }
  revision_ = changes->revision;
  return Done{};
}

Result<std::optional<MetaValue>> LastKnownMeta::get(std::string_view key) {
  if (!away_) {
    auto asked = store_.get(key);
    if (asked.ok() || !is_away(asked.error())) return asked;
  }
  const std::lock_guard lock(mutex_);
  const auto value = values_.find(key);
  if (value == values_.end()) return std::optional<MetaValue>();
  return std::optional(value->second);
}

Result<std::optional<std::uint64_t>> LastKnownMeta::swap(std::string_view key,
                                                         std::uint64_t expected,
                                                         std::optional<std::string_view> bytes) {
  return store_.swap(key, expected, bytes);
}

MetaChanges LastKnownMeta::known(std::string_view prefix) const {
  const std::lock_guard lock(mutex_);
  MetaChanges found{.revision = revision_};
  for (auto value = values_.lower_bound(prefix);
       value != values_.end() && value->first.starts_with(prefix); ++value)
    found.entries.push_back({.key = value->first, .value = value->second});
  return found;
}

Result<MetaChanges> LastKnownMeta::watch(std::string_view prefix, std::uint64_t after,
                                         SteadyTime until) {
  if (after == 0 && away_) return known(prefix);
  auto asked = store_.watch(prefix, after, until);
  if (asked.ok() || after != 0 || !is_away(asked.error())) return asked;
  return known(prefix);
}

}  // namespace kin::router
