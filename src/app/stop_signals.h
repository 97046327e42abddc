// Handles Ctrl-C and other signals that ask the program to end.
#pragma once

#include <atomic>
#include <optional>

namespace kin::app {

// During its lifetime the first SIGINT, SIGTERM or SIGHUP sets `stop` instead of ending the
// process, so that the program can clean up. The second signal of a kind ends it at once. Signals
// that were ignored before stay ignored. At most one instance; one thread only.
class StopSignals {
 public:
  explicit StopSignals(std::atomic<bool>& stop);
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

  // The exit code if there was a signal: 128 plus its number, as shells have it.
  std::optional<int> exit_code() const;
};

}  // namespace kin::app
