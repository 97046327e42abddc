#include "server/http/task_pool.h"

#include <algorithm>

namespace kin::server {

TaskPool::TaskPool(TaskPoolOptions options) : options_(options) {}

TaskPool::~TaskPool() {
  stop();
}

bool TaskPool::submit(std::function<void()> task, const TaskOwner& owner) {
  {
    const std::lock_guard guard(lock_);
    if (stopped_) return false;
    Queue& queue = queues_[owner.name];
    if (queue.waiting.size() >= options_.most_waiting) return false;
    // An owner who was away does not make up for the turns that it missed.
    if (queue.waiting.empty() && queue.running == 0) queue.turn = turn_;
    queue.weight = std::max(owner.weight, 1U);
    queue.waiting.push_back(std::move(task));
    ++waiting_;
    // Idle threads are already taken by waiting tasks.
    if (waiting_ > idle_ && threads_.size() < options_.threads)
      threads_.emplace_back([this] { work(); });
  }
  changed_.notify_one();
  return true;
}

void TaskPool::stop() {
  Queues dropped;
  {
    const std::lock_guard guard(lock_);
    stopped_ = true;
    waiting_ = 0;
    // Destroyed without the lock: a task may hold the last reference to a connection.
    dropped.swap(queues_);
  }
  changed_.notify_all();
  // No thread is added once it is stopped.
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

std::size_t TaskPool::most_running(const std::string& owner) const {
  if (owner.empty()) return options_.threads;
  if (options_.most_running > 0) return options_.most_running;
  return std::max<std::size_t>(options_.threads / 2, 1);
}

TaskPool::Queues::iterator TaskPool::next() {
  auto chosen = queues_.end();
  for (auto queue = queues_.begin(); queue != queues_.end(); ++queue) {
    const bool may_run =
        !queue->second.waiting.empty() && queue->second.running < most_running(queue->first);
    if (may_run && (chosen == queues_.end() || queue->second.turn < chosen->second.turn))
      chosen = queue;
  }
  return chosen;
}

void TaskPool::end_task(const std::string& owner) {
  const auto queue = queues_.find(owner);
  if (queue == queues_.end()) return;  // stopped
  --queue->second.running;
  if (queue->second.running == 0 && queue->second.waiting.empty()) queues_.erase(queue);
}

void TaskPool::work() {
  std::unique_lock guard(lock_);
  while (true) {
    ++idle_;
    auto queue = queues_.end();
    changed_.wait(guard, [&] { return stopped_ || (queue = next()) != queues_.end(); });
    --idle_;
    if (stopped_) return;
    const std::string owner = queue->first;
    turn_ = queue->second.turn;
    queue->second.turn += 1.0 / queue->second.weight;
    ++queue->second.running;
    std::function<void()> task = std::move(queue->second.waiting.front());
    queue->second.waiting.pop_front();
    --waiting_;
    guard.unlock();
    task();
    // Objects that the task holds, such as a connection, are released without the lock.
    task = nullptr;
    guard.lock();
    end_task(owner);
    // The owner may have another thread now, and this one may go to somebody else.
    if (waiting_ > 0) changed_.notify_one();
  }
}

}  // namespace kin::server
