#include "server/node/leased_folder.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/disk.h"
#include "router/followers.h"
#include "router/shard_map.h"
#include "search/index_config.h"
#include "server/tenants/names.h"

namespace kin::server {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr const char* kLockName = "lock";
constexpr std::chrono::seconds kOwnTime{20};  // for a new shard, until it is owned
constexpr milliseconds kOwnPause{10};

Error failed(const fs::path& path, const std::error_code& problem) {
  return {Code::kUnavailable, fmt::format("{}: {}", path.string(), problem.message())};
}

// The names in a folder; none if it does not exist.
Result<std::vector<std::string>> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code problem;
  for (fs::directory_iterator at(folder, problem), end; !problem && at != end;
       at.increment(problem))
    names.push_back(at->path().filename().string());
  if (problem && problem != std::errc::no_such_file_or_directory) return failed(folder, problem);
  std::ranges::sort(names);
  return names;
}

// A shard that was made without leases would be served by nobody.
Status check_without_plain_shards(const fs::path& data) {
  KIN_TRY(const auto names, names_in(data));
  for (const std::string& name : names) {
    if (name.starts_with('.')) continue;
    KIN_TRY(const bool plain, file_exists(data / name / search::kConfigName));
    if (plain)
      return Error{Code::kFailedPrecondition,
                   fmt::format("{}: the shard was made without --meta and has no lease (start the "
                               "node without --meta, or with another --data folder)",
                               (data / name).string())};
  }
  return Done{};
}

}  // namespace

LeasedFolder::LeasedFolder(fs::path folder, File lock, CopyNode node)
    : folder_(std::move(folder)), lock_(std::move(lock)), node_(std::move(node)) {}

LeasedFolder::~LeasedFolder() {
  for (const CopyPointer& copy : copies()) copy->stop();
}

Result<std::unique_ptr<LeasedFolder>> LeasedFolder::open(const fs::path& data, CopyNode node) {
  KIN_RETURN_IF_ERROR(check_without_plain_shards(data));
  const fs::path folder = data / kCopiesName;
  KIN_RETURN_IF_ERROR(system_disk().make_folder(folder));
  KIN_TRY(File lock, File::open_to_update(folder / kLockName));
  // A process that takes its own lease again must know that the last one has ended.
  if (const Status locked = lock.lock(); !locked.ok())
    return Error{locked.error().code,
                 fmt::format("{}: another process uses this folder", data.string())};
  std::unique_ptr<LeasedFolder> leased(new LeasedFolder(folder, std::move(lock), std::move(node)));
  KIN_RETURN_IF_ERROR(leased->load());
  KIN_RETURN_IF_ERROR(leased->find_lost());
  return leased;
}

Status LeasedFolder::load() {
  KIN_TRY(const auto indexes, names_in(folder_));
  for (const std::string& index : indexes) {
    if (!check_full_name(index).ok() || !fs::is_directory(folder_ / index)) continue;
    KIN_TRY(const auto shards, names_in(folder_ / index));
    for (const std::string& shard : shards) {
      const auto identity = router::parse_identity(shard);
      if (!identity) continue;
      const Name name{index, *identity};
      KIN_TRY(auto copy, ShardCopy::open(node_, {index, *identity}, folder_of(name)));
      std::error_code problem;
      if (copy)
        put(name, std::move(copy));
      else
        fs::remove_all(folder_of(name), problem);
      if (problem) return failed(folder_of(name), problem);
    }
  }
  return Done{};
}

Status LeasedFolder::find_lost() {
  NodeLogOptions log = node_.log;
  log.owner = node_.address;
  KIN_TRY(const auto own, find_own_shards(log));
  for (const OwnShard& one : own) {
    const Name name{one.shard.index, one.shard.identity};
    if (!check_full_name(name.first).ok() || held(name)) continue;
    KIN_TRY(auto copy, ShardCopy::follow(node_, one.shard, folder_of(name)));
    put(name, std::move(copy));
    lost_.insert(name);
  }
  return Done{};
}

fs::path LeasedFolder::folder_of(const Name& name) const {
  return folder_ / name.first / router::identity_text(name.second);
}

void LeasedFolder::start() {
  const std::lock_guard lock(mutex_);
  started_ = true;
  for (const auto& [name, held] : copies_) held.copy->start();
}

void LeasedFolder::put(const Name& name, std::unique_ptr<ShardCopy> copy) {
  const std::lock_guard lock(mutex_);
  if (started_) copy->start();
  copies_.insert_or_assign(name, Held{.copy = std::move(copy)});
}

