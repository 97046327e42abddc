#include "app/progress_line.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "app/columns.h"
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

// Never "0 s left": while the stage runs, something is left.
std::string time_left(double seconds) {
  constexpr double kDay = 86'400;
  if (seconds >= 2 * kDay) return fmt::format("{:.0f} days left", std::ceil(seconds / kDay));
  return short_duration(std::max(1.0, std::ceil(seconds))) + " left";
}

// 100 % is shown only when it is finished.
std::string percent(double share) {
  return fmt::format("{:.0f} %", std::min(std::floor(share * 100), 99.0));
}

// A part of the line. Parts with a greater rank are left out first.
struct Part {
  std::string text;
  int rank;
};

std::vector<Part> parts_of(const StageView& view, std::uint64_t memory) {
  std::vector<Part> parts{{view.stage, 0}};
  if (view.share) {
    parts.push_back({bar(*view.share), 5});
    parts.push_back({percent(*view.share), 1});
  }
  if (view.seconds_left) parts.push_back({time_left(*view.seconds_left), 2});
  if (view.records_second) {
    const auto rate = static_cast<std::uint64_t>(*view.records_second);
    parts.push_back({short_count(rate) + " records/s", 4});
  } else if (view.records > 0) {
    parts.push_back({short_count(view.records) + " records", 4});
  }
  if (view.duplicates > 0) parts.push_back({short_count(view.duplicates) + " duplicates", 3});
  if (memory > 0) parts.push_back({format_bytes(memory), 6});
  return parts;
}

std::string joined(const std::vector<Part>& parts, std::string_view between) {
  std::string line;
  for (const Part& part : parts) {
    if (!line.empty()) line += between;
    line += part.text;
  }
  return line;
}

}  // namespace

std::string format_progress(const StageView& view, std::uint64_t memory, std::size_t columns) {
  std::vector<Part> parts = parts_of(view, memory);
  for (;;) {
    const std::string wide = joined(parts, "  ");
    if (display_columns(wide) <= columns) return wide;
    const std::string narrow = joined(parts, " ");
    if (display_columns(narrow) <= columns || parts.size() == 1)
      return cut_to_columns(narrow, columns);
    parts.erase(std::max_element(parts.begin(), parts.end(),
                                 [](const Part& a, const Part& b) { return a.rank < b.rank; }));
  }
}

std::string format_progress_plainly(const StageView& view, std::uint64_t memory) {
  std::vector<Part> parts = parts_of(view, memory);
  std::erase_if(parts, [](const Part& part) { return part.rank == 5; });
  return "kindred: " + joined(parts, ", ");
}

std::string format_share(double done, double total, double seconds) {
  if (done <= 0 || done >= total) return {};
  std::string text = "  " + percent(done / total);
  if (seconds >= 2) text += "  " + time_left(seconds * (total - done) / done);
  return text;
}

ProgressOutput standard_error(double plain_seconds) {
  ProgressOutput output{.plain_seconds = plain_seconds};
  output.terminal = ::isatty(STDERR_FILENO) != 0;
  winsize size{};
  if (output.terminal && ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    output.columns = size.ws_col;
  return output;
}

std::string ProgressPrinter::next(const ProgressOutput& output) {
  if (output.terminal) {
    shown_ = true;
    // In the last column some terminals would begin a new line.
    const std::size_t columns = std::max<std::size_t>(output.columns, 2) - 1;
    return "\r\033[K" + cut_to_columns(line_(columns), columns);
  }
  std::string text = line_({});
  if (output.plain_seconds <= 0 || text.empty() ||
      clock_.seconds_since(last_) < output.plain_seconds)
    return {};
  last_ = clock_.steady_now();
  return text + "\n";
}

ProgressLine::ProgressLine(const dedup::Progress& progress, bool wanted, double plain_seconds) {
  if (!wanted) return;
  const auto meter = std::make_shared<StageMeter>(progress, system_clock());
  show(
      [meter](std::optional<std::size_t> columns) {
        const StageView view = meter->look();
        return columns ? format_progress(view, resident_bytes(), *columns)
                       : format_progress_plainly(view, resident_bytes());
      },
      plain_seconds);
}

ProgressLine::ProgressLine(std::function<std::string(double)> line, bool wanted) {
  if (!wanted || ::isatty(STDERR_FILENO) == 0) return;
  Clock& clock = system_clock();
  show(
      [line = std::move(line), &clock, start = clock.steady_now()](std::optional<std::size_t> to) {
        // Rates are divided by the seconds.
        return to ? line(std::max(clock.seconds_since(start), 0.001)) : std::string();
      },
      0);
}

void ProgressLine::show(ProgressPrinter::Line line, double plain_seconds) {
  thread_ = std::jthread([line = std::move(line), plain_seconds](const std::stop_token& stop) {
    ProgressPrinter printer(line, system_clock());
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
      // Queried each time: the window may have been resized.
      say(printer.next(standard_error(plain_seconds)));
      // Nobody notifies it: the stop token alone ends the wait early.
      wake.wait_for(lock, stop, kInterval, [] { return false; });
    }
    say(printer.end());
  });
}

ProgressLine::~ProgressLine() = default;

}  // namespace kin::app
