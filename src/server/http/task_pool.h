// Threads for requests that block.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace kin::server {

struct TaskPoolOptions {
  std::size_t threads = 2;  // at most; each is started when a task finds no idle one
  std::size_t most_waiting = 1'000;
};

// Thread-safe.
class TaskPool {
 public:
  explicit TaskPool(TaskPoolOptions options);
  // As stop().
  ~TaskPool();

  // Queues a task. False if the queue is full or the pool was stopped: the task will not run.
  bool submit(std::function<void()> task);
  // Blocks until running tasks have returned. Queued tasks are dropped.
  void stop();

 private:
  void work();

  const TaskPoolOptions options_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  std::size_t idle_ = 0;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace kin::server
