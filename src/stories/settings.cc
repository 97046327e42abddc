#include "stories/settings.h"

#include <fmt/format.h>

#include <cmath>

namespace kin::stories {
namespace {

Status check_share(std::string_view name, double value) {
  if (value >= 0 && value <= 1) return Done{};
  return Error{Code::kInvalidArgument,
               fmt::format("{} is {}, but should be from 0 to 1", name, value)};
}

Status check_hours(std::string_view name, std::chrono::hours value) {
  // A year: the memory of the grouper grows with the window.
  constexpr std::chrono::hours kMost{24 * 366};
  if (value >= std::chrono::hours(1) && value <= kMost) return Done{};
  return Error{Code::kInvalidArgument, fmt::format("{} is {} hours, but should be from 1 to {}",
                                                   name, value.count(), kMost.count())};
}

}  // namespace

Status check(const Settings& settings) {
  KIN_RETURN_IF_ERROR(check_hours("the window", settings.window));
  KIN_RETURN_IF_ERROR(check_hours("the fading", settings.fading));
  KIN_RETURN_IF_ERROR(check_share("the threshold to join", settings.join_threshold));
  KIN_RETURN_IF_ERROR(check_share("the threshold to merge", settings.merge_threshold));
  KIN_RETURN_IF_ERROR(check_share("the dial", settings.dial));
  return check_share("the threshold of copies", settings.copy_threshold);
}

double Settings::dial_factor() const {
  return std::exp2(1 - 2 * dial);
}

}  // namespace kin::stories
