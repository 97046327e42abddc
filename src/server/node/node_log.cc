#include "server/node/node_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "router/log_terms.h"

namespace kin::server {
namespace {

namespace fs = std::filesystem;

// The identity that the shard in `folder` has, without opening it.
Result<std::optional<Hash128>> stored_identity(const fs::path& folder) {
  const auto row = kv::read_value(folder / router::kDirectoryFolder, router::kIdentityKey);
  if (!row && row.error().code == Code::kNotFound) return std::optional<Hash128>();
  if (!row) return row.error();
  if (!*row) return std::optional<Hash128>();
  KIN_TRY(const Hash128 identity, router::decode_identity(**row));
  return std::optional(identity);
}

}  // namespace

Result<LoggedHost> open_logged(const NodeLogOptions& log, LoggedShardOptions options) {
  KIN_TRY(std::optional<Hash128> identity, stored_identity(options.folder));
  if (!identity) identity = options.draw();
  LoggedHost opened;
  opened.log = std::make_shared<router::ShardLog>(
      *log.objects, *identity,
      router::ShardLogOptions{.index = options.index,
                              .settings = options.settings,
                              .owner = log.owner,
                              .folder = options.folder,
                              .clock = options.clock,
                              .draw = options.draw,
                              .shipper = log.shipper,
                              .snapshots = log.snapshots});
  KIN_TRY(const bool is_copy, opened.log->is_copy());
  KIN_TRY(auto host, router::ShardHost::open(options.folder, std::move(options.shard), *identity,
                                             opened.log->ties(is_copy)));
  opened.host = std::move(host);
  if (is_copy) {
    KIN_TRY(const std::uint64_t term, opened.log->next_term());
    KIN_RETURN_IF_ERROR(opened.log->take_over(*opened.host, term));
  } else {
    KIN_RETURN_IF_ERROR(opened.log->own(*opened.host));
  }
  return opened;
}

Result<std::vector<OwnShard>> find_own_shards(const NodeLogOptions& log) {
  KIN_TRY(const auto shards, router::list_logged_shards(*log.objects));
  std::vector<OwnShard> own;
  for (const router::LoggedShard& shard : shards) {
    const auto objects =
        cloud::objects_below(*log.objects, router::log_prefix(shard.index, shard.identity));
    KIN_TRY(const router::LogEnd end, router::find_end(*objects));
    if (end.dropped || !end.begin || end.begin->owner != log.owner) continue;
    KIN_TRY(const auto snapshots, router::list_snapshots(*objects));
    // Without a snapshot nothing was acknowledged as durable, and there is nothing to restore.
    if (!snapshots.empty())
      own.push_back({.shard = shard, .settings = snapshots.back().settings});
  }
  return own;
}

Status restore_rows(const NodeLogOptions& log, const OwnShard& shard, const fs::path& folder) {
  std::error_code problem;
  fs::remove_all(folder, problem);
  if (problem)
    return Error{Code::kUnavailable, fmt::format("{}: {}", folder.string(), problem.message())};
  const auto objects = cloud::objects_below(
      *log.objects, router::log_prefix(shard.shard.index, shard.shard.identity));
  KIN_TRY([[maybe_unused]] const auto restored, router::restore_shard(*objects, folder, {}));
  return Done{};
}

}  // namespace kin::server
