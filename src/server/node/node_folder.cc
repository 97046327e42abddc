#include "server/node/node_folder.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "search/index_config.h"
#include "server/node/copy_state.h"
#include "server/tenants/names.h"

namespace kin::server {

namespace fs = std::filesystem;

Result<std::unique_ptr<NodeFolder>> NodeFolder::open(fs::path folder, Clock& clock,
                                                     DrawIdentity draw,
                                                     std::optional<NodeLogOptions> log) {
  std::unique_ptr<NodeFolder> node(
      new NodeFolder(std::move(folder), clock, std::move(draw), std::move(log)));
  KIN_TRY(const bool has_leases, file_exists(node->folder_ / kCopiesName));
  if (has_leases)
    return Error{Code::kFailedPrecondition,
                 fmt::format("{}: the shards in this folder have leases (start the node with the "
                             "--meta and --log that it had)",
                             node->folder_.string())};
  KIN_RETURN_IF_ERROR(node->restore_missing());
  std::error_code problem;
  for (fs::directory_iterator at(node->folder_, problem), end; !problem && at != end;
       at.increment(problem)) {
    const fs::path settings = at->path() / search::kConfigName;
    // A folder without settings was never acknowledged.
    if (!fs::exists(settings)) continue;
    const std::string name = at->path().filename().string();
    KIN_TRY(const std::string bytes, read_file(settings));
    auto opened = node->open_shard(name, bytes);
    if (!opened) return with_context(at->path().string(), opened.error());
    node->served_.emplace(name, std::move(*opened));
  }
  if (problem && problem != std::errc::no_such_file_or_directory)
    return Error{Code::kUnavailable,
                 fmt::format("{}: {}", node->folder_.string(), problem.message())};
  return node;
}

Result<NodeFolder::Served> NodeFolder::open_shard(const std::string& name,
                                                  const std::string& settings) const {
  KIN_TRY(const search::IndexConfig config, search::decode_config(settings));
  KIN_TRY(index::ShardOptions options, search::node_shard_options(config));
  options.clock = &clock_;
  if (log_) {
    KIN_TRY(LoggedHost opened, open_logged(*log_, {.index = name,
                                                   .settings = settings,
                                                   .folder = folder_ / name / search::kShardName,
                                                   .shard = std::move(options),
                                                   .clock = &clock_,
                                                   .draw = draw_}));
    return Served{
        .settings = settings, .log = std::move(opened.log), .host = std::move(opened.host)};
  }
  KIN_TRY(auto host,
          router::ShardHost::open(folder_ / name / search::kShardName, options, draw_()));
  return Served{.settings = settings, .host = std::move(host)};
}

// A folder without settings does not count, so a restore that does not come to its end is repeated.
Status NodeFolder::restore_missing() {
  if (!log_) return Done{};
  KIN_TRY(const auto own, find_own_shards(*log_));
  for (const OwnShard& one : own) {
    const fs::path folder = folder_ / one.shard.index;
    KIN_RETURN_IF_ERROR(check_full_name(one.shard.index));
    if (fs::exists(folder / search::kConfigName)) continue;
    const Status restored = restore_rows(*log_, one, folder / search::kShardName);
    if (!restored.ok())
      return with_context(fmt::format("restoring {}", one.shard.index), restored.error());
    KIN_RETURN_IF_ERROR(write_file_atomically(folder / search::kConfigName, one.settings));
  }
  return Done{};
}

std::shared_ptr<router::ShardLog> NodeFolder::log_of(
    const std::shared_ptr<router::ShardHost>& host) {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, served] : served_) {
    if (served.host == host) return served.log;
  }
  return nullptr;
}

Status NodeFolder::hold(const std::shared_ptr<router::ShardHost>& host, SteadyTime deadline) {
  using Wait = router::LogShipper::Wait;
  const auto log = log_ ? log_of(host) : nullptr;
  if (log == nullptr) return Done{};
  const router::LogShipper& shipper = log->shipper();
  const Wait wait = log_->durable        ? log->shipper().wait(shipper.position(), deadline)
                    : shipper.is_deposed() ? Wait::kDeposed
                                           : Wait::kDurable;
  switch (wait) {
    case Wait::kDurable: return Done{};
    case Wait::kNotYet:
      return Error{Code::kUnavailable,
                   "the log of the shard does not take what was written (is its object store "
                   "there?); the request may have taken effect"};
    case Wait::kDeposed:
      return Error{Code::kUnavailable, "another node has taken over the shard (ask the new map)"};
  }
  KIN_UNREACHABLE();
}

Result<std::shared_ptr<router::ShardHost>> NodeFolder::find(const std::string& index,
                                                            const Hash128&) {
  const std::lock_guard lock(mutex_);
  const auto found = served_.find(index);
  if (found != served_.end() && !found->second.dropped) return found->second.host;
  return Error{Code::kNotFound, fmt::format("the node has no shard of an index \"{}\"", index)};
}

Status NodeFolder::discard(const std::string& name) const {
  std::error_code problem;
  // The settings first: a folder without them does not count.
  fs::remove(folder_ / name / search::kConfigName, problem);
  if (!problem) fs::remove_all(folder_ / name, problem);
  if (!problem) return Done{};
  return Error{Code::kUnavailable,
               fmt::format("{}: {}", (folder_ / name).string(), problem.message())};
}

