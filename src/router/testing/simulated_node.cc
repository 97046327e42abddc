#include "router/testing/simulated_node.h"

#include <fmt/format.h>

namespace kin::router {
std::string name_of(const Request& request) {
  const std::string name(kind_of(request));
  if (const auto* write = std::get_if<WriteRequest>(&request))
    return fmt::format("{} {}.{} of {}", name, write->id.session, write->id.sequence,
                       write->mutations.size());
  return name;
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
  simulation_.note(name_ + " loses power in the middle");
  host_.reset();
  disk_ = std::move(after);
  network_.stop_process(process_);
  simulation_.after(std::chrono::milliseconds{1 + simulation_.random().below(2'000)},
                    [this] { ensure_up(); });
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
  return host_->serve(request, options);
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
  if (!survives([&] { answer = sabotaged(request, options); })) return;
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
  using Answer = std::variant<Response, Refused>;
  const auto begin = [&](const std::function<void(Result<Answer>)>& take) {
    const Process to = node_.process();
    const std::string what = name_of(request) + " to " + node_.name();
    auto message = std::make_shared<Request>(std::move(request));
    const auto arrive = [&simulation = simulation_, &network = network_, &node = node_,
                         from = from_, to, what, message, take, epoch = options.map_epoch,
                         shard = options.shard, time_left = options.deadline - simulation_.now()] {
      const auto answer = [&network, from, to, what, take](const Reply<Response>& reply) {
        network.send(to, from, "answer to " + what, [take, reply] { take(reply); });
      };
      // Machines have clocks of their own: what travels is the time left, so that a message that
      // is late is served all the same.
      node.receive(*message,
                   {.map_epoch = epoch, .shard = shard, .deadline = simulation.now() + time_left},
                   answer);
    };
    network_.send(from_, to, what, arrive);
  };
  return Started<Response>(network_.call<Answer>(from_, options.deadline, begin));
}

}  // namespace kin::router
