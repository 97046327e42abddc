#include "app/stories/grouping_flags.h"

#include "app/checks.h"
#include "app/options.h"

namespace kin::app {

void add_grouping_flags(Verb verb, GroupingFlags& flags) {
  stories::Settings& settings = flags.settings;
  const auto share = [&](const char* flag, double& value, const char* help) {
    verb.add_option(flag, value, help).type_name("0..1").check(number(0, 1)).capture_default_str();
  };
  const auto hours = [&](const char* flag, int& value, const char* help) {
    verb.add_option(flag, value, help)
        .type_name("HOURS")
        .check(whole_number(1, 24 * 366))
        .capture_default_str();
  };
  share("--dial", settings.dial, "From 0 (tight: purer stories) to 1 (loose: fewer stories)");
  share("--threshold", settings.join_threshold, "Least score for a headline to join a story");
  share("--merge-threshold", settings.merge_threshold, "Least score to merge two stories");
  share("--copy-threshold", settings.copy_threshold, "Least similarity of a republished text");
  hours("--window", flags.window, "Close a story after this time without news");
  hours("--fading", flags.fading, "Time in which the score of a story without news falls to 37 %");
  verb.add_option("--prefer", settings.preferred_sources,
                  "Source whose headline represents a story; may be repeated, best first")
      .type_name("SOURCE")
      .no_extra_args();
  verb.add_flag("--one-per-source,!--many-per-source", settings.one_per_source,
                "A second headline of a source starts a story of its own");
}

stories::Settings with_flags(stories::Settings before, const GroupingFlags& flags, Verb verb) {
  // A default of the command line must not replace a setting that was stored.
  const auto given = [&](const char* flag) { return verb.count(flag) > 0; };
  const stories::Settings& wanted = flags.settings;
  if (given("--dial")) before.dial = wanted.dial;
  if (given("--threshold")) before.join_threshold = wanted.join_threshold;
  if (given("--merge-threshold")) before.merge_threshold = wanted.merge_threshold;
  if (given("--copy-threshold")) before.copy_threshold = wanted.copy_threshold;
  if (given("--window")) before.window = std::chrono::hours(flags.window);
  if (given("--fading")) before.fading = std::chrono::hours(flags.fading);
  // --many-per-source is the same option, and counts here.
  if (given("--one-per-source")) before.one_per_source = wanted.one_per_source;
  if (given("--prefer")) {
    before.preferred_sources = wanted.preferred_sources;
    std::erase(before.preferred_sources, "");  // --prefer '' takes all preferences back
  }
  return before;
}

}  // namespace kin::app
