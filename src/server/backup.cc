#include "server/backup.h"

#include <fmt/format.h>

#include <map>

#include "base/file.h"
#include "search/index_config.h"
#include "server/tenants/names.h"

namespace kin::server {
namespace {

namespace fs = std::filesystem;

struct Found {
  router::LoggedShard shard = {};
  router::LogSnapshot newest = {};
};

// The shards of an index that have a snapshot.
Result<std::vector<Found>> find_shards(cloud::ObjectStore& from, const std::string& index) {
  KIN_TRY(const auto shards, router::list_logged_shards(from));
  std::vector<Found> all;
  for (const router::LoggedShard& shard : shards) {
    if (!index.empty() && shard.index != index) continue;
    const auto objects =
        cloud::objects_below(from, router::log_prefix(shard.index, shard.identity));
    KIN_TRY(auto snapshots, router::list_snapshots(*objects));
    if (snapshots.empty())
      return Error{Code::kFailedPrecondition,
                   fmt::format("a shard of {} has no snapshot yet (try again soon)", shard.index)};
    all.push_back({.shard = shard, .newest = std::move(snapshots.back())});
  }
  if (!all.empty()) return all;
  return Error{Code::kNotFound, index.empty() ? "there is no log of any shard"
                                              : fmt::format("there is no log of {}", index)};
}

}  // namespace

Result<std::vector<BackedUp>> back_up(cloud::ObjectStore& from, cloud::ObjectStore& to,
                                      const std::string& index) {
  KIN_TRY(const auto shards, find_shards(from, index));
  std::vector<BackedUp> done;
  for (const Found& one : shards) {
    const std::string prefix = router::log_prefix(one.shard.index, one.shard.identity);
    const auto source = cloud::objects_below(from, prefix);
    const auto target = cloud::objects_below(to, prefix);
    KIN_TRY(auto report, router::back_up_shard(*source, *target));
    const std::string name = router::logged_shard_name(one.shard.index, one.shard.identity);
    KIN_TRY([[maybe_unused]] const bool listed, to.create(name, ""));
    done.push_back({.shard = one.shard, .owner = one.newest.owner, .report = report});
  }
  return done;
}

Result<std::vector<RestoredIndex>> restore(cloud::ObjectStore& from,
                                           const RestoreRequest& request) {
  KIN_TRY(const auto shards, find_shards(from, request.index));
  std::map<std::string, const Found*> chosen;
  for (const Found& one : shards) {
    if (!request.node.empty() && one.newest.owner != request.node) continue;
    const auto [place, is_first] = chosen.emplace(one.shard.index, &one);
    if (!is_first)
      return Error{Code::kFailedPrecondition,
                   fmt::format("{} has shards of the nodes {} and {} (choose one by --node)",
                               one.shard.index, place->second->newest.owner, one.newest.owner)};
  }
  if (chosen.empty())
    return Error{Code::kNotFound, fmt::format("there is no shard of the node {}", request.node)};
  std::vector<RestoredIndex> done;
  for (const auto& [name, one] : chosen) {
    KIN_RETURN_IF_ERROR(check_full_name(name));
    const fs::path folder = request.folder / name;
    if (fs::exists(folder / search::kConfigName))
      return Error{Code::kFailedPrecondition,
                   fmt::format("{} has the index already (choose another folder)",
                               request.folder.string())};
    const auto objects = cloud::objects_below(from, router::log_prefix(name, one->shard.identity));
    const fs::path shard = folder / search::kShardName;
    std::error_code ignored;  // what an earlier try left; restoring reports a folder that stays
    fs::remove_all(shard, ignored);
    auto restored = router::restore_shard(*objects, shard, {.at = request.at});
    if (!restored) return with_context(name, restored.error());
    KIN_RETURN_IF_ERROR(router::write_role(system_disk(), shard, {.restored = true}));
    // The settings come last: a folder without them does not count.
    KIN_RETURN_IF_ERROR(
        write_file_atomically(folder / search::kConfigName, restored->snapshot.settings));
    done.push_back({.index = name, .time = restored->time});
  }
  return done;
}

}  // namespace kin::server
