#include "router/testing/simulated_replica.h"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace kin::router {
namespace {

using std::chrono::milliseconds;
using Objects = cloud::SimulatedObjects;

constexpr const char* kFolder = "/shard";

bool takes_over(Replica::Phase phase) {
  return phase == Replica::Phase::kSealing || phase == Replica::Phase::kEntering ||
         phase == Replica::Phase::kBeginning;
}

// Makes the mistakes of Sabotage with the objects of a log.
class SabotagedObjects final : public cloud::ObjectStore {
 public:
  SabotagedObjects(cloud::ObjectStore& objects, std::function<Sabotage()> sabotage,
                   std::function<std::optional<Replica::Phase>()> phase)
      : objects_(objects), sabotage_(std::move(sabotage)), phase_(std::move(phase)) {}

  Result<std::optional<std::string>> get(const std::string& name) override {
    KIN_TRY(auto bytes, objects_.get(name));
    const auto phase = phase_();
    if (!bytes && unmade_.contains(name)) return std::optional(unmade_[name]);
    const bool stops = sabotage_() == Sabotage::kStopsLogEarly && phase && takes_over(*phase);
    if (!bytes || !stops || !name.starts_with(kLogFolder)) return bytes;
    KIN_TRY(LogObject object, decode_log_object(*bytes));
    object.batches.clear();
    return std::optional(encode(object));
  }
  Result<std::vector<std::string>> get_ranges(const std::string& name,
                                              std::span<const cloud::ByteRange> ranges) override {
    return objects_.get_ranges(name, ranges);
  }
  Result<bool> create(const std::string& name, std::string bytes) override {
    if (sabotage_() == Sabotage::kNoSeal && name.starts_with(kLogFolder)) {
      const auto object = decode_log_object(bytes);
      if (object.ok() && object->kind == LogObject::Kind::kSeal) {
        // This process alone believes that it is there.
        unmade_[name] = std::move(bytes);
        return true;
      }
    }
    return objects_.create(name, std::move(bytes));
  }
  Status upload(const std::string& name, const cloud::ObjectSource& source) override {
    return objects_.upload(name, source);
  }
  Result<std::vector<std::string>> list(const std::string& prefix, int most,
                                        std::string& next) override {
    const auto phase = phase_();
    const bool is_copy = phase && (takes_over(*phase) || *phase == Replica::Phase::kFollowing);
    if (sabotage_() == Sabotage::kIgnoresSnapshots && is_copy &&
        prefix.starts_with(kSnapshotFolder))
      return std::vector<std::string>();
    return objects_.list(prefix, most, next);
  }
  Status remove(std::span<const std::string> names) override { return objects_.remove(names); }

 private:
  cloud::ObjectStore& objects_;
  std::function<Sabotage()> sabotage_;
  std::function<std::optional<Replica::Phase>()> phase_;
  std::map<std::string, std::string> unmade_;
};

}  // namespace

// A process. Tasks that wait in its calls hold it, and find it dead when they go on.
struct SimulatedReplica::Life {
  Process process = 0;
  bool dead = false;
  std::unique_ptr<SimulatedDisk> disk = {};
  std::unique_ptr<SimulatedMeta> meta = {};
  std::unique_ptr<WatchedMeta> watched = {};
  std::unique_ptr<Objects> reached = {};
  std::unique_ptr<SabotagedObjects> objects = {};
  std::unique_ptr<LogShipper> shipper = {};
  std::unique_ptr<ShardHost> host = {};
  std::unique_ptr<Replica> replica = {};
  std::unique_ptr<LogSnapshots> snapshots = {};
  struct Held {
    std::uint64_t position;
    Reply<Response> answer;
    SendReply reply;
  };
  std::deque<Held> held = {};
  std::string problem = {};  // the last
  bool leaving = false;
  int running = 0;  // tasks beside that of the log

  bool is_taking_over() const {
    if (replica == nullptr) return false;
    const bool will = replica->phase() == Replica::Phase::kFollowing && replica->lease().may_take();
    return will || takes_over(replica->phase());
  }
};

