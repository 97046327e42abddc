#include "app/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "app/print.h"
#include "app/words.h"
#include "base/memory.h"

namespace kin::app {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(200);

std::string bar(double done) {
  constexpr int kWidth = 24;
  const int filled = std::clamp(static_cast<int>(done * kWidth), 0, kWidth);
  return fmt::format("[{}{}]", std::string(static_cast<std::size_t>(filled), '='),
                     std::string(static_cast<std::size_t>(kWidth - filled), ' '));
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  // Rates are divided by it.
  return std::max(taken.count(), 0.001);
}

}  // namespace

std::string format_progress(const dedup::Progress& progress, double seconds) {
  const auto total = static_cast<double>(progress.bytes_total.load());
  const auto done = static_cast<double>(progress.bytes_done.load());
  const auto records = static_cast<double>(progress.records.load());
  const std::uint64_t duplicates = progress.duplicates;
  std::string line = fmt::format("{:<10} ", progress.stage.load());
  if (total > 0 && done > 0 && done <= total) {
    const double share = done / total;
    line += fmt::format("{} {:>3.0f} %  {} records/s  {:.0f} MB/s  {} left", bar(share),
                        share * 100, short_count(static_cast<std::uint64_t>(records / seconds)),
                        done / 1e6 / seconds, short_duration(seconds * (1 - share) / share));
  } else {
    line += fmt::format("{} records", short_count(static_cast<std::uint64_t>(records)));
  }
  if (duplicates > 0) line += fmt::format("  {} duplicates", short_count(duplicates));
  return line + fmt::format("  {}", format_bytes(resident_bytes()));
}

std::string format_share(double done, double total, double seconds) {
  if (done <= 0 || done >= total) return {};
  return fmt::format("  {:.0f} %  {} left", 100 * done / total,
                     short_duration(seconds * (total - done) / done));
}

ProgressLine::ProgressLine(const dedup::Progress& progress, bool wanted) {
  if (!wanted) return;
  show([&progress, stage = static_cast<const char*>(nullptr),
        entered = std::chrono::steady_clock::now()]() mutable {
    // Stages differ in speed, so the time left is that of the present one.
    if (progress.stage != stage) {
      stage = progress.stage;
      entered = std::chrono::steady_clock::now();
    }
    return format_progress(progress, seconds_since(entered));
  });
}

ProgressLine::ProgressLine(std::function<std::string(double)> line, bool wanted) {
  if (!wanted) return;
  show([line = std::move(line), start = std::chrono::steady_clock::now()] {
    return line(seconds_since(start));
  });
}

void ProgressLine::show(std::function<std::string()> line) {
  if (::isatty(STDERR_FILENO) == 0) return;
  thread_ = std::jthread([line = std::move(line)](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
      say("\r\033[K" + line());
      // Nobody notifies it: the stop token alone ends the wait early.
      wake.wait_for(lock, stop, kInterval, [] { return false; });
    }
    say("\r\033[K");
  });
}

ProgressLine::~ProgressLine() = default;

}  // namespace kin::app
