// The progress of a run, for other threads to watch.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

namespace kin::dedup {

// The progress of the present stage. A stage is one phase, or several whose shares of the time are
// estimated beforehand. One thread begins stages and phases; any thread may add() and read.
class StageWork {
 public:
  // Begins a stage of unknown length.
  void begin() {
    weights_ = {1};
    next_ = 0;
    total_ = 0;
    done_ = 0;
    before_ = 0;
    weight_ = kWhole;
  }
  // Sets the relative durations of the phases of the stage. Call it before the first phase().
  void plan(std::initializer_list<std::uint32_t> weights) { weights_ = weights; }
  // Begins the next phase, with `total` units of work.
  void phase(std::uint64_t total) {
    std::uint64_t sum = 0;
    for (const std::uint32_t weight : weights_) sum += weight;
    std::uint64_t past = 0;
    const std::size_t number = std::min(next_, weights_.size() - 1);
    for (std::size_t i = 0; i < number; ++i) past += weights_[i];
    total_ = 0;  // so that the new numbers are never read together with the old
    done_ = 0;
    before_ = past * kWhole / sum;
    weight_ = weights_[number] * kWhole / sum;
    if (total == 0) done_ = 1;  // a phase without work is complete
    total_ = std::max<std::uint64_t>(total, 1);
    ++next_;
  }
  void add(std::uint64_t done) { done_.fetch_add(done, std::memory_order_relaxed); }

  // The share of the stage that is done, from 0 to 1; nothing if it is not known.
  std::optional<double> share() const {
    const auto total = static_cast<double>(total_.load());
    if (total == 0) return {};
    const double phase = std::min(static_cast<double>(done_.load()) / total, 1.0);
    const double whole = kWhole;
    return static_cast<double>(before_) / whole + phase * static_cast<double>(weight_) / whole;
  }

 private:
  static constexpr std::uint64_t kWhole = 1'000'000;

  std::vector<std::uint32_t> weights_{1};
  std::size_t next_ = 0;
  std::atomic<std::uint64_t> total_{0};
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::uint64_t> before_{0};  // of kWhole
  std::atomic<std::uint64_t> weight_{kWhole};
};

// For work that may have no observer.
inline void next_phase(StageWork* work, std::uint64_t total) {
  if (work != nullptr) work->phase(total);
}
inline void count_work(StageWork* work, std::uint64_t done) {
  if (work != nullptr) work->add(done);
}

// Counts `units` of work as evenly as possible while `items` are finished. Thread-safe.
class SpreadWork {
 public:
  SpreadWork(StageWork* work, std::uint64_t units, std::uint64_t items)
      : work_(work), units_(units), items_(std::max<std::uint64_t>(items, 1)) {
    if (items == 0) count_work(work, units);
  }
  void finished_one() {
    const std::uint64_t number = finished_.fetch_add(1) + 1;
    count_work(work_, units_ * number / items_ - units_ * (number - 1) / items_);
  }

 private:
  StageWork* work_;
  const std::uint64_t units_;
  const std::uint64_t items_;
  std::atomic<std::uint64_t> finished_{0};
};

// The progress of a run. The run writes it, and any thread may read it at any time. Other threads
// set `stop`: the run then ends soon, with kCancelled, as after any failure.
struct Progress {
  std::atomic<bool> stop{false};
  std::atomic<const char*> stage{"starting"};
  StageWork work;  // of the stage
  std::atomic<std::uint64_t> records{0};
  std::atomic<std::uint64_t> duplicates{0};
};

}  // namespace kin::dedup
