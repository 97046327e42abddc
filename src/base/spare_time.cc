#include "base/spare_time.h"

#include <thread>

namespace kin {
namespace {

// A piece that waits longer than this, and four times as long as it runs, is starved.
constexpr std::chrono::milliseconds kPatience{20};
constexpr int kFewTimes = 4;

}  // namespace

bool is_starved(const ThreadTimes& times, bool was_spare) {
  if (was_spare) return times.waited > kPatience && times.waited > kFewTimes * times.ran;
  // With a share it would run in the time that is left over, too, if there were any.
  return times.waited > times.ran;
}

void SpareTime::run(const std::function<void()>& work) {
  // A thread of its own, since it cannot be given its priority back.
  std::jthread([&] {
    const bool spare = !starved_ && times_of_this_thread() && use_spare_time();
    if (!spare) yield_to_other_threads();
    work();
    if (const auto times = times_of_this_thread()) starved_ = is_starved(*times, spare);
  }).join();
}

}  // namespace kin
