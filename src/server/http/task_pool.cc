#include "server/http/task_pool.h"

namespace kin::server {

TaskPool::TaskPool(TaskPoolOptions options) : options_(options) {}

TaskPool::~TaskPool() {
  stop();
}

bool TaskPool::submit(std::function<void()> task) {
  {
    const std::lock_guard guard(lock_);
    if (stopped_ || waiting_.size() >= options_.most_waiting) return false;
    waiting_.push_back(std::move(task));
    // Idle threads are already taken by waiting tasks.
    if (waiting_.size() > idle_ && threads_.size() < options_.threads)
      threads_.emplace_back([this] { work(); });
  }
  changed_.notify_one();
  return true;
}

void TaskPool::stop() {
  std::deque<std::function<void()>> dropped;
  {
    const std::lock_guard guard(lock_);
    stopped_ = true;
    // Destroyed without the lock: a task may hold the last reference to a connection.
    dropped.swap(waiting_);
  }
  changed_.notify_all();
  // No thread is added once it is stopped.
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void TaskPool::work() {
  std::unique_lock guard(lock_);
  while (true) {
    ++idle_;
    changed_.wait(guard, [this] { return stopped_ || !waiting_.empty(); });
    --idle_;
    if (stopped_) return;
    std::function<void()> task = std::move(waiting_.front());
    waiting_.pop_front();
    guard.unlock();
    task();
    // Objects that the task holds, such as a connection, are released without the lock.
    task = nullptr;
    guard.lock();
  }
}

}  // namespace kin::server
