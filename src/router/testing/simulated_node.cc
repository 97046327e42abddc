#include "router/testing/simulated_node.h"

#include <fmt/format.h>

#include <limits>

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
  using OfMoves =
      std::variant<ReceiveRequest, TakeRequest, FollowRequest, CopyRequest, PlacesRequest,
                   EndMoveRequest, DigestRequest, AssignRequest, SampleRequest, DivideRequest,
                   LabelsRequest, PlaceRequest, EndDivideRequest>;
  return is_any_of(static_cast<OfMoves*>(nullptr));
}

SimulatedNode::SimulatedNode(Simulation& simulation, SimulatedNetwork& network, std::string name,
                             index::ShardOptions options)
    : simulation_(simulation),
      network_(network),
      name_(std::move(name)),
      options_(std::move(options)),
      disk_(std::make_unique<SimulatedDisk>()) {
  open();
}

void SimulatedNode::open() {
  index::ShardOptions options = options_;
  options.truth.engine = kv::StoreOptions::Engine::kLog;
  options.truth.disk = disk_.get();
  options.clock = &simulation_.clock();
  auto opened = ShardHost::open("/" + name_, std::move(options), hash128(name_));
  KIN_CHECK(opened.ok(), opened.ok() ? "" : opened.error().message.c_str());
  host_ = std::move(*opened);
  process_ = network_.start_process(name_);
}

void SimulatedNode::crash(std::chrono::nanoseconds pause) {
  if (host_ == nullptr) return;
  simulation_.note(name_ + " loses power");
  auto disk = disk_->power_cut({.seed = simulation_.random().next()});
  host_.reset();
  disk_ = std::move(disk);
  network_.stop_process(process_);
  simulation_.after(pause, [this] { ensure_up(); });
}

void SimulatedNode::ensure_up() {
  if (host_ != nullptr) return;
  simulation_.note(name_ + " starts");
  open();
}

bool SimulatedNode::survives(const std::function<void()>& work) {
  const bool fails = faults_.crash_in_request > 0 && simulation_.once_in(faults_.crash_in_request);
  if (!fails) {
    work();
    return true;
  }
  // The disk as a machine finds it that stopped before one of the next changes.
  std::uint64_t left = 1 + simulation_.random().below(12);
  const PowerCut cut{.seed = simulation_.random().next()};
  std::unique_ptr<SimulatedDisk> after;
  disk_->observe([&](const SimulatedDisk::Step&) {
    if (left > 0 && --left == 0) after = disk_->power_cut(cut);
  });
  work();
  disk_->observe({});
  if (after == nullptr) return true;
  lose_power(std::move(after));
  return false;
}