std::vector<LeasedFolder::CopyPointer> LeasedFolder::copies() const {
  const std::lock_guard lock(mutex_);
  std::vector<CopyPointer> all;
  for (const auto& [name, held] : copies_) {
    if (!held.retired) all.push_back(held.copy);
  }
  return all;
}

std::optional<LeasedFolder::Held> LeasedFolder::held(const Name& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = copies_.find(name);
  if (found == copies_.end()) return {};
  return found->second;
}

LeasedFolder::CopyPointer LeasedFolder::made_here(const std::string& index) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, held] : copies_) {
    if (name.first == index && held.copy->state().made_here) return held.copy;
  }
  return nullptr;
}

Result<std::shared_ptr<router::ShardHost>> LeasedFolder::find(const std::string& index,
                                                              const Hash128& shard) {
  CopyPointer copy;
  if (shard == Hash128{}) {
    copy = made_here(index);
  } else if (const auto found = held({index, shard}); found && !found->retired) {
    copy = found->copy;
  }
  if (!copy)
    return Error{Code::kNotFound,
                 fmt::format("the node has no shard of an index \"{}\" with this identity", index)};
  if (auto host = copy->host()) return host;
  return Error{
      Code::kUnavailable,
      fmt::format("the node's copy of a shard of \"{}\" is being opened or restored", index)};
}

Status LeasedFolder::hold(const std::shared_ptr<router::ShardHost>& host, SteadyTime deadline) {
  for (const CopyPointer& copy : copies()) {
    if (const auto held = copy->hold(*host, deadline)) return *held;
  }
  return Error{Code::kUnavailable, "another node has taken over the shard (ask the new map)"};
}

Result<LeasedFolder::CopyPointer> LeasedFolder::usable_for(const rpc::ServedIndex& index) {
  const CopyPointer there = made_here(index.name);
  if (!there) return CopyPointer();
  // Told what it owns is a shard only after its map was written. So one that was told and is in no
  // map is what a dropped index left.
  const auto host = there->host();
  const bool assigned = !host || host->is_assigned();
  KIN_TRY(const auto value, node_.meta->get(router::map_key(index.name)));
  bool in_map = false;
  if (value) {
    KIN_TRY(const router::ShardMap map, router::decode_shard_map(value->bytes));
    in_map = map.place_of(there->name().identity).has_value();
  }
  const bool same = there->settings() == index.settings;
  if (in_map && !same)
    return Error{Code::kFailedPrecondition,
                 fmt::format("the node has an index \"{}\" with other settings", index.name)};
  if (in_map || (same && !assigned)) return there;
  KIN_RETURN_IF_ERROR(retire(there, there->owns()));
  return CopyPointer();
}

Result<LeasedFolder::CopyPointer> LeasedFolder::make(const rpc::ServedIndex& index) {
  KIN_TRY(CopyPointer there, usable_for(index));
  if (there) return there;
  const Name name{index.name, node_.draw()};
  KIN_TRY(auto made,
          ShardCopy::make(node_, {name.first, name.second}, folder_of(name), index.settings));
  put(name, std::move(made));
  return made_here(index.name);
}

Status LeasedFolder::create(const rpc::ServedIndex& index) {
  KIN_RETURN_IF_ERROR(check_full_name(index.name));
  CopyPointer copy;
  {
    const std::lock_guard creating(creating_);
    KIN_TRY(copy, make(index));
  }
  const auto host = copy->host();
  const bool is_new = host && !host->is_assigned();
  return is_new ? await_owner(*copy) : Status(Done{});
}

Status LeasedFolder::await_owner(const ShardCopy& copy) const {
  const SteadyTime end = node_.clock->steady_now() + kOwnTime;
  while (!copy.owns()) {
    if (node_.clock->steady_now() >= end)
      return Error{Code::kUnavailable,
                   fmt::format("the node does not get the lease of its new shard of \"{}\", or "
                               "cannot begin its log (do etcd and the object store answer?); try "
                               "again",
                               copy.name().index)};
    node_.clock->sleep_for(kOwnPause);
  }
  return Done{};
}

Status LeasedFolder::drop(const std::string& index, const Hash128& shard) {
  const std::lock_guard creating(creating_);
  const auto found = held({index, shard});
  if (!found) return Done{};
  const bool owns = found->copy->owns();
  if (!found->retired && !owns && !found->copy->is_spare())
    return Error{
        Code::kUnavailable,
        fmt::format("the node does not know yet who owns a shard of \"{}\"; try again", index)};
  lost_.erase({index, shard});
  return retire(found->copy, owns);
}