Status NodeFolder::create(const rpc::ServedIndex& index) {
  KIN_RETURN_IF_ERROR(check_full_name(index.name));
  const std::lock_guard creating(creating_);
  KIN_RETURN_IF_ERROR(finish_drop(index.name));
  std::shared_ptr<router::ShardLog> left_log;
  std::shared_ptr<router::ShardHost> left;  // by an index that did not come about
  {
    const std::lock_guard lock(mutex_);
    const auto there = served_.find(index.name);
    if (there != served_.end() && there->second.settings == index.settings) return Done{};
    // Whoever works on it holds it, too.
    const bool is_left = there != served_.end() && !there->second.host->is_assigned() &&
                         there->second.host.use_count() == 1;
    if (there != served_.end() && !is_left)
      return Error{Code::kFailedPrecondition,
                   fmt::format("the node has an index \"{}\" with other settings", index.name)};
    if (is_left) {
      left_log = std::move(there->second.log);
      left = std::move(there->second.host);
      served_.erase(there);
    }
  }
  if (left) {
    KIN_RETURN_IF_ERROR(left->close());
    left.reset();
    if (left_log) KIN_RETURN_IF_ERROR(left_log->remove_all());
    KIN_RETURN_IF_ERROR(discard(index.name));
  }
  KIN_TRY(Served made, open_shard(index.name, index.settings));
  if (made.log) made.log->shipper().on_work(wake_);
  // The settings come last: a folder without them does not count.
  KIN_RETURN_IF_ERROR(
      write_file_atomically(folder_ / index.name / search::kConfigName, index.settings));
  const std::lock_guard lock(mutex_);
  served_.emplace(index.name, std::move(made));
  return Done{};
}

Status NodeFolder::drop(const std::string& index, const Hash128& shard) {
  const std::lock_guard creating(creating_);
  {
    const std::lock_guard lock(mutex_);
    const auto found = served_.find(index);
    if (found == served_.end()) return Done{};
    if (found->second.host->identity() != shard)
      return Error{Code::kFailedPrecondition,
                   fmt::format("the node's shard of \"{}\" is another one, and stays", index)};
    found->second.dropped = true;
  }
  // Without its settings the folder does not count after a restart.
  std::error_code problem;
  fs::remove(folder_ / index / search::kConfigName, problem);
  if (problem)
    return Error{Code::kUnavailable,
                 fmt::format("{}: {}", (folder_ / index).string(), problem.message())};
  return finish_drop(index);
}

Status NodeFolder::finish_drop(const std::string& name) {
  std::shared_ptr<router::ShardLog> log;
  std::shared_ptr<router::ShardHost> host;
  {
    const std::lock_guard lock(mutex_);
    const auto found = served_.find(name);
    if (found == served_.end() || !found->second.dropped) return Done{};
    if (found->second.host.use_count() > 1)
      return Error{Code::kUnavailable,
                   fmt::format("the shard of \"{}\" is still in use; try again", name)};
    log = std::move(found->second.log);
    host = std::move(found->second.host);
    served_.erase(found);
  }
  KIN_RETURN_IF_ERROR(host->close());
  host.reset();
  if (log) KIN_RETURN_IF_ERROR(log->remove_all());
  return discard(name);
}

Result<std::vector<rpc::ServedIndex>> NodeFolder::list() {
  std::vector<rpc::ServedIndex> all;
  for (const auto& [name, served] : served())
    all.push_back({.name = name, .settings = served.settings});
  return all;
}

std::map<std::string, NodeFolder::Served> NodeFolder::served() {
  const std::lock_guard lock(mutex_);
  std::map<std::string, Served> all;
  for (const auto& [name, served] : served_) {
    if (!served.dropped) all.emplace(name, served);
  }
  return all;
}

std::vector<ShardFigures> NodeFolder::figures() {
  std::vector<ShardFigures> all;
  for (const auto& [name, shard] : served()) {
    all.push_back({.index = name,
                   .stats = shard.host->shard().stats(),
                   .loads = shard.host->loads()});
    if (shard.log)
      all.back().log = LogFigures{.shipped = shard.log->shipper().stats(),
                                  .snapshots = shard.log->snapshot_stats()};
  }
  return all;
}

Result<StepOutcome> NodeFolder::step() {
  StepOutcome all = StepOutcome::idle();
  for (const auto& [name, shard] : served()) {
    KIN_TRY(const StepOutcome one, shard.host->step());
    all = combine(all, one);
  }
  return all;
}

bool NodeFolder::is_in_move() {
  return std::ranges::any_of(served(),
                             [](const auto& one) { return one.second.host->is_in_move(); });
}

void NodeFolder::on_work(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
  for (const auto& [name, served] : served_) {
    if (served.log) served.log->shipper().on_work(wake_);
  }
}

Result<StepOutcome> NodeFolder::ship() {
  StepOutcome all = StepOutcome::idle();
  for (const auto& [name, shard] : served()) {
    if (!shard.log) continue;
    KIN_TRY(const StepOutcome one, shard.log->shipper().step());
    all = combine(all, one);
  }
  return all;
}

Result<StepOutcome> NodeFolder::step_snapshots() {
  StepOutcome all = StepOutcome::idle();
  for (const auto& [name, shard] : served()) {
    if (!shard.log) continue;
    KIN_TRY(const StepOutcome one, shard.log->step_snapshots());
    all = combine(all, one);
  }
  return all;
}

Status NodeFolder::close() {
  const std::lock_guard lock(mutex_);
  Status first = Done{};
  for (auto& [name, served] : served_) {
    Status closed = served.host->close();
    if (closed.ok() && served.log) closed = served.log->close();
    if (first.ok() && !closed.ok()) first = closed;
  }
  served_.clear();
  return first;
}

}  // namespace kin::server
