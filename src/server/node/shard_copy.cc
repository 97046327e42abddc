#include "server/node/shard_copy.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "router/log_snapshot.h"
#include "router/log_terms.h"
#include "router/replica.h"
#include "search/index_config.h"

namespace kin::server {
namespace {

namespace fs = std::filesystem;
using router::Replica;
using std::chrono::milliseconds;

constexpr const char* kWorkName = "snapshot.tmp";
constexpr milliseconds kPause{500};      // after a call failed
constexpr milliseconds kCallsEnd{20};    // between looks at calls that still run
constexpr milliseconds kHoldSlice{200};  // of a wait for the log, between looks at the copy

Status remove_tree(const fs::path& path) {
  std::error_code problem;
  fs::remove_all(path, problem);
  if (!problem) return Done{};
  return Error{Code::kUnavailable, fmt::format("{}: {}", path.string(), problem.message())};
}

}  // namespace

// The rows while they are open. Calls hold it, and it is closed with the last of them.
struct ShardCopy::Life {
  Life(cloud::ObjectStore& objects, const router::LogShipperOptions& options)
      : shipper(objects, options) {}
  // Destroyed from the last to the first: the stores hand batches to the shipper.
  router::LogShipper shipper;
  std::unique_ptr<router::ShardHost> host{};
  std::unique_ptr<Replica> replica{};
  std::unique_ptr<router::LogSnapshots> snapshots{};
};

ShardCopy::ShardCopy(const CopyNode& node, router::LoggedShard name, fs::path folder,
                     const CopyState& state, std::string settings)
    : node_(node),
      name_(std::move(name)),
      folder_(std::move(folder)),
      objects_(
          cloud::objects_below(*node.log.objects, router::log_prefix(name_.index, name_.identity))),
      state_(state),
      settings_(std::move(settings)) {}

ShardCopy::~ShardCopy() {
  stop();
}

Result<std::unique_ptr<ShardCopy>> ShardCopy::make(const CopyNode& node, router::LoggedShard name,
                                                   fs::path folder, std::string settings) {
  const CopyState state{.role = Role::kMade, .holder = node.draw().low, .made_here = true};
  KIN_RETURN_IF_ERROR(write_copy_state(folder, state));
  std::unique_ptr<ShardCopy> copy(
      new ShardCopy(node, std::move(name), std::move(folder), state, std::move(settings)));
  KIN_RETURN_IF_ERROR(copy->open_life());
  // The settings come last: a new shard without them does not count.
  KIN_RETURN_IF_ERROR(write_file_atomically(copy->folder_ / search::kConfigName, copy->settings_));
  return copy;
}

Result<std::unique_ptr<ShardCopy>> ShardCopy::follow(const CopyNode& node, router::LoggedShard name,
                                                     fs::path folder) {
  const CopyState state{.role = Role::kMissing, .holder = node.draw().low};
  KIN_RETURN_IF_ERROR(write_copy_state(folder, state));
  return std::unique_ptr<ShardCopy>(
      new ShardCopy(node, std::move(name), std::move(folder), state, ""));
}

Result<std::unique_ptr<ShardCopy>> ShardCopy::open(const CopyNode& node, router::LoggedShard name,
                                                   fs::path folder) {
  KIN_TRY(const auto state, read_copy_state(folder));
  KIN_TRY(const bool has_settings, file_exists(folder / search::kConfigName));
  if (!state || (state->role == Role::kMade && !has_settings)) return std::unique_ptr<ShardCopy>();
  std::string settings;
  if (has_settings) {
    KIN_TRY(settings, read_file(folder / search::kConfigName));
  }
  return std::unique_ptr<ShardCopy>(
      new ShardCopy(node, std::move(name), std::move(folder), *state, std::move(settings)));
}

void ShardCopy::start() {
  const std::lock_guard lock(starting_);
  log_thread_ = std::make_unique<StepThread>(*node_.clock, [this] { return step_log(); });
  lease_thread_ = std::make_unique<StepThread>(*node_.clock, [this] { return step_lease(); });
  if (const auto now = life()) now->shipper.on_work([this] { log_thread_->wake(); });
}

void ShardCopy::stop() {
  if (lease_thread_) lease_thread_->stop();
  if (log_thread_) log_thread_->stop();
  if (const auto now = life()) now->shipper.on_work({});
}

std::shared_ptr<ShardCopy::Life> ShardCopy::life() const {
  const std::lock_guard lock(mutex_);
  return life_;
}

CopyState ShardCopy::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

std::string ShardCopy::settings() const {
  const std::lock_guard lock(mutex_);
  return settings_;
}

std::shared_ptr<router::ShardHost> ShardCopy::host() const {
  auto now = life();
  if (!now) return nullptr;
  router::ShardHost* const host = now->host.get();
  return {std::move(now), host};
}

bool ShardCopy::owns() const {
  const auto now = life();
  return now && now->replica->standing().role == router::Standing::Role::kOwner;
}

bool ShardCopy::is_spare() const {
  const auto now = life();
  if (!now) return state().role == Role::kMissing;
  return state().role == Role::kCopy && !now->replica->lease().is_held() &&
         now->replica->phase() <= Replica::Phase::kFollowing;
}

std::optional<Status> ShardCopy::hold(const router::ShardHost& host, SteadyTime deadline) const {
  using Wait = router::LogShipper::Wait;
  const auto now = life();
  if (!now || now->host.get() != &host) return {};
  const Error deposed{Code::kUnavailable,
                      "another node has taken over the shard (ask the new map)"};
  const std::uint64_t position = now->shipper.position();
  for (;;) {
    const Replica::Phase phase = now->replica->phase();
    const bool left = phase == Replica::Phase::kLost || phase == Replica::Phase::kLeft;
    if (left || now->shipper.is_deposed()) return Status(deposed);
    // Before it owns the shard nothing is answered that depends on its rows, and a follower says
    // itself how old its state is.
    if (phase != Replica::Phase::kOwning || !node_.log.durable) return Status(Done{});
    const SteadyTime slice = node_.clock->steady_now() + kHoldSlice;
    switch (now->shipper.wait(position, std::min(deadline, slice))) {
      case Wait::kDurable: return Status(Done{});
      case Wait::kDeposed: return Status(deposed);
      case Wait::kNotYet: break;
    }
    if (node_.clock->steady_now() >= deadline)
      return Status(Error{Code::kUnavailable,
                          "the log of the shard does not take what was written (is its object "
                          "store there?); the request may have taken effect"});
  }
}

StepOutcome ShardCopy::after(std::chrono::nanoseconds time) const {
  return StepOutcome::not_before(node_.clock->steady_now() + time);
}

void ShardCopy::say(const std::string& event) const {
  if (node_.on_event)
    node_.on_event(
        fmt::format("{}, shard {}: {}", name_.index, router::identity_text(name_.identity), event));
}

// A problem that lasts is reported once.
void ShardCopy::report(const Error& error) {
  if (error.message == last_problem_ || error.code == Code::kCancelled) return;
  last_problem_ = error.message;
  if (node_.on_problem)
    node_.on_problem(with_context(
        fmt::format("{}, shard {}", name_.index, router::identity_text(name_.identity)), error));
}

StepOutcome ShardCopy::step_lease() {
  // Each thread may wake the other one.
  { const std::lock_guard lock(starting_); }
  const auto now = life();
  if (!now) return after(kPause);
  const auto outcome = now->replica->step_lease();
  const bool is_over =
      now->replica->lease().is_lost() || now->replica->phase() == Replica::Phase::kLost;
  // The thread of the log may wait for the lease, or has to give the rows up.
  if (is_over || (outcome.ok() && outcome->did_work())) log_thread_->wake();
  if (is_over) return after(kPause);
  // The store is asked again at once: what is known ends soon.
  return outcome.ok() ? *outcome : after(node_.lease.pause);
}

StepOutcome ShardCopy::step_log() {
  { const std::lock_guard lock(starting_); }
  const auto now = life();
  const auto outcome = now ? go_on(*now) : begin_again();
  if (!outcome.ok()) {
    report(outcome.error());
    return after(kPause);
  }
  last_problem_.clear();
  return *outcome;
}

Result<StepOutcome> ShardCopy::go_on(Life& life) {
  const auto outcome = life.replica->step_log();
  if (life.replica->phase() == Replica::Phase::kLost)
    return give_up("another node has taken the shard over; this one gives its rows up");
  if (outcome.ok()) return outcome;
  KIN_TRY(const bool restore, must_be_restored(life, outcome.error()));
  if (restore) return give_up("the rows are restored, because the log does not lead on from them");
  return outcome;
}

Result<bool> ShardCopy::must_be_restored(Life& life, const Error& error) {
  const bool can_help = error.code == Code::kFailedPrecondition || error.code == Code::kDataLoss;
  // An owner's rows may be the only ones.
  if (!can_help || state().role != Role::kCopy) return false;
  KIN_TRY(const auto position, life.host->shipped_position());
  KIN_TRY(const auto snapshots, router::list_snapshots(*objects_));
  // Without a newer one a restored copy would stop at the same place.
  return !snapshots.empty() &&
         snapshots.back().consistent > position.value_or(router::LogPosition{});
}

Result<StepOutcome> ShardCopy::give_up(std::string_view why) {
  KIN_RETURN_IF_ERROR(keep(Role::kMissing));
  if (const auto now = life()) now->shipper.on_work({});
  {
    const std::lock_guard lock(mutex_);
    if (life_) ended_ = life_;
    life_.reset();
  }
  say(std::string(why));
  return StepOutcome::worked();
}

Result<StepOutcome> ShardCopy::begin_again() {
  {
    const std::lock_guard lock(mutex_);
    if (!ended_.expired()) return after(kCallsEnd);
  }
  if (state().role == Role::kOwner) {
    KIN_TRY(const bool lost, belongs_to_another());
    if (lost) return give_up("another node has taken the shard over; this one gives its rows up");
  }
  if (state().role == Role::kMissing) {
    KIN_TRY(const bool restored, restore());
    if (!restored) return after(kPause);
  }
  KIN_RETURN_IF_ERROR(open_life());
  life()->shipper.on_work([this] { log_thread_->wake(); });
  lease_thread_->wake();
  return StepOutcome::worked();
}

Result<bool> ShardCopy::belongs_to_another() {
  KIN_TRY(const auto value, node_.meta->get(router::lease_key(name_.index, name_.identity)));
  if (!value) return false;
  KIN_TRY(const router::LeaseRecord lease, router::decode_lease(value->bytes));
  return lease.holder != state().holder;
}

Result<bool> ShardCopy::restore() {
  KIN_RETURN_IF_ERROR(remove_tree(folder_ / search::kShardName));
  KIN_RETURN_IF_ERROR(remove_tree(folder_ / kWorkName));
  auto restored = router::restore_shard(*objects_, folder_ / search::kShardName, {});
  // The owner has not taken its first snapshot yet.
  if (!restored && restored.error().code == Code::kNotFound) return false;
  if (!restored) return with_context("restoring it from the log", restored.error());
  const std::string& settings = restored->snapshot.settings;
  KIN_RETURN_IF_ERROR(write_file_atomically(folder_ / search::kConfigName, settings));
  {
    const std::lock_guard lock(mutex_);
    settings_ = settings;
  }
  KIN_RETURN_IF_ERROR(keep(Role::kCopy));
  return true;
}

Status ShardCopy::open_life() {
  const CopyState state = this->state();
  KIN_TRY(const search::IndexConfig config, search::decode_config(settings()));
  KIN_TRY(index::ShardOptions options, search::node_shard_options(config));
  options.clock = node_.clock;
  KIN_TRY(const router::LogEnd end, router::find_end(*objects_));
  if (state.role == Role::kOwner && (end.term == 0 || end.dropped))
    return Error{
        Code::kFailedPrecondition,
        fmt::format("the log has nothing of it: was the index dropped, or is --log another "
                    "one than before? (if the index was dropped, remove {})",
                    folder_.string())};
  router::LogShipperOptions shipping = node_.log.shipper;
  shipping.clock = node_.clock;
  auto life = std::make_shared<Life>(*objects_, shipping);
  const bool is_copy = state.role == Role::kCopy;
  life->shipper.set_copy(is_copy);
  // From now on the rows may have more than the log.
  if (state.clean) KIN_RETURN_IF_ERROR(keep(state.role));
  KIN_TRY(life->host, router::ShardHost::open(
                          folder_ / search::kShardName, std::move(options), name_.identity,
                          {.truth = life->shipper.observer(router::LogStore::kTruth),
                           .directory = life->shipper.observer(router::LogStore::kDirectory),
                           .is_copy = is_copy}));
  make_replica(*life, end.seal ? std::max(end.term, end.seal->next_term) : end.term, state.clean);
  const std::lock_guard lock(mutex_);
  life_ = std::move(life);
  return Done{};
}

void ShardCopy::make_replica(Life& life, std::uint64_t last_term,
                             const std::optional<router::LogPosition>& clean) {
  const CopyState state = this->state();
  router::LeaseOptions lease = node_.lease;
  lease.clock = node_.clock;
  lease.after_term = last_term;
  life.replica = std::make_unique<Replica>(
      *life.host, life.shipper, *node_.meta, *objects_,
      router::ReplicaOptions{.index = name_.index,
                             .identity = name_.identity,
                             .self = {.holder = state.holder, .address = node_.address},
                             .was_owner = state.role != Role::kCopy,
                             .clean = clean,
                             .keep_owner = [this, &life] { return become_owner(life); },
                             .lease = lease});
  life.host->ask_standing([replica = life.replica.get()] { return replica->standing(); });
  router::SnapshotOptions snapshots = node_.log.snapshots;
  snapshots.index = name_.index;
  snapshots.settings = settings();
  snapshots.identity = name_.identity;
  snapshots.owner = node_.address;
  snapshots.work_folder = folder_ / kWorkName;
  snapshots.clock = node_.clock;
  life.snapshots = std::make_unique<router::LogSnapshots>(
      *objects_, life.shipper,
      [host = life.host.get()](const fs::path& folder) { return host->copy_rows(folder); },
      std::move(snapshots));
}

Status ShardCopy::become_owner(const Life& life) {
  const bool from_another = state().role == Role::kCopy;
  KIN_RETURN_IF_ERROR(keep(Role::kOwner));
  if (from_another) ++take_overs_;
  say(fmt::format("this node {} in term {}", from_another ? "takes it over" : "owns it",
                  life.replica->term()));
  return Done{};
}

Status ShardCopy::keep(Role role, const std::optional<router::LogPosition>& clean) {
  CopyState next = state();
  next.role = role;
  next.clean = clean;
  KIN_RETURN_IF_ERROR(write_copy_state(folder_, next));
  const std::lock_guard lock(mutex_);
  state_ = next;
  return Done{};
}

Result<StepOutcome> ShardCopy::step_snapshots() {
  const auto now = life();
  if (!now || now->replica->phase() != Replica::Phase::kOwning) return after(kPause);
  if (!is_listed_) {
    const std::string name = router::logged_shard_name(name_.index, name_.identity);
    KIN_TRY([[maybe_unused]] const bool made, node_.log.objects->create(name, ""));
    is_listed_ = true;
  }
  auto outcome = now->snapshots->step();
  const std::lock_guard lock(mutex_);
  snapshots_ = now->snapshots->stats();
  return outcome;
}

ShardFigures ShardCopy::figures() const {
  ShardFigures all{.index = name_.index, .shard = router::identity_text(name_.identity)};
  CopyFigures& copy = all.copy.emplace();
  copy.take_overs = take_overs_.load();
  copy.role = "restoring";
  const auto now = life();
  if (!now) return all;
  const Replica& replica = *now->replica;
  const router::Standing standing = replica.standing();
  copy.role = router::name_of(replica.phase());
  copy.answers = standing.role == router::Standing::Role::kOwner;
  copy.term = replica.term();
  if (standing.role == router::Standing::Role::kFollower) copy.behind = standing.behind;
  if (const auto applied = now->host->shipped_position(); applied.ok() && *applied)
    copy.applied = **applied;
  all.stats = now->host->shard().stats();
  all.loads = now->host->loads();
  if (replica.phase() != Replica::Phase::kOwning) return all;
  all.log.emplace().shipped = now->shipper.stats();
  const std::lock_guard lock(mutex_);
  all.log->snapshots = snapshots_;
  return all;
}

bool ShardCopy::release() {
  const std::lock_guard lock(mutex_);
  if (life_) ended_ = life_;
  life_.reset();
  return ended_.expired();
}

Status ShardCopy::remove_log() {
  router::ShardLog log(*node_.log.objects, name_.identity,
                       {.index = name_.index, .clock = node_.clock, .draw = node_.draw});
  return log.remove_all();
}

Status ShardCopy::close() {
  const auto now = life();
  if (!now) return Done{};
  KIN_RETURN_IF_ERROR(now->host->close());
  // What cannot be shipped now is in the folder, and in the snapshot after the next start.
  if (const auto last = now->replica->hand_over()) KIN_RETURN_IF_ERROR(keep(Role::kOwner, last));
  const std::lock_guard lock(mutex_);
  life_.reset();
  return Done{};
}

}  // namespace kin::server
