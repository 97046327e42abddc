// Threads that do what others must not wait for.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace kin::server {

struct TaskPoolOptions {
  int threads = 2;
  std::size_t most_waiting = 1'000;
};

// Thread-safe.
class TaskPool {
 public:
  explicit TaskPool(TaskPoolOptions options);
  // As stop().
  ~TaskPool();

  // False, and the task is not run, if too many wait already or the pool was stopped.
  bool submit(std::function<void()> task);
  // Waits for tasks that run; those that wait are dropped.
  void stop();

 private:
  void work();

  const TaskPoolOptions options_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace kin::server
