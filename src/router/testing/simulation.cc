#include "router/testing/simulation.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/hash.h"

namespace kin::router {
namespace {

constexpr std::size_t kMostNotes = 20'000;

}  // namespace

WallTime Simulation::SimulatedClock::now() const {
  return WallTime{std::chrono::hours{24 * 365 * 50}} +
         std::chrono::floor<std::chrono::milliseconds>(simulation_.now_.time_since_epoch());
}

void Simulation::SimulatedClock::sleep_for(std::chrono::nanoseconds duration) {
  Task* task = simulation_.current();
  KIN_CHECK(task != nullptr, "only tasks sleep");
  simulation_.after(duration, [this, task] { simulation_.wake(*task); });
  simulation_.suspend();
}

Simulation::Simulation(std::uint64_t seed) : random_(seed) {}

Simulation::~Simulation() {
  KIN_CHECK(running_ == 0, "every task has ended");
}

void Simulation::after(std::chrono::nanoseconds delay, std::function<void()> event) {
  events_.emplace(std::pair(now_ + delay, events_made_++), std::move(event));
}

void Simulation::spawn(std::function<void()> body) {
  Task& task = *tasks_.emplace_back(std::make_unique<Task>(std::move(body)));
  ++running_;
  after({}, [this, &task] { wake(task); });
}

void Simulation::run() {
  while (running_ > 0) {
    KIN_CHECK(!events_.empty(), "a task waits for something that never happens");
    auto first = events_.extract(events_.begin());
    now_ = first.key().first;
    first.mapped()();
  }
  events_.clear();
}

void Simulation::suspend() {
  current_->suspend();
}

void Simulation::wake(Task& task) {
  Task* before = current_;
  current_ = &task;
  task.resume();
  if (task.ended()) --running_;
  current_ = before;
}

void Simulation::note(const std::string& line) {
  const double seconds = std::chrono::duration<double>(now_.time_since_epoch()).count() - 3600;
  std::string stamped = fmt::format("{:10.6f}  {}", seconds, line);
  digest_ = hash64(stamped, digest_);
  if (notes_.size() < kMostNotes) notes_.push_back(std::move(stamped));
}

}  // namespace kin::router
