#include "app/stop_signals.h"

#include <array>
#include <csignal>

namespace kin::app {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};

// A handler may touch nothing but atomics that need no lock.
std::atomic<std::atomic<bool>*> flag{nullptr};
std::atomic<int> caught{0};
static_assert(std::atomic<std::atomic<bool>*>::is_always_lock_free);
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

extern "C" void on_stop_signal(int signal) {
  caught = signal;
  if (std::atomic<bool>* stop = flag.load()) *stop = true;
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction before{};
  // A program under nohup goes on ignoring SIGHUP.
  if (::sigaction(signal, nullptr, &before) != 0 || before.sa_handler == SIG_IGN) return;
  struct sigaction action{};
  action.sa_handler = handler;
  // A second signal ends the process at once, even if the first one is not noticed.
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // and no SA_RESTART: waiting must end
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

StopSignals::StopSignals(std::atomic<bool>& stop) {
  caught = 0;
  flag = &stop;
  for (const int signal : kSignals) handle(signal, on_stop_signal);
}

StopSignals::~StopSignals() {
  for (const int signal : kSignals) handle(signal, SIG_DFL);
  flag = nullptr;
}

std::optional<int> StopSignals::exit_code() const {
  const int signal = caught;
  return signal == 0 ? std::nullopt : std::optional(128 + signal);
}

}  // namespace kin::app
