#include "router/local_meta_store.h"

#include <algorithm>

namespace kin::router {

Result<std::unique_ptr<LocalMetaStore>> LocalMetaStore::open(const std::filesystem::path& folder,
                                                             const LocalMetaOptions& options) {
  const std::uint64_t small = std::uint64_t{4} << 20;
  KIN_TRY(auto store, kv::KeyValueStore::open(folder, {.block_cache_bytes = small,
                                                       .write_buffer_bytes = small,
                                                       .background_jobs = 1,
                                                       .engine = options.engine,
                                                       .disk = options.disk}));
  std::unique_ptr<LocalMetaStore> meta(new LocalMetaStore(std::move(store)));
  KIN_RETURN_IF_ERROR(meta->load());
  return meta;
}

Status LocalMetaStore::load() {
  return store_->for_each("", [&](std::string_view key, std::string_view value) -> Status {
    KIN_TRY(MetaRow row, decode_meta_row(value));
    revision_ = std::max(revision_, row.revision);
    rows_.emplace(key, std::move(row));
    return Done{};
  });
}

Result<std::optional<MetaValue>> LocalMetaStore::get(std::string_view key) {
  const std::lock_guard lock(mutex_);
  const auto row = rows_.find(key);
  if (row == rows_.end() || !row->second.bytes) return std::optional<MetaValue>();
  return std::optional(MetaValue{.bytes = *row->second.bytes, .revision = row->second.revision});
}

Result<std::optional<std::uint64_t>> LocalMetaStore::swap(std::string_view key,
                                                          std::uint64_t expected,
                                                          std::optional<std::string_view> bytes) {
  const std::lock_guard lock(mutex_);
  const auto known = rows_.find(key);
  const bool exists = known != rows_.end() && known->second.bytes;
  if (expected != (exists ? known->second.revision : 0)) return std::optional<std::uint64_t>();
  if (!exists && !bytes) return std::optional(revision_);  // there is nothing to remove
  MetaRow row{.revision = revision_ + 1};
  if (bytes) row.bytes = std::string(*bytes);
  kv::Batch batch(*store_);
  batch.put(key, encode(row));
  KIN_RETURN_IF_ERROR(store_->write(batch));
  revision_ = row.revision;
  rows_.insert_or_assign(std::string(key), std::move(row));
  changed_.notify_all();
  return std::optional(revision_);
}

MetaChanges LocalMetaStore::changes(std::string_view prefix, std::uint64_t after) const {
  MetaChanges found{.revision = revision_};
  for (auto row = rows_.lower_bound(prefix); row != rows_.end() && row->first.starts_with(prefix);
       ++row) {
    const MetaRow& now = row->second;
    if (now.revision <= after || (after == 0 && !now.bytes)) continue;
    MetaEntry& entry = found.entries.emplace_back(MetaEntry{.key = row->first});
    if (now.bytes) entry.value = MetaValue{.bytes = *now.bytes, .revision = now.revision};
  }
  return found;
}

Result<MetaChanges> LocalMetaStore::watch(std::string_view prefix, std::uint64_t after,
                                          SteadyTime until) {
  std::unique_lock lock(mutex_);
  MetaChanges found = changes(prefix, after);
  while (found.entries.empty() && changed_.wait_until(lock, until) != std::cv_status::timeout)
    found = changes(prefix, after);
  return found;
}

}  // namespace kin::router
