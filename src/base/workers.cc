#include "base/workers.h"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <vector>

namespace kin {

Status run_workers(int count, const std::function<Status(int)>& work) {
  // One place for each worker, so that writing them needs no lock.
  std::vector<Status> outcomes(static_cast<std::size_t>(count), Done{});
  // The end of this block joins the threads, so that all outcomes are there.
  {
    std::vector<std::jthread> threads;
    threads.reserve(static_cast<std::size_t>(count));
    for (int worker = 0; worker + 1 < count; ++worker) {
      threads.emplace_back(
          [&, worker] { outcomes[static_cast<std::size_t>(worker)] = work(worker); });
    }
    // The caller works too, instead of waiting: one thread fewer to start.
    if (count > 0) outcomes.back() = work(count - 1);
  }
  for (Status& outcome : outcomes) {
    if (!outcome.ok()) return outcome;
  }
  return Done{};
}

Status parallel_for(int threads, std::size_t items,
                    const std::function<Status(std::size_t)>& work) {
  // Items are taken one by one, not shared out in advance, because they may differ much in cost.
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  const int count = static_cast<int>(
      std::min<std::size_t>(static_cast<std::size_t>(std::max(threads, 1)), items));
  return run_workers(count, [&](int) -> Status {
    for (std::size_t item = next++; item < items && !failed; item = next++) {
      if (Status done = work(item); !done.ok()) {
        failed = true;
        return done;
      }
    }
    return Done{};
  });
}

int available_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  // hardware_concurrency() may also count cores that a cpuset or taskset keeps from this process.
  if (sched_getaffinity(0, sizeof cores, &cores) == 0) return std::max(1, CPU_COUNT(&cores));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void give_way() {
  // Linux lowers the calling thread alone. Where that is not allowed, the priority stays as it is.
  constexpr int kNicer = 10;
  ::setpriority(PRIO_PROCESS, 0, kNicer);
}

}  // namespace kin
