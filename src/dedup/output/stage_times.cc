#include "dedup/output/stage_times.h"

namespace kin::dedup {

void StageTimes::leave() {
  if (stage_ != nullptr) stages_.emplace_back(stage_, clock_.seconds_since(stage_started_));
  stage_ = nullptr;
}

Status StageTimes::enter(const char* stage) {
  leave();
  if (progress_.stop) return stopped();
  stage_ = stage;
  stage_started_ = clock_.steady_now();
  progress_.work.begin();
  progress_.stage = stage;
  return Done{};
}

std::vector<std::pair<std::string, double>> StageTimes::finish() {
  leave();
  return std::move(stages_);
}

}  // namespace kin::dedup
