// Progress on standard error.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "app/stage_meter.h"
#include "base/clock.h"
#include "dedup/progress.h"

namespace kin::app {

// The progress line of a run for a terminal of `columns`, without a line break. Less important
// parts are left out first: the bar and the memory, then the time left, then the share.
std::string format_progress(const StageView& view, std::uint64_t memory, std::size_t columns);

// The same as a line of a log.
std::string format_progress_plainly(const StageView& view, std::uint64_t memory);

// "  40 %  1:15 left" after `done` of `total` bytes; empty if the total is unknown, and without the
// time while it cannot be estimated.
std::string format_share(double done, double total, double seconds);

// Where progress is printed, and how often.
struct ProgressOutput {
  bool terminal = false;
  std::size_t columns = 80;
  double plain_seconds = 30;  // between lines that are not for a terminal; 0: there are none
};

// The current state of standard error: a terminal may change its size.
ProgressOutput standard_error(double plain_seconds);

// Decides what to print when. One thread only.
class ProgressPrinter {
 public:
  // `line` makes the text for a terminal of `columns`; without columns, for a log.
  using Line = std::function<std::string(std::optional<std::size_t> columns)>;
  ProgressPrinter(Line line, const Clock& clock)
      : line_(std::move(line)), clock_(clock), last_(clock.steady_now()) {}

  // The bytes to print now. On a terminal the line replaces the one before; elsewhere it is a line
  // of its own, when it is time for one.
  std::string next(const ProgressOutput& output);
  // The bytes to print at the end.
  std::string end() const { return shown_ ? "\r\033[K" : ""; }

 private:
  Line line_;
  const Clock& clock_;
  SteadyTime last_;
  bool shown_ = false;
};

// Shows progress on standard error during its lifetime, if it is `wanted`.
class ProgressLine {
 public:
  // On a terminal as a line that changes, elsewhere as a line every `plain_seconds` (0: none).
  ProgressLine(const dedup::Progress& progress, bool wanted, double plain_seconds = 30);
  // `line` makes the text, which is shown on terminals only.
  ProgressLine(std::function<std::string(double seconds)> line, bool wanted);
  ~ProgressLine();

 private:
  void show(ProgressPrinter::Line line, double plain_seconds);
  std::jthread thread_;
};

}  // namespace kin::app
