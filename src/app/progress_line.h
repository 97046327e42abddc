// One line on a terminal that says how far a run is.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "dedup/run.h"

namespace kin::app {

// The line for a run that has been going for `seconds`, without a line break.
std::string format_progress(const dedup::Progress& progress, double seconds);

// Shows the progress of a run on stderr while it lives, if stderr is a terminal; otherwise nothing.
class ProgressLine {
 public:
  explicit ProgressLine(const dedup::Progress& progress, bool wanted);
  // The same with a line of your own, after so many seconds.
  ProgressLine(std::function<std::string(double seconds)> line, bool wanted);
  ~ProgressLine();

 private:
  void show(std::function<std::string()> line);
  std::jthread thread_;
};

}  // namespace kin::app
