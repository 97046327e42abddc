#include "router/testing/fiber.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "base/check.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace kin::router {
namespace {

// Pages that are never touched take no memory.
constexpr std::size_t kStackBytes = std::size_t{4} << 20;

}  // namespace

// Two places to go on from: that of the body, and that of whoever resumed it. Sanitizers are told
// about every switch, because each of them keeps books about the stack that is in use.
struct Fiber::Contexts {
  ucontext_t inside{};
  ucontext_t outside{};
  char* memory = nullptr;
  std::size_t guard = 0;
#if defined(__SANITIZE_ADDRESS__)
  void* fake_inside = nullptr;
  void* fake_outside = nullptr;
  const void* outside_bottom = nullptr;
  std::size_t outside_bytes = 0;
#endif
#if defined(__SANITIZE_THREAD__)
  void* tsan_inside = __tsan_create_fiber(0);
  void* tsan_outside = nullptr;
#endif

  Contexts() {
    // An overflow hits a page that may not be touched.
    guard = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* mapped = ::mmap(nullptr, guard + kStackBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    KIN_CHECK(mapped != MAP_FAILED, "there is memory for a stack");
    memory = static_cast<char*>(mapped);
    KIN_CHECK(::mprotect(memory, guard, PROT_NONE) == 0, "a stack has a guard page");
  }
  ~Contexts() {
#if defined(__SANITIZE_THREAD__)
    __tsan_destroy_fiber(tsan_inside);
#endif
    ::munmap(memory, guard + kStackBytes);
  }
  Contexts(const Contexts&) = delete;
  Contexts& operator=(const Contexts&) = delete;

  char* stack() const { return memory + guard; }

  void go_inside() {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&fake_outside, stack(), kStackBytes);
#endif
#if defined(__SANITIZE_THREAD__)
    tsan_outside = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(tsan_inside, 0);
#endif
    ::swapcontext(&outside, &inside);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake_outside, nullptr, nullptr);
#endif
  }

  // After the switch to the inside, at its begin and after every suspension.
  void arrive_inside() {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake_inside, &outside_bottom, &outside_bytes);
#endif
  }

  void go_outside([[maybe_unused]] bool for_ever) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(for_ever ? nullptr : &fake_inside, outside_bottom,
                                   outside_bytes);
#endif
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(tsan_outside, 0);
#endif
    ::swapcontext(&inside, &outside);
    arrive_inside();
  }
};

Fiber::Fiber(std::function<void()> body)
    : body_(std::move(body)), contexts_(std::make_unique<Contexts>()) {}

Fiber::~Fiber() {
  KIN_CHECK(ended_ || !begun_, "a fiber ends before it is destroyed");
}

// makecontext() passes numbers of 32 bits.
void Fiber::enter(unsigned high, unsigned low) {
  const std::uintptr_t address = std::uintptr_t{high} << 32 | low;
  reinterpret_cast<Fiber*>(address)->run();
}

void Fiber::run() {
  contexts_->arrive_inside();
  std::exchange(body_, nullptr)();
  ended_ = true;
  contexts_->go_outside(true);
  KIN_CHECK(false, "a fiber that has ended is not resumed");
}

void Fiber::resume() {
  KIN_CHECK(!ended_, "a fiber that has ended is not resumed");
  if (!std::exchange(begun_, true)) {
    ucontext_t& inside = contexts_->inside;
    ::getcontext(&inside);
    inside.uc_stack.ss_sp = contexts_->stack();
    inside.uc_stack.ss_size = kStackBytes;
    const auto address = reinterpret_cast<std::uintptr_t>(this);
    ::makecontext(&inside, reinterpret_cast<void (*)()>(&Fiber::enter), 2,
                  static_cast<unsigned>(address >> 32), static_cast<unsigned>(address));
  }
  contexts_->go_inside();
}

void Fiber::suspend() {
  contexts_->go_outside(false);
}

}  // namespace kin::router
