// A progress line on a terminal.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "dedup/run.h"

namespace kin::app {

// The line for a run that has taken `seconds` so far, without a line break.
std::string format_progress(const dedup::Progress& progress, double seconds);

// "  40 %  1:15 left" for an input of which so many bytes are done; empty if nothing can be said.
std::string format_share(double done, double total, double seconds);

// Shows progress on stderr during its lifetime, if it is `wanted` and stderr is a terminal.
class ProgressLine {
 public:
  explicit ProgressLine(const dedup::Progress& progress, bool wanted);
  // `line` makes the text of the line.
  ProgressLine(std::function<std::string(double seconds)> line, bool wanted);
  ~ProgressLine();

 private:
  void show(std::function<std::string()> line);
  std::jthread thread_;
};

}  // namespace kin::app
