// KIN_CHECK(condition, why): stops the program when an invariant of ours is broken. Never
// reachable from input: a user's mistake, a damaged file or a failing network is an Error.
#pragma once

namespace kin {
[[noreturn]] void check_failed(const char* file, int line, const char* condition, const char* why);
}  // namespace kin

#define KIN_CHECK(condition, why)         \
  (static_cast<bool>(condition) ? void(0) \
                                : ::kin::check_failed(__FILE__, __LINE__, #condition, why))

// The end of a function whose switch covered every case.
#define KIN_UNREACHABLE() \
  ::kin::check_failed(__FILE__, __LINE__, "unreachable", "a case was missed")
