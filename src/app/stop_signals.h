// Ctrl-C, and whatever else asks the program to end.
#pragma once

#include <atomic>
#include <optional>

namespace kin::app {

// While it lives, the first SIGINT, SIGTERM or SIGHUP sets `stop` instead of ending the process, so
// that what was begun can be tidied up. The second one of a kind ends it at once. A signal that was
// ignored before stays so. One at a time; one thread only.
class StopSignals {
 public:
  explicit StopSignals(std::atomic<bool>& stop);
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

  // What the process should exit with if there was a signal: 128 and its number, as from a shell.
  std::optional<int> exit_code() const;
};

}  // namespace kin::app
