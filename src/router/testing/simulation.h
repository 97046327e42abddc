// A world with a clock of its own, in which one thing happens at a time and a seed decides what.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "router/testing/fiber.h"

namespace kin::router {

// Events happen at moments; tasks are functions that may wait. Each task is a fiber, so that
// ordinary blocking code can be simulated: the same seed gives the same run. One thread only.
class Simulation {
 public:
  explicit Simulation(std::uint64_t seed);
  // All tasks must have ended.
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  Random& random() { return random_; }
  // True once in `times`.
  bool once_in(std::uint64_t times) { return random_.below(times) == 0; }
  // Its sleep_for() suspends the task that calls it.
  Clock& clock() { return clock_; }
  SteadyTime now() const { return now_; }

  void after(std::chrono::nanoseconds delay, std::function<void()> event);
  void spawn(std::function<void()> body);
  // Runs until every task has ended. Events that are left are dropped.
  void run();

  using Task = Fiber;
  // The task that runs now; null in an event.
  Task* current() const { return current_; }
  // Stops the task that runs until it is woken.
  void suspend();
  // Lets a suspended task run until it is suspended again or ends.
  void wake(Task& task);

  // One line of what happened, with the time. Kept up to a limit.
  void note(const std::string& line);
  const std::vector<std::string>& notes() const { return notes_; }
  // A hash of all lines: equal runs have equal hashes.
  std::uint64_t digest() const { return digest_; }

 private:
  class SimulatedClock final : public Clock {
   public:
    explicit SimulatedClock(Simulation& simulation) : simulation_(simulation) {}
    WallTime now() const override;
    SteadyTime steady_now() const override { return simulation_.now_; }
    void sleep_for(std::chrono::nanoseconds duration) override;

   private:
    Simulation& simulation_;
  };

  Random random_;
  SimulatedClock clock_{*this};
  SteadyTime now_{std::chrono::hours{1}};
  std::uint64_t events_made_ = 0;
  std::map<std::pair<SteadyTime, std::uint64_t>, std::function<void()>> events_;
  std::vector<std::unique_ptr<Task>> tasks_;
  std::size_t running_ = 0;  // tasks that have not ended
  Task* current_ = nullptr;
  std::vector<std::string> notes_;
  std::uint64_t digest_ = 0;
};

}  // namespace kin::router
