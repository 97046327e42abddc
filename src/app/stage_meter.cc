#include "app/stage_meter.h"

#include <algorithm>

namespace kin::app {
namespace {

constexpr double kWindowSeconds = 30;
// The time left is given after kLeastSeconds and a share of the work, or after the longer time.
constexpr double kLeastSeconds = 2;
constexpr double kLeastShare = 0.01;
constexpr double kEnoughSeconds = 15;
// Beyond this the stage is probably stuck, so no time is given.
constexpr double kMostSeconds = 90 * 86'400.0;

double seconds_between(SteadyTime from, SteadyTime to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

void StageMeter::begin(const char* stage, SteadyTime now) {
  stage_ = stage;
  begun_ = now;
  records_before_ = progress_.records;
  first_.reset();
  recent_.clear();
}

StageView StageMeter::look() {
  const SteadyTime now = clock_.steady_now();
  const char* stage = progress_.stage;
  if (stage != stage_) begin(stage, now);
  std::optional<double> share = progress_.work.share();
  // A stage that began meanwhile is measured at the next call.
  if (progress_.stage != stage) share.reset();
  if (share) {
    // StageView::share never goes back.
    if (!recent_.empty()) share = std::max(*share, recent_.back().share);
    const Moment moment{now, *share};
    if (!first_) first_ = moment;
    recent_.push_back(moment);
    // One moment before the window stays, so that the window is never empty.
    while (recent_.size() > 2 && seconds_between(recent_[1].time, now) >= kWindowSeconds)
      recent_.pop_front();
  }
  StageView view;
  view.stage = stage;
  if (!recent_.empty()) {
    view.share = recent_.back().share;
    view.seconds_left = seconds_left(now);
  }
  view.records = progress_.records;
  view.duplicates = progress_.duplicates;
  const double seconds = seconds_between(begun_, now);
  if (view.records > records_before_ && seconds >= 1)
    view.records_second = static_cast<double>(view.records - records_before_) / seconds;
  return view;
}

std::optional<double> StageMeter::seconds_left(SteadyTime now) const {
  const double watched = seconds_between(first_->time, now);
  const double done = recent_.back().share - first_->share;
  const bool enough =
      watched >= kLeastSeconds && (done >= kLeastShare || watched >= kEnoughSeconds);
  const double gained = recent_.back().share - recent_.front().share;
  const double left = 1 - recent_.back().share;
  if (!enough || gained <= 0 || left <= 0) return {};
  const double seconds = left * seconds_between(recent_.front().time, now) / gained;
  if (seconds > kMostSeconds) return {};
  return seconds;
}

}  // namespace kin::app
