#include "server/http/task_pool.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "server/testing/test_client.h"

namespace kin::server {
namespace {

// A pool whose threads are held until go(), and the order in which later tasks ran.
class HeldPool {
 public:
  explicit HeldPool(const TaskPoolOptions& options) : pool_(options) {
    for (std::size_t i = 0; i < options.threads; ++i) {
      EXPECT_TRUE(pool_.submit([this] {
        std::unique_lock lock(mutex_);
        ++held_;
        changed_.notify_all();
        changed_.wait(lock, [&] { return open_; });
      }));
    }
    std::unique_lock lock(mutex_);
    KIN_CHECK(changed_.wait_for(lock, kPatience, [&] { return held_ == options.threads; }),
              "the threads start");
  }
  bool add(const std::string& owner, std::uint32_t weight = 1) {
    return pool_.submit(
        [this, owner] {
          const std::lock_guard lock(mutex_);
          ran_.push_back(owner);
          changed_.notify_all();
        },
        {.name = owner, .weight = weight});
  }
  std::vector<std::string> run(std::size_t count) {
    std::unique_lock lock(mutex_);
    open_ = true;
    changed_.notify_all();
    KIN_CHECK(changed_.wait_for(lock, kPatience, [&] { return ran_.size() >= count; }),
              "the tasks run");
    return ran_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t held_ = 0;
  bool open_ = false;
  std::vector<std::string> ran_;
  TaskPool pool_;  // last, so that its threads end first
};

TEST(TaskPool, AnOwnerWithManyTasksDoesNotDelayTheOthers) {
  HeldPool pool({.threads = 1});
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(pool.add("noisy"));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(pool.add("quiet"));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(pool.add("calm"));
  const auto ran = pool.run(506);
  // In turns: all six are among the first nine.
  EXPECT_EQ(std::count(ran.begin(), ran.begin() + 9, "quiet"), 3);
  EXPECT_EQ(std::count(ran.begin(), ran.begin() + 9, "calm"), 3);
}

TEST(TaskPool, WeightsShareTheTurns) {
  HeldPool pool({.threads = 1});
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(pool.add("one", 1));
    ASSERT_TRUE(pool.add("three", 3));
  }
  const auto ran = pool.run(200);
  EXPECT_NEAR(std::count(ran.begin(), ran.begin() + 80, "three"), 60, 2);
}

TEST(TaskPool, AFullQueueOfOneOwnerLeavesRoomForOthers) {
  HeldPool pool({.threads = 1, .most_waiting = 2});
  EXPECT_TRUE(pool.add("noisy"));
  EXPECT_TRUE(pool.add("noisy"));
  EXPECT_FALSE(pool.add("noisy"));
  EXPECT_TRUE(pool.add("quiet"));
  EXPECT_EQ(pool.run(3).size(), 3U);
}

TEST(TaskPool, SlowTasksOfOneOwnerDoNotTakeAllThreads) {
  std::mutex mutex;
  std::condition_variable changed;
  bool open = false;
  int slow = 0;
  bool quick = false;
  TaskPool pool({.threads = 4});
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(pool.submit(
        [&] {
          std::unique_lock lock(mutex);
          ++slow;
          changed.wait(lock, [&] { return open; });
        },
        {.name = "noisy"}));
  }
  ASSERT_TRUE(pool.submit(
      [&] {
        const std::lock_guard lock(mutex);
        quick = true;
        changed.notify_all();
      },
      {.name = "quiet"}));
  std::unique_lock lock(mutex);
  EXPECT_TRUE(changed.wait_for(lock, kPatience, [&] { return quick; }));
  EXPECT_LE(slow, 2);
  open = true;
  changed.notify_all();
  lock.unlock();
  EXPECT_TRUE(eventually([&] {
    const std::lock_guard guard(mutex);
    return slow == 10;
  }));
}

}  // namespace
}  // namespace kin::server
