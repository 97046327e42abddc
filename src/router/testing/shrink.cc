#include "router/testing/shrink.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace kin::router {
namespace {

class Shrinker {
 public:
  Shrinker(RunOptions options, RunReport report, std::size_t most_runs)
      : best_{.options = std::move(options), .report = std::move(report)}, most_runs_(most_runs) {}

  Shrunk run() {
    for (std::size_t size = left().size() / 2; size > 0;) {
      // What is needed together with a part that went may be needed no longer.
      const bool smaller = leave_out_pieces_of(size);
      if (best_.runs >= most_runs_) break;
      if (!smaller || size > 1) size /= 2;
    }
    best_.parts = left().size();
    return std::move(best_);
  }

 private:
  std::vector<std::size_t> left() const {
    std::vector<std::size_t> parts;
    for (std::size_t part = 0; part < best_.report.parts; ++part) {
      if (!best_.options.without.contains(part)) parts.push_back(part);
    }
    return parts;
  }

  // From the end, because a fault that comes later is needed less often.
  bool leave_out_pieces_of(std::size_t size) {
    bool smaller = false;
    const std::vector<std::size_t> parts = left();
    for (std::size_t end = parts.size(); end > 0 && best_.runs < most_runs_;) {
      const std::size_t begin = end - std::min(size, end);
      smaller = leave_out({parts.begin() + static_cast<std::ptrdiff_t>(begin),
                           parts.begin() + static_cast<std::ptrdiff_t>(end)}) ||
                smaller;
      end = begin;
    }
    return smaller;
  }

  bool leave_out(const std::vector<std::size_t>& parts) {
    RunOptions fewer = best_.options;
    fewer.without.insert(parts.begin(), parts.end());
    // Without these parts others happen at other moments: that alone may hide the mistake.
    for (int tries = 0; tries < 4; ++tries, ++fewer.weather) {
      RunReport report = run_cluster(fewer);
      ++best_.runs;
      if (!report.violation) continue;
      best_.options = std::move(fewer);
      best_.report = std::move(report);
      return true;
    }
    return false;
  }

  Shrunk best_;
  std::size_t most_runs_;
};

}  // namespace

Shrunk shrink(RunOptions options, RunReport report, std::size_t most_runs) {
  return Shrinker(std::move(options), std::move(report), most_runs).run();
}

}  // namespace kin::router
