#include "router/testing/simulated_network.h"

#include <algorithm>

namespace kin::router {

Process SimulatedNetwork::start_process(std::string machine) {
  machines_.emplace(++last_, std::move(machine));
  up_.insert(last_);
  return last_;
}

void SimulatedNetwork::stop_process(Process process) {
  up_.erase(process);
  const auto calls = std::exchange(under_way_[process], {});
  // Later, so that the caller that stops the process is not inside one of its tasks.
  simulation_.after({}, [calls] {
    for (const auto& fail : calls) fail({Code::kCancelled, "the process was stopped"});
  });
}

bool SimulatedNetwork::is_cut(Process from, Process to) const {
  const std::string& one = machines_.at(from);
  const std::string& other = machines_.at(to);
  if (isolated_.contains(one) || isolated_.contains(other)) return true;
  // Messages that a process sent before it stopped still arrive.
  return !is_up(to) || cuts_.contains({one, other}) || cuts_.contains({other, one});
}

std::chrono::nanoseconds SimulatedNetwork::draw_delay() {
  Random& random = simulation_.random();
  if (faults_.very_late > 0 && simulation_.once_in(faults_.very_late))
    return std::chrono::milliseconds{500 + random.below(5'000)};
  return std::chrono::microseconds{50 +
                                   random.below(static_cast<std::uint64_t>(faults_.delay.count()))};
}

void SimulatedNetwork::send(Process from, Process to, const std::string& what,
                            const Deliver& deliver) {
  if (!is_up(from) || !is_up(to)) return;
  if (faults_.loss > 0 && simulation_.once_in(faults_.loss)) {
    simulation_.note("lost: " + what);
    return;
  }
  const bool twice = faults_.twice > 0 && simulation_.once_in(faults_.twice);
  for (int copy = 0; copy < (twice ? 2 : 1); ++copy) {
    // Whether it passes is decided when it arrives.
    simulation_.after(draw_delay(), [this, from, to, what, deliver, copy] {
      if (is_cut(from, to)) return simulation_.note("did not pass: " + what);
      if (copy > 0) simulation_.note("again: " + what);
      deliver();
    });
  }
}

}  // namespace kin::router