void SimulatedNode::lose_power(std::unique_ptr<SimulatedDisk> after) {
  simulation_.note(name_ + " loses power in the middle");
  host_.reset();
  disk_ = std::move(after);
  network_.stop_process(process_);
  simulation_.after(std::chrono::milliseconds{1 + simulation_.random().below(2'000)},
                    [this] { ensure_up(); });
}

bool SimulatedNode::survives_planned(const std::function<void()>& work) {
  std::uint64_t left = *std::exchange(planned_, std::nullopt);
  const bool when_served = left == 0;
  const PowerCut cut{.seed = simulation_.random().next()};
  std::unique_ptr<SimulatedDisk> after;
  disk_->observe([&](const SimulatedDisk::Step&) {
    if (left > 0 && --left == 0) after = disk_->power_cut(cut);
  });
  work();
  disk_->observe({});
  if (when_served) after = disk_->power_cut(cut);
  if (after == nullptr) return true;
  crashed_in_move_ = true;
  lose_power(std::move(after));
  return false;
}

void SimulatedNode::step() {
  if (host_ == nullptr) return;
  survives([&] { KIN_CHECK(host_->step().ok(), "background work succeeds"); });
}

Reply<Response> SimulatedNode::sabotaged(const Request& request, const CallOptions& options) {
  if (const auto* write = std::get_if<WriteRequest>(&request);
      write != nullptr && faults_.sabotage == Sabotage::kAppliesTwice) {
    WriteRequest copy = *write;
    copy.id.sequence = ++copies_;
    return host_->serve(copy, options);
  }
  if (const auto* claim = std::get_if<ClaimRequest>(&request);
      claim != nullptr && faults_.sabotage == Sabotage::kForgetsClaims) {
    Places places;
    for (const Claim& one : claim->claims) places.partitions.emplace_back(one.partition);
    return std::variant<Response, Refused>(Response(std::move(places)));
  }
  if (const auto* write = std::get_if<WriteRequest>(&request);
      write != nullptr && faults_.sabotage == Sabotage::kRefusesTooEarly) {
    auto reply = host_->serve(GetRequest{.partitions = write->partitions}, options);
    if (reply.ok() && std::holds_alternative<Refused>(*reply)) {
      const auto applied = host_->shard().was_applied(write->id);
      if (applied.ok() && *applied) simulation_.note(name_ + " refuses a write that it applied");
      return reply;
    }
  }
  if (faults_.sabotage == Sabotage::kServesOldMaps && !is_of_move(request)) {
    CallOptions newest = options;
    newest.map_epoch = std::numeric_limits<std::uint64_t>::max();
    return host_->serve(request, newest);
  }
  if (faults_.sabotage == Sabotage::kServesOldReaders) {
    if (auto reply = serve_old_readers(request, options)) return std::move(*reply);
  }
  return host_->serve(request, options);
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
    const index::Owners owners = host_->shard().stats().owners;
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
    return host_->serve(passed, options);
  }
  if (const auto* write = std::get_if<WriteRequest>(&request)) return refusal(write->partitions);
  if (const auto* claim = std::get_if<ClaimRequest>(&request)) {
    Partitions homes;
    for (const Claim& one : claim->claims) homes.insert(one.home);
    return refusal(homes);
  }
  if (const auto* follow = std::get_if<FollowRequest>(&request)) {
    auto reply = host_->serve(request, options);
    if (fenced_.contains(follow->move.partition) && reply.ok())
      std::get<FollowPage>(std::get<Response>(*reply)).owned = false;
    return reply;
  }
  if (const auto* end = std::get_if<EndMoveRequest>(&request);
      end != nullptr && fenced_.contains(end->move.partition)) {
    const index::Ownership owner = fenced_.extract(end->move.partition).mapped();
    [[maybe_unused]] const auto told = host_->serve(
        AssignRequest{.owners = {{.partition = end->move.partition, .epoch = owner.epoch}}},
        options);
  }
  return {};
}

void SimulatedNode::receive(const Request& request, const CallOptions& options,
                            const SendReply& reply) {
  if (host_ == nullptr) return;
  const auto* write = std::get_if<WriteRequest>(&request);
  if (write != nullptr && faults_.sabotage == Sabotage::kAnswersEarly) {
    WriteReply early;
    early.outcomes.resize(write->mutations.size());
    reply(std::variant<Response, Refused>(Response(std::move(early))));
    simulation_.after(std::chrono::milliseconds{20}, [this, request, options] {
      if (host_ != nullptr) [[maybe_unused]]
        const auto late = host_->serve(request, options);
    });
    return;
  }
  Reply<Response> answer = Error{Code::kUnavailable, "the node stopped"};
  simulation_.note(fmt::format("{} gets: {}", name_, name_of(request)));
  const auto work = [&] { answer = sabotaged(request, options); };
  const bool planned = planned_ && is_of_move(request);
  if (!(planned ? survives_planned(work) : survives(work))) return;
  if (faults_.slow > 0 && simulation_.once_in(faults_.slow)) {
    const Process served_by = process_;
    simulation_.after(std::chrono::milliseconds{simulation_.random().below(3'000)},
                      [this, served_by, reply, answer = std::move(answer)] {
                        if (process_ == served_by && host_ != nullptr) reply(answer);
                      });
    return;
  }
  reply(std::move(answer));
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
  return Started<Response>(wait, call.is_ready_by);
}

}  // namespace kin::router
