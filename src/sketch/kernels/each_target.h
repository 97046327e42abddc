// For tests and benchmarks: runs code once on each instruction set this machine has.
#pragma once

#include <hwy/targets.h>

#include <functional>
#include <string_view>

namespace kin::sketch {

// Makes the instruction set of this name ("AVX2") the one in use; false if this machine has none of
// that name. One thread only.
inline bool use_target(std::string_view name) {
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    if (name != hwy::TargetName(target)) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    return true;
  }
  return false;
}

// Calls `run` with every target chosen in turn, best first. One thread only.
inline void for_each_target(const std::function<void(const char* name)>& run) {
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    run(hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace kin::sketch