SimulatedReplica::SimulatedReplica(Simulation& simulation, SimulatedNetwork& network,
                                   SimulatedMetaServer& meta, SimulatedReplicaOptions options)
    : simulation_(simulation), network_(network), meta_(meta), options_(std::move(options)) {
  was_owner_ = options_.first_owner;
  start();
}

SimulatedReplica::~SimulatedReplica() = default;

Process SimulatedReplica::process() const {
  return life_ == nullptr ? 0 : life_->process;
}

void SimulatedReplica::start() {
  life_ = std::make_shared<Life>();
  life_->process = network_.start_process(options_.name);
  life_->disk = std::move(disk_);
  simulation_.spawn([this, life = life_] { live(life); });
}

void SimulatedReplica::end_life(std::unique_ptr<SimulatedDisk> disk) {
  life_->dead = true;
  leaves_.reset();
  life_->held.clear();
  network_.stop_process(life_->process);
  disk_ = std::move(disk);
  life_ = nullptr;
}

void SimulatedReplica::crash(std::chrono::nanoseconds pause) {
  if (life_ == nullptr) return;
  simulation_.note(name() + " loses power");
  end_life(life_->disk->power_cut({.seed = simulation_.random().next()}));
  simulation_.after(pause, [this] { ensure_up(); });
}

void SimulatedReplica::ensure_up() {
  if (life_ != nullptr || stopped_) return;
  simulation_.note(name() + " starts");
  start();
}

void SimulatedReplica::stop() {
  stopped_ = true;
  if (life_ != nullptr) end_life(nullptr);
}

void SimulatedReplica::step() {
  if (life_ != nullptr && life_->replica != nullptr && !life_->leaving)
    KIN_CHECK(life_->host->step().ok(), "background work succeeds");
}

bool SimulatedReplica::owns() const {
  return life_ != nullptr && life_->replica != nullptr &&
         life_->replica->standing().role == Standing::Role::kOwner;
}

std::string SimulatedReplica::state() const {
  if (life_ == nullptr) return name() + " is down";
  if (life_->replica == nullptr) return name() + " is being restored: " + life_->problem;
  return fmt::format("{} is {} in term {}{}: {}", name(), name_of(life_->replica->phase()),
                     life_->replica->term(), life_->replica->lease().is_held() ? ", held" : "",
                     life_->problem);
}

void SimulatedReplica::wait(const LifePointer& life, std::chrono::nanoseconds time) {
  simulation_.clock().sleep_for(time);
  while (!life->dead && simulation_.now() < paused_until_)
    simulation_.clock().sleep_for(paused_until_ - simulation_.now());
}

