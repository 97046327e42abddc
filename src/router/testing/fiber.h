// A function that can be stopped in the middle and continued, without a thread of its own.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace kin::router {

// Has its own stack and runs on the thread that resumes it, always the same one. Switching costs
// less than a microsecond, however busy the machine is, where handing over between threads waits
// for the scheduler. The body throws nothing and may not be stopped while it holds a lock. One
// thread only.
class Fiber {
 public:
  explicit Fiber(std::function<void()> body);
  // It must have ended, or never have begun.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs the body until it calls suspend() or ends. Called from outside: by no fiber, or by another
  // one, which waits meanwhile.
  void resume();
  // Called by the body alone.
  void suspend();
  bool ended() const { return ended_; }

 private:
  struct Contexts;
  static void enter(unsigned high, unsigned low);
  void run();

  std::function<void()> body_;
  std::unique_ptr<Contexts> contexts_;
  bool begun_ = false;
  bool ended_ = false;
};

}  // namespace kin::router
