// Processes of a simulation and the messages between them, which get lost, late, twice and in any
// order.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "router/testing/simulation.h"

namespace kin::router {

struct NetworkFaults {
  std::uint64_t loss = 0;                   // one message in so many gets lost; 0: none
  std::uint64_t twice = 0;                  // arrives twice
  std::uint64_t very_late = 0;              // takes seconds
  std::chrono::microseconds delay{20'000};  // up to
};

// A process: one life of a node or a router. A process that starts again is another one.
using Process = std::uint64_t;

class SimulatedNetwork {
 public:
  SimulatedNetwork(Simulation& simulation, const NetworkFaults& faults)
      : simulation_(simulation), faults_(faults) {}

  void set(const NetworkFaults& faults) { faults_ = faults; }
  Process start_process(std::string machine);
  // It sends and receives nothing from now on, and its calls fail with kCancelled.
  void stop_process(Process process);
  bool is_up(Process process) const { return up_.contains(process); }

  // Machines by name: nothing passes between two that are cut off, in either direction.
  void cut_off(const std::string& one, const std::string& other) { cuts_.emplace(one, other); }
  // Nothing passes to this machine, nor from it.
  void isolate(const std::string& machine) { isolated_.insert(machine); }
  void heal() {
    cuts_.clear();
    isolated_.clear();
  }

  using Deliver = std::function<void()>;
  // Calls `deliver` when the message arrives: never, once or twice.
  void send(Process from, Process to, const std::string& what, const Deliver& deliver);

  // A call of a task. Functions that wait for the first reply, or for the deadline; the second one
  // until a given time at most, and says whether the first one would still wait. The third one
  // tells when the reply arrived.
  template <typename T>
  struct Call {
    std::function<Result<T>()> wait;
    std::function<bool(SteadyTime until)> is_ready_by;
    std::function<std::optional<SteadyTime>()> arrived;
  };
  // `begin` sends the request, with a function that takes the reply whenever one arrives.
  template <typename T>
  Call<T> call(Process from, SteadyTime deadline,
               const std::function<void(std::function<void(Result<T>)>)>& begin);

 private:
  std::chrono::nanoseconds draw_delay();
  bool is_cut(Process from, Process to) const;

  Simulation& simulation_;
  NetworkFaults faults_;
  Process last_ = 0;
  std::map<Process, std::string> machines_;
  std::set<Process> up_;
  std::set<std::pair<std::string, std::string>> cuts_;
  std::set<std::string> isolated_;
  std::map<Process, std::vector<std::function<void(const Error&)>>> under_way_;
};

template <typename T>
SimulatedNetwork::Call<T> SimulatedNetwork::call(
    Process from, SteadyTime deadline,
    const std::function<void(std::function<void(Result<T>)>)>& begin) {
  struct State {
    std::optional<Result<T>> reply;
    std::optional<SteadyTime> arrived;
    Simulation::Task* waiting = nullptr;
  };
  auto state = std::make_shared<State>();
  const auto take = [this, state](Result<T> reply) {
    if (state->reply) return;
    state->reply = std::move(reply);
    state->arrived = simulation_.now();
    if (Simulation::Task* task = std::exchange(state->waiting, nullptr)) simulation_.wake(*task);
  };
  if (!is_up(from)) {
    take(Error{Code::kCancelled, "the process was stopped"});
  } else {
    under_way_[from].push_back([take](const Error& error) { take(error); });
    begin([this, from, take](Result<T> reply) {
      if (is_up(from)) take(std::move(reply));
    });
    simulation_.after(std::max(std::chrono::nanoseconds{0}, deadline - simulation_.now()), [take] {
      take(Error{Code::kUnavailable, "no answer in time"});
    });
  }
  const auto wait = [this, state]() -> Result<T> {
    if (!state->reply) {
      state->waiting = simulation_.current();
      simulation_.suspend();
    }
    return std::move(*state->reply);
  };
  const auto is_ready_by = [this, state](SteadyTime until) {
    if (state->reply || until <= simulation_.now()) return state->reply.has_value();
    Simulation::Task* const task = simulation_.current();
    state->waiting = task;
    simulation_.after(until - simulation_.now(), [this, state, task] {
      if (state->waiting == task) simulation_.wake(*std::exchange(state->waiting, nullptr));
    });
    simulation_.suspend();
    return state->reply.has_value();
  };
  return {wait, is_ready_by, [state] { return state->arrived; }};
}

}  // namespace kin::router
