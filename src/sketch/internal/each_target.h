// For tests and benchmarks: runs code once on each instruction set this machine has.
#pragma once

#include <hwy/targets.h>

#include <functional>

namespace kin::sketch {

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