Status LeasedFolder::retire(const CopyPointer& copy, bool with_log) {
  const Name name{copy->name().index, copy->name().identity};
  {
    const std::lock_guard lock(mutex_);
    const auto found = copies_.find(name);
    if (found == copies_.end() || found->second.copy != copy) return Done{};
    found->second.retired = true;
    found->second.with_log = found->second.with_log || with_log;
    with_log = found->second.with_log;
  }
  copy->stop();
  // Without it the folder does not count after a restart.
  KIN_RETURN_IF_ERROR(remove_copy_state(copy->folder()));
  if (!copy->release())
    return Error{Code::kUnavailable,
                 fmt::format("the shard of \"{}\" is still in use; try again", name.first)};
  if (with_log) KIN_RETURN_IF_ERROR(copy->remove_log());
  std::error_code problem;
  fs::remove_all(copy->folder(), problem);
  if (problem) return failed(copy->folder(), problem);
  fs::remove(folder_ / name.first, problem);  // unless it has other shards of the index
  const std::lock_guard lock(mutex_);
  copies_.erase(name);
  return Done{};
}

Status LeasedFolder::follow_rows(SteadyTime until) {
  KIN_TRY(const auto changes, node_.meta->watch(router::kFollowersKeys, revision_, until));
  for (const router::MetaEntry& entry : changes.entries) {
    const std::string index = entry.key.substr(router::kFollowersKeys.size());
    if (!check_full_name(index).ok()) continue;
    if (!entry.value) {
      rows_.erase(index);
      continue;
    }
    KIN_TRY(const auto listed, router::decode_followers(entry.value->bytes));
    std::set<Hash128>& ours = rows_[index];
    ours.clear();
    for (const router::Follower& one : listed) {
      if (one.address == node_.address) ours.insert(one.shard);
    }
  }
  revision_ = changes.revision;
  return reconcile();
}

Status LeasedFolder::reconcile() {
  const std::lock_guard creating(creating_);
  std::set<Name> wanted = lost_;
  for (const auto& [index, shards] : rows_) {
    for (const Hash128& shard : shards) wanted.emplace(index, shard);
  }
  for (const Name& name : wanted) {
    if (held(name)) continue;
    KIN_TRY(auto copy, ShardCopy::follow(node_, {name.first, name.second}, folder_of(name)));
    put(name, std::move(copy));
  }
  std::vector<Held> unwanted;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, held] : copies_) {
      if (held.retired || (!wanted.contains(name) && held.copy->is_spare()))
        unwanted.push_back(held);
    }
  }
  for (const Held& one : unwanted) {
    const Status retired = retire(one.copy, false);
    if (!retired.ok() && retired.error().code != Code::kUnavailable) return retired;
  }
  return Done{};
}

Result<std::vector<rpc::ServedIndex>> LeasedFolder::list() {
  std::map<std::string, std::string> indexes;
  for (const CopyPointer& copy : copies()) {
    std::string settings = copy->settings();
    if (!settings.empty()) indexes.insert_or_assign(copy->name().index, std::move(settings));
  }
  std::vector<rpc::ServedIndex> all;
  for (const auto& [name, settings] : indexes) all.push_back({.name = name, .settings = settings});
  return all;
}

std::vector<ShardFigures> LeasedFolder::figures() {
  std::vector<ShardFigures> all;
  for (const CopyPointer& copy : copies()) all.push_back(copy->figures());
  return all;
}

Result<StepOutcome> LeasedFolder::step() {
  return for_each([](const CopyPointer& copy) -> Result<StepOutcome> {
    const auto host = copy->host();
    return host ? host->step() : StepOutcome::idle();
  });
}

bool LeasedFolder::is_in_move() {
  return std::ranges::any_of(copies(), [](const CopyPointer& copy) {
    const auto host = copy->host();
    return host && host->is_in_move();
  });
}

Result<StepOutcome> LeasedFolder::step_snapshots() {
  return for_each([](const CopyPointer& copy) { return copy->step_snapshots(); });
}

// A copy that fails does not keep the others from their work.
Result<StepOutcome> LeasedFolder::for_each(
    const std::function<Result<StepOutcome>(const CopyPointer&)>& work) {
  StepOutcome all = StepOutcome::idle();
  std::optional<Error> problem;
  for (const CopyPointer& copy : copies()) {
    const auto one = work(copy);
    if (one.ok())
      all = combine(all, *one);
    else if (!problem)
      problem = one.error();
  }
  if (problem) return *problem;
  return all;
}

Status LeasedFolder::close() {
  const std::vector<CopyPointer> all = copies();
  for (const CopyPointer& copy : all) copy->stop();
  Status first = Done{};
  for (const CopyPointer& copy : all) {
    const Status closed = copy->close();
    if (first.ok() && !closed.ok()) first = closed;
  }
  const std::lock_guard lock(mutex_);
  copies_.clear();
  return first;
}

}  // namespace kin::server
