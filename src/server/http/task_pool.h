// Threads for requests that block.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace kin::server {

// Whose task it is. Owners whose tasks wait get threads in turns, by weight, however many tasks
// each of them has.
struct TaskOwner {
  std::string name = {};
  std::uint32_t weight = 1;
};

struct TaskPoolOptions {
  std::size_t threads = 2;           // at most; each is started when a task finds no idle one
  std::size_t most_waiting = 1'000;  // of one owner
  // Most threads that an owner with a name has at once; 0: half of them, so that slow tasks of one
  // leave room for others.
  std::size_t most_running = 0;
};

// Thread-safe.
class TaskPool {
 public:
  explicit TaskPool(TaskPoolOptions options);
  // As stop().
  ~TaskPool();

  // Queues a task. False if the owner's queue is full or the pool was stopped: the task will not
  // run.
  bool submit(std::function<void()> task, const TaskOwner& owner = {});
  // Blocks until running tasks have returned. Queued tasks are dropped.
  void stop();

 private:
  // With the lock, as all below.
  struct Queue {
    std::deque<std::function<void()>> waiting = {};
    std::size_t running = 0;
    std::uint32_t weight = 1;
    double turn = 0;  // grows by 1 / weight with every task; the lowest is next
  };
  using Queues = std::map<std::string, Queue, std::less<>>;
  void work();
  // The queue whose task is next; the end if none may run now.
  Queues::iterator next();
  std::size_t most_running(const std::string& owner) const;
  void end_task(const std::string& owner);

  const TaskPoolOptions options_;
  std::mutex lock_;
  std::condition_variable changed_;
  Queues queues_;  // of owners with tasks that wait or run
  std::size_t waiting_ = 0;
  double turn_ = 0;  // of the task that was started last
  std::size_t idle_ = 0;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace kin::server
