#include "bench/stories/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace kin::bench {
namespace {

using stories::Settings;

std::vector<Settings> grid() {
  std::vector<Settings> settings;
  // Coarse: sets of a thousand headlines do not tell smaller steps from chance.
  for (const double join : {0.17, 0.20, 0.23}) {
    for (const double merge : {0.20, 0.23, 0.26}) {
      for (const double evidence : {9.0, 11.0, 13.0}) {
        for (const double merge_evidence : {3.0, 4.0}) {
          for (const double meaning : {0.3, 0.4, 0.5}) {
            Settings& next = settings.emplace_back();
            next.join_threshold = join;
            next.merge_threshold = merge;
            next.scoring.evidence = evidence;
            next.scoring.merge_evidence = merge_evidence;
            next.scoring.meaning = meaning;
          }
        }
      }
    }
  }
  return settings;
}

std::string name_of(const Settings& settings) {
  return fmt::format("join {} merge {} evidence {} and {} meaning {}", settings.join_threshold,
                     settings.merge_threshold, settings.scoring.evidence,
                     settings.scoring.merge_evidence, settings.scoring.meaning);
}

// Each family counts the same, however many sets it has.
double mean_f1(const std::vector<SetFigures>& figures, const std::string& without) {
  std::map<std::string, std::pair<double, int>> families;
  for (const SetFigures& set : figures) {
    auto& [sum, count] = families[set.family];
    sum += set.agreement.bcubed.f1();
    ++count;
  }
  double sum = 0;
  int count = 0;
  for (const auto& [family, part] : families) {
    // The interleaved stream has headlines of every family.
    if (family == without || (family == "all" && !without.empty())) continue;
    sum += part.first / part.second;
    ++count;
  }
  return count == 0 ? 0 : sum / count;
}

}  // namespace

Result<std::vector<StoriesFigures::Choice>> tune(const std::vector<LabelledSet>& sets,
                                                 const stories::Grouper::Model& model) {
  const std::vector<Settings> all = grid();
  std::vector<std::vector<SetFigures>> figures(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const LabelledSet& set : sets) {
      KIN_TRY(SetFigures found, measure_set(set, all[i], model));
      figures[i].push_back(std::move(found));
    }
  }
  std::vector<std::string> left_out;
  for (const LabelledSet& set : sets) {
    if (set.family != "all" && std::ranges::find(left_out, set.family) == left_out.end())
      left_out.push_back(set.family);
  }
  left_out.emplace_back();
  std::vector<StoriesFigures::Choice> choices;
  for (const std::string& without : left_out) {
    const auto best = std::ranges::max_element(
        figures, {}, [&](const auto& found) { return mean_f1(found, without); });
    StoriesFigures::Choice choice{
        .without = without,
        .settings = name_of(all[static_cast<std::size_t>(best - figures.begin())]),
        .mean_f1 = mean_f1(*best, without),
        .sets = {}};
    for (const SetFigures& set : *best) {
      if (without.empty() || set.family == without) choice.sets.push_back(set);
    }
    choices.push_back(std::move(choice));
  }
  return choices;
}

}  // namespace kin::bench