Objects::Fate SimulatedReplica::fate(const LifePointer& life, bool writes) {
  using Fate = Objects::Fate;
  if (life->dead) return Fate::kFails;
  if (life->is_taking_over() && options_.before_call) options_.before_call("objects");
  if (life->dead) return Fate::kFails;
  const auto now_and_then = [&](std::uint64_t times) {
    // A restore reads much in one piece.
    return times > 0 && simulation_.once_in(writes ? times : 20 * times);
  };
  // A call that is under way when the process ends may take effect or not.
  simulation_.clock().sleep_for(now_and_then(object_faults_.slow)
                                    ? milliseconds{simulation_.random().below(3'000)}
                                    : milliseconds{1 + simulation_.random().below(writes ? 15 : 3)});
  if (simulation_.now() < objects_back_ || now_and_then(object_faults_.fails)) return Fate::kFails;
  return now_and_then(object_faults_.reply_lost) ? Fate::kReplyLost : Fate::kServed;
}

bool SimulatedReplica::open(const LifePointer& life) {
  index::ShardOptions shard = options_.shard;
  shard.truth.engine = kv::StoreOptions::Engine::kLog;
  shard.truth.disk = life->disk.get();
  shard.clock = &simulation_.clock();
  if (!was_owner_ && !has_shard_) {
    // An earlier try may have left a part of it.
    const std::string folder = fmt::format("{}{}", kFolder, ++restores_);
    const auto restored = restore_shard(*life->objects, folder, {.files = shard.truth});
    if (!restored.ok()) life->problem = restored.error().message;
    if (!restored.ok() || life->dead) return false;
    has_shard_ = true;
  }
  const HostLog log{.truth = life->shipper->observer(LogStore::kTruth),
                    .directory = life->shipper->observer(LogStore::kDirectory),
                    .is_copy = !was_owner_};
  life->shipper->set_copy(!was_owner_);
  auto opened = ShardHost::open(fmt::format("{}{}", kFolder, restores_), std::move(shard),
                                options_.identity, log);
  KIN_CHECK(opened.ok(), opened.ok() ? "" : opened.error().message.c_str());
  life->host = std::move(*opened);
  has_shard_ = true;
  return true;
}

void SimulatedReplica::live(const LifePointer& life) {
  life->meta = std::make_unique<SimulatedMeta>(simulation_, network_, life->process, meta_);
  life->watched = std::make_unique<WatchedMeta>(
      *life->meta, MoverWatch{.before = [this, life = life.get()](const std::string& peer) {
        if (life->is_taking_over() && options_.before_call) options_.before_call(peer);
      }});
  life->reached = std::make_unique<Objects>(options_.objects);
  life->reached->decide(
      [this, weak = std::weak_ptr(life)](Objects::Operation operation, const std::string&) {
        const bool writes =
            operation == Objects::Operation::kCreate || operation == Objects::Operation::kUpload;
        return fate(weak.lock(), writes);
      });
  life->objects = std::make_unique<SabotagedObjects>(
      *life->reached, [this] { return faults_.sabotage; },
      [life = life.get()] {
        return life->replica == nullptr ? std::nullopt : std::optional(life->replica->phase());
      });
  life->shipper = std::make_unique<LogShipper>(
      *life->objects,
      LogShipperOptions{.clock = &simulation_.clock(), .retry = milliseconds{30}});
  while (!life->dead && !open(life)) wait(life, milliseconds{50});
  if (life->dead) return;
  const bool was_owner = was_owner_;
  const auto clean = std::exchange(clean_, std::nullopt);
  LeaseOptions lease = options_.lease;
  lease.clock = &simulation_.clock();
  const auto keep_owner = [this, life = life.get(), was_owner]() -> Status {
    if (life->dead) return Error{Code::kCancelled, "the process was stopped"};
    was_owner_ = true;
    simulation_.note(name() + (was_owner ? " owns again" : " takes over"));
    if (!was_owner && options_.taken_over) options_.taken_over();
    return Done{};
  };
  life->replica = std::make_unique<Replica>(
      *life->host, *life->shipper, *life->watched, *life->objects,
      ReplicaOptions{.index = options_.index,
                     .identity = options_.identity,
                     .self = {.holder = hash64(name()), .address = name()},
                     .was_owner = was_owner,
                     .clean = clean,
                     .keep_owner = keep_owner,
                     .lease = lease,
                     .poll = milliseconds{40}});
  life->host->ask_standing([this, life = life.get()] { return standing(*life); });
  life->snapshots = std::make_unique<LogSnapshots>(
      *life->objects, *life->shipper,
      [host = life->host.get()](const std::filesystem::path& folder) {
        return host->copy_rows(folder);
      },
      SnapshotOptions{.index = options_.index,
                      .identity = options_.identity,
                      .work_folder = "/work",
                      .disk = life->disk.get(),
                      .clock = &simulation_.clock(),
                      .least_log_bytes = 4'000,
                      .retention = milliseconds{8'000},
                      .retry = milliseconds{50}});
  life->running = 2;
  simulation_.spawn([this, life] { run_lease(life); });
  simulation_.spawn([this, life] { run_snapshots(life); });
  run_log(life);
  if (!life->dead) leave(life);
}

Standing SimulatedReplica::standing(const Life& life) const {
  const bool goes_on = faults_.sabotage == Sabotage::kServesAfterLease;
  if (goes_on && life.replica->phase() == Replica::Phase::kOwning) return {};
  Standing standing = life.replica->standing();
  if (faults_.sabotage == Sabotage::kHidesAge) standing.behind = milliseconds{0};
  return standing;
}

void SimulatedReplica::run_lease(const LifePointer& life) {
  while (!life->dead && !life->leaving) {
    [[maybe_unused]] const auto outcome = life->replica->step_lease();
    wait(life, milliseconds{10 + simulation_.random().below(50)});
  }
  --life->running;
}

void SimulatedReplica::run_snapshots(const LifePointer& life) {
  while (!life->dead && !life->leaving) {
    if (life->replica->phase() == Replica::Phase::kOwning) {
      if (faults_.sabotage == Sabotage::kTrimsLogEarly) trim_log(*life);
      if (!life->dead) [[maybe_unused]]
        const auto outcome = life->snapshots->step();
    }
    wait(life, milliseconds{1 + simulation_.random().below(40)});
  }
  --life->running;
}

// All but the last few objects of its term and the first one.
void SimulatedReplica::trim_log(Life& life) {
  const LogPosition last = life.shipper->shipped().object;
  if (last.number < 6 || !simulation_.once_in(20)) return;
  const std::string gone = log_object_name({last.term, last.number - 3});
  [[maybe_unused]] const Status removed = life.objects->remove({&gone, 1});
}

void SimulatedReplica::stop_in_order(std::chrono::nanoseconds pause) {
  if (life_ == nullptr || life_->replica == nullptr) return;
  simulation_.note(name() + " is stopped in order");
  life_->leaving = true;
  leaves_ = pause;
}

void SimulatedReplica::leave(const LifePointer& life) {
  while (!life->dead && life->running > 0) simulation_.clock().sleep_for(milliseconds{5});
  if (life->dead) return;
  KIN_CHECK(life->host->close().ok(), "a shard is closed");
  const auto clean = life->replica->hand_over();
  if (life->dead) return;
  release(*life);
  clean_ = clean;
  simulation_.note(fmt::format("{} has stopped{}", name(), clean ? ", and handed over" : ""));
  life->snapshots.reset();
  life->replica.reset();
  life->host.reset();
  const std::chrono::nanoseconds pause = leaves_.value_or(milliseconds{0});
  end_life(std::move(life->disk));
  simulation_.after(pause, [this] { ensure_up(); });
}

void SimulatedReplica::run_log(const LifePointer& life) {
  while (!life->dead && !life->leaving) {
    Result<StepOutcome> outcome = StepOutcome::idle();
    const bool planned = planned_ && life->is_taking_over();
    const OutagePointer outage =
        planned ? outage_at(*std::exchange(planned_, std::nullopt)) : OutagePointer();
    if (outage != nullptr) outage->begin_stretch(*life->disk);
    outcome = life->replica->step_log();
    if (loses_power(*life, outage, true) || life->dead) return;
    if (life->dead) return;
    release(*life);
    if (!outcome.ok()) life->problem = outcome.error().message;
    const bool cannot_go_on = !outcome.ok() && outcome.error().code != Code::kUnavailable &&
                              outcome.error().code != Code::kCancelled;
    if (cannot_go_on || life->replica->phase() == Replica::Phase::kLost) {
      simulation_.note(fmt::format("{} is restored from the log{}", name(),
                                   cannot_go_on ? ": " + outcome.error().message : ""));
      was_owner_ = false;
      has_shard_ = false;
      ++restores_;
      end_life(std::make_unique<SimulatedDisk>());
      return ensure_up();
    }
    const bool worked = outcome.ok() && outcome->did_work();
    const bool follows = life->replica->phase() == Replica::Phase::kFollowing;
    wait(life, worked ? milliseconds{0}
                      : milliseconds{1 + simulation_.random().below(follows ? 80 : 20)});
  }
}

void SimulatedReplica::release(Life& life) {
  while (!life.held.empty()) {
    const LogShipper::Wait state = life.shipper->state(life.held.front().position);
    if (state == LogShipper::Wait::kNotYet) return;
    Life::Held held = std::move(life.held.front());
    life.held.pop_front();
    // Of a deposed owner nobody hears anything: the call has no answer.
    if (state == LogShipper::Wait::kDurable) held.reply(std::move(held.answer));
  }
}

void SimulatedReplica::answer(Life& life, const Request& request, Reply<Response> answer,
                              const SendReply& reply) {
  const bool reads = !std::holds_alternative<WriteRequest>(request) &&
                     !std::holds_alternative<ClaimRequest>(request) &&
                     !std::holds_alternative<OpenSession>(request) && !is_of_move(request);
  const std::uint64_t position = life.shipper->position();
  const bool holds = life.replica->phase() == Replica::Phase::kOwning &&
                     faults_.sabotage != Sabotage::kNotDurable &&
                     !(faults_.sabotage == Sabotage::kReadsNotHeld && reads);
  if (!holds) return reply(std::move(answer));
  life.held.push_back({.position = position, .answer = std::move(answer), .reply = reply});
  release(life);
}

SimulatedReplica::OutagePointer SimulatedReplica::outage_at(std::uint64_t write) {
  return std::make_shared<Outage>(write, PowerCut{.seed = simulation_.random().next()});
}

bool SimulatedReplica::loses_power(Life& life, const OutagePointer& outage, bool is_done) {
  if (outage == nullptr) return false;
  auto after = outage->end_stretch(*life.disk, is_done);
  if (after == nullptr || life.dead) return false;
  simulation_.note(name() + " loses power in the middle");
  crashed_in_move_ = true;
  end_life(std::move(after));
  simulation_.after(milliseconds{1 + simulation_.random().below(2'000)}, [this] { ensure_up(); });
  return true;
}

void SimulatedReplica::crash_in_move(std::uint64_t write) {
  planned_ = write;
}

void SimulatedReplica::receive(const Request& request, const CallOptions& options,
                               const SendReply& reply) {
  if (life_ == nullptr || life_->replica == nullptr || life_->leaving) return;
  if (simulation_.now() < paused_until_) {
    const Process process = life_->process;
    return simulation_.after(paused_until_ - simulation_.now(), [this, process, request, options,
                                                                 reply] {
      if (this->process() == process) receive(request, options, reply);
    });
  }
  simulation_.note(fmt::format("{} gets: {}", name(), name_of(request)));
  const bool crashes = faults_.crash_in_request > 0 && simulation_.once_in(faults_.crash_in_request);
  const OutagePointer outage =
      crashes ? outage_at(1 + simulation_.random().below(12)) : OutagePointer();
  if (!makes_calls(request)) return serve(life_, request, options, outage, reply);
  ++life_->running;
  simulation_.spawn([this, life = life_, request, options, outage, reply] {
    serve(life, request, options, outage, reply);
    --life->running;
  });
}

// Takes copies: the process may end while it waits for another one.
void SimulatedReplica::serve(LifePointer life, const Request& request, const CallOptions& options,
                             const OutagePointer& outage, const SendReply& reply) {
  if (life->dead) return;
  if (outage != nullptr) outage->begin_stretch(*life->disk);
  const auto* pulls = std::get_if<PullRequest>(&request);
  CallOptions how = options;
  if (faults_.sabotage == Sabotage::kReadsAnyhow) how.divided = 0;
  auto served =
      pulls == nullptr ? life->host->serve(request, how) : pull(life, *pulls, how, outage);
  if (loses_power(*life, outage, true) || life->dead) return;
  answer(*life, request, std::move(served), reply);
}

Reply<Response> SimulatedReplica::pull(const LifePointer& life, const PullRequest& request,
                                       CallOptions options, const OutagePointer& outage) {
  std::size_t pages = 0;
  const CallWatch watch{.before = calls_.before,
                        .waits = [&] { loses_power(*life, outage, false); },
                        .goes_on =
                            [&] {
                              wait(life, milliseconds{0});  // it may be paused
                              if (life->dead) return false;
                              if (outage != nullptr) outage->begin_stretch(*life->disk);
                              return true;
                            },
                        .got_page = [&](const CopyRequest&, index::ExportPage&) { ++pages; },
                        .sabotage = faults_.sabotage};
  if (calls_.reach) options.reach = watched_calls(calls_.reach(life->process), watch);
  SimulatedPace pace(simulation_, watch);
  options.pace = &pace;
  auto reply = life->host->serve(request, options);
  if (calls_.pulled) calls_.pulled(reply.ok(), pages);
  return reply;
}

}  // namespace kin::router
