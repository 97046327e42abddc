#include "server/http/task_pool.h"

namespace kin::server {

TaskPool::TaskPool(TaskPoolOptions options) : options_(options) {
  for (int i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { work(); });
}

TaskPool::~TaskPool() {
  stop();
}

bool TaskPool::submit(std::function<void()> task) {
  {
    const std::lock_guard guard(lock_);
    if (stopped_ || waiting_.size() >= options_.most_waiting) return false;
    waiting_.push_back(std::move(task));
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
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void TaskPool::work() {
  std::unique_lock guard(lock_);
  while (true) {
    changed_.wait(guard, [this] { return stopped_ || !waiting_.empty(); });
    if (stopped_) return;
    std::function<void()> task = std::move(waiting_.front());
    waiting_.pop_front();
    guard.unlock();
    task();
    // What it holds, such as a connection, is released without the lock.
    task = nullptr;
    guard.lock();
  }
}

}  // namespace kin::server
