#include "router/testing/simulated_node.h"

#include <fmt/format.h>

#include <limits>

#include "router/testing/served_calls.h"

namespace kin::router {
std::string name_of(const Request& request) {
  const std::string name(kind_of(request));
  if (const auto* write = std::get_if<WriteRequest>(&request))
    return fmt::format("{} {}.{} of {}", name, write->id.session, write->id.sequence,
                       write->mutations.size());
  return name;
}

bool is_of_move(const Request& request) {
  const auto is_any_of = [&]<typename... Kinds>(std::variant<Kinds...>*) {
    return (std::holds_alternative<Kinds>(request) || ...);
  };
  using OfMoves = std::variant<ReceiveRequest, TakeRequest, FollowRequest, CopyRequest,
                               PlacesRequest, EndMoveRequest, DigestRequest, AssignRequest,
                               SampleRequest, DivideRequest, LabelsRequest, PlaceRequest,
                               EndDivideRequest, PullRequest>;
  return is_any_of(static_cast<OfMoves*>(nullptr));
}

SimulatedNode::SimulatedNode(Simulation& simulation, SimulatedNetwork& network, std::string name,
                             index::ShardOptions options)
    : simulation_(simulation),
      network_(network),
      name_(std::move(name)),
      options_(std::move(options)) {
  open();
}

void SimulatedNode::open() {
  life_ = std::make_shared<Life>();
  life_->disk = std::move(disk_);
  index::ShardOptions options = options_;
  options.truth.engine = kv::StoreOptions::Engine::kLog;
  options.truth.disk = life_->disk.get();
  options.clock = &simulation_.clock();
  auto opened = ShardHost::open("/" + name_, std::move(options), hash128(name_));
  KIN_CHECK(opened.ok(), opened.ok() ? "" : opened.error().message.c_str());
  life_->host = std::move(*opened);
  life_->process = process_ = network_.start_process(name_);
}

void SimulatedNode::end_life(std::unique_ptr<SimulatedDisk> disk) {
  network_.stop_process(life_->process);
  life_.reset();
  disk_ = std::move(disk);
}

void SimulatedNode::crash(std::chrono::nanoseconds pause) {
  if (life_ == nullptr) return;
  simulation_.note(name_ + " loses power");
  end_life(life_->disk->power_cut({.seed = simulation_.random().next()}));
  simulation_.after(pause, [this] { ensure_up(); });
}

void SimulatedNode::ensure_up() {
  if (life_ != nullptr) return;
  simulation_.note(name_ + " starts");
  open();
}

// The disk as a machine finds it that stopped before one of the next changes.
SimulatedNode::OutagePointer SimulatedNode::draw_outage() {
  const bool fails = faults_.crash_in_request > 0 && simulation_.once_in(faults_.crash_in_request);
  if (!fails) return nullptr;
  const std::uint64_t change = 1 + simulation_.random().below(12);
  return std::make_shared<Outage>(change, PowerCut{.seed = simulation_.random().next()});
}

SimulatedNode::OutagePointer SimulatedNode::planned_outage() {
  const std::uint64_t change = *std::exchange(planned_, std::nullopt);
  planned_outage_ = std::make_shared<Outage>(change, PowerCut{.seed = simulation_.random().next()});
  return planned_outage_;
}

bool SimulatedNode::loses_power(const LifePointer& life, const OutagePointer& outage,
                                bool is_done) {
  if (outage == nullptr) return false;
  auto after = outage->end_stretch(*life->disk, is_done);
  if (after == nullptr || life != life_) return false;
  crashed_in_move_ = crashed_in_move_ || outage == planned_outage_;
  simulation_.note(name_ + " loses power in the middle");
  end_life(std::move(after));
  simulation_.after(std::chrono::milliseconds{1 + simulation_.random().below(2'000)},
                    [this] { ensure_up(); });
  return true;
}

void SimulatedNode::step() {
  if (life_ == nullptr) return;
  const LifePointer life = life_;
  const OutagePointer outage = draw_outage();
  if (outage != nullptr) outage->begin_stretch(*life->disk);
  KIN_CHECK(life->host->step().ok(), "background work succeeds");
  loses_power(life, outage, true);
}

Reply<Response> SimulatedNode::sabotaged(const Request& request, const CallOptions& options) {
  if (const auto* write = std::get_if<WriteRequest>(&request);
      write != nullptr && faults_.sabotage == Sabotage::kAppliesTwice) {
    WriteRequest copy = *write;
    copy.id.sequence = ++copies_;
    return life_->host->serve(copy, options);
  }
  if (const auto* claim = std::get_if<ClaimRequest>(&request);
      claim != nullptr && faults_.sabotage == Sabotage::kForgetsClaims) {
    Places places;
    for (const Claim& one : claim->claims) places.partitions.emplace_back(one.partition);
    return std::variant<Response, Refused>(Response(std::move(places)));
  }
  if (const auto* write = std::get_if<WriteRequest>(&request);
      write != nullptr && faults_.sabotage == Sabotage::kRefusesTooEarly) {
    auto reply = life_->host->serve(GetRequest{.partitions = write->partitions}, options);
    if (reply.ok() && std::holds_alternative<Refused>(*reply)) {
      const auto applied = life_->host->shard().was_applied(write->id);
      if (applied.ok() && *applied) simulation_.note(name_ + " refuses a write that it applied");
      return reply;
    }
  }
  if (faults_.sabotage == Sabotage::kServesOldMaps && !is_of_move(request)) {
    CallOptions newest = options;
    newest.map_epoch = std::numeric_limits<std::uint64_t>::max();
    return life_->host->serve(request, newest);
  }
  if (faults_.sabotage == Sabotage::kServesOldReaders) {
    if (auto reply = serve_old_readers(request, options)) return std::move(*reply);
  }
  return life_->host->serve(request, options);
}

std::optional<Reply<Response>> SimulatedNode::serve_old_readers(const Request& request,
                                                                const CallOptions& options) {
  const auto refusal = [&](const Partitions& partitions) -> std::optional<Reply<Response>> {
    for (const auto& [partition, owner] : fenced_) {
      if (partitions.contains(partition))
        return std::variant<Response, Refused>(Refused{.epoch = owner.epoch});
    }
    return {};
  };
  if (const auto* assign = std::get_if<AssignRequest>(&request)) {
    AssignRequest passed;
    const index::Owners owners = life_->host->shard().stats().owners;
    for (const index::AssignOwner& one : assign->owners) {
      const auto known = owners.find(one.partition);
      const bool takes = !one.owned && known != owners.end() && known->second.owned &&
                         known->second.epoch < one.epoch;
      if (takes)
        fenced_[one.partition] = {.epoch = one.epoch};
      else
        passed.owners.push_back(one);
      if (one.owned) fenced_.erase(one.partition);
    }
    return life_->host->serve(passed, options);
  }
  if (const auto* write = std::get_if<WriteRequest>(&request)) return refusal(write->partitions);
  if (const auto* claim = std::get_if<ClaimRequest>(&request)) {
    Partitions homes;
    for (const Claim& one : claim->claims) homes.insert(one.home);
    return refusal(homes);
  }
  if (const auto* follow = std::get_if<FollowRequest>(&request)) {
    auto reply = life_->host->serve(request, options);
    if (fenced_.contains(follow->move.partition) && reply.ok())
      std::get<FollowPage>(std::get<Response>(*reply)).owned = false;
    return reply;
  }
  if (const auto* end = std::get_if<EndMoveRequest>(&request);
      end != nullptr && fenced_.contains(end->move.partition)) {
    const index::Ownership owner = fenced_.extract(end->move.partition).mapped();
    [[maybe_unused]] const auto told = life_->host->serve(
        AssignRequest{.owners = {{.partition = end->move.partition, .epoch = owner.epoch}}},
        options);
  }
  return {};
}

void SimulatedNode::receive(const Request& request, const CallOptions& options,
                            const SendReply& reply) {
  if (life_ == nullptr) return;
  const auto* write = std::get_if<WriteRequest>(&request);
  if (write != nullptr && faults_.sabotage == Sabotage::kAnswersEarly) {
    WriteReply early;
    early.outcomes.resize(write->mutations.size());
    reply(std::variant<Response, Refused>(Response(std::move(early))));
    simulation_.after(std::chrono::milliseconds{20}, [this, request, options] {
      if (life_ != nullptr) [[maybe_unused]]
        const auto late = life_->host->serve(request, options);
    });
    return;
  }
  simulation_.note(fmt::format("{} gets: {}", name_, name_of(request)));
  const OutagePointer outage = planned_ && is_of_move(request) ? planned_outage() : draw_outage();
  if (!makes_calls(request)) return serve(life_, request, options, outage, reply);
  simulation_.spawn([this, life = life_, request, options, outage, reply] {
    serve(life, request, options, outage, reply);
  });
}

// Takes copies: the process may end while it waits for another one.
void SimulatedNode::serve(LifePointer life, const Request& request, const CallOptions& options,
                          const OutagePointer& outage, const SendReply& reply) {
  if (life != life_) return;
  if (outage != nullptr) outage->begin_stretch(*life->disk);
  const auto* pulls = std::get_if<PullRequest>(&request);
  auto answer =
      pulls == nullptr ? sabotaged(request, options) : pull(life, *pulls, options, outage);
  if (loses_power(life, outage, true) || life != life_) return;
  if (faults_.slow > 0 && simulation_.once_in(faults_.slow)) {
    simulation_.after(std::chrono::milliseconds{simulation_.random().below(3'000)},
                      [this, life, reply, answer = std::move(answer)] {
                        if (life == life_) reply(answer);
                      });
    return;
  }
  reply(std::move(answer));
}

Reply<Response> SimulatedNode::pull(const LifePointer& life, const PullRequest& request,
                                    CallOptions options, const OutagePointer& outage) {
  std::size_t pages = 0;
  const CallWatch watch{
      .before = calls_.before,
      .waits = [&] { loses_power(life, outage, false); },
      .goes_on =
          [&] {
            if (life != life_) return false;
            if (outage != nullptr) outage->begin_stretch(*life->disk);
            return true;
          },
      .got_page =
          [&](const CopyRequest& asked, index::ExportPage& page) {
            ++pages;
            if (faults_.sabotage == Sabotage::kTakesOldPages && !asked.after)
              page = first_pages_.try_emplace(asked.move.partition, page).first->second;
          },
      .sabotage = faults_.sabotage};
  if (calls_.reach) options.reach = watched_calls(calls_.reach(life->process), watch);
  SimulatedPace pace(simulation_, watch);
  options.pace = &pace;
  auto reply = life->host->serve(request, options);
  if (calls_.pulled) calls_.pulled(reply.ok(), pages);
  return reply;
}

// Messages may outlive the client: what they need is the world's, and not its own.
Started<Response> SimulatedClient::start(Request request, const CallOptions& options) {
  struct Answer {
    std::variant<Response, Refused> reply;
    std::optional<std::chrono::milliseconds> behind;  // of a follower
  };
  const auto begin = [&](const std::function<void(Result<Answer>)>& take) {
    const Process to = node_.process();
    const std::string what = name_of(request) + " to " + node_.name();
    auto message = std::make_shared<Request>(std::move(request));
    const auto arrive = [&simulation = simulation_, &network = network_, &node = node_,
                         from = from_, to, what, message, take, options,
                         time_left = options.deadline - simulation_.now()] {
      const auto behind = std::make_shared<std::optional<std::chrono::milliseconds>>();
      const auto answer = [&network, from, to, what, take, behind](const Reply<Response>& reply) {
        network.send(to, from, "answer to " + what, [take, reply, behind] {
          take(reply.ok() ? Result<Answer>(Answer{*reply, *behind}) : reply.error());
        });
      };
      // Machines have clocks of their own: what travels is the time left, so that a message that
      // is late is served all the same.
      node.receive(*message,
                   {.map_epoch = options.map_epoch,
                    .divided = options.divided,
                    .shard = options.shard,
                    .most_behind = options.most_behind,
                    .on_behind = [behind](std::chrono::milliseconds time) { *behind = time; },
                    .deadline = simulation.now() + time_left},
                   answer);
    };
    network_.send(from_, to, what, arrive);
  };
  auto call = network_.call<Answer>(from_, options.deadline, begin);
  const auto wait = [call, on_behind = options.on_behind]() -> Reply<Response> {
    KIN_TRY(auto answer, call.wait());
    if (answer.behind && on_behind) on_behind(*answer.behind);
    return std::move(answer.reply);
  };
  return Started<Response>(wait, call.is_ready_by, call.arrived);
}

}  // namespace kin::router
