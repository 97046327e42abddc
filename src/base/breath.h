// Pauses in long computations, so that others get the processor soon.
//
//   const Breathing breathing([&] { turn.go_on(); });        // who owns the thread
//   for (const Row& row : rows) compute(row), take_breath();  // a library, whoever calls it
#pragma once

#include <functional>

namespace kin {

// While this lives, take_breath() on the same thread calls `pause`, which may block. One at a time.
class Breathing {
 public:
  explicit Breathing(std::function<void()> pause);
  ~Breathing();
  Breathing(const Breathing&) = delete;
  Breathing& operator=(const Breathing&) = delete;

 private:
  std::function<void()> pause_;
};

// For computations that background work does without locks that others wait for, some ten or a
// hundred microseconds apart. On other threads nothing happens.
void take_breath();

}  // namespace kin
