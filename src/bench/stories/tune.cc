#include "bench/stories/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <thread>

namespace kin::bench {
namespace {

using stories::Settings;

// A value that is tuned. The steps are coarse: sets of a thousand headlines do not tell smaller
// ones from chance.
struct Tuned {
  std::vector<double> values;
  void (*set)(Settings& settings, double value);
};

const std::array kTuned{
    Tuned{{0.17, 0.20, 0.23}, [](Settings& s, double value) { s.join_threshold = value; }},
    Tuned{{0.20, 0.23, 0.26}, [](Settings& s, double value) { s.merge_threshold = value; }},
    Tuned{{9, 11, 13}, [](Settings& s, double value) { s.scoring.evidence = value; }},
    Tuned{{3, 4}, [](Settings& s, double value) { s.scoring.merge_evidence = value; }},
    Tuned{{0.3, 0.4, 0.5}, [](Settings& s, double value) { s.scoring.meaning = value; }},
};

std::size_t grid_size() {
  std::size_t size = 1;
  for (const Tuned& tuned : kTuned) size *= tuned.values.size();
  return size;
}

// The positions of the values at a point of the grid; the last one changes fastest.
using Positions = std::array<std::size_t, kTuned.size()>;

Positions positions_of(std::size_t point) {
  Positions at{};
  for (std::size_t i = kTuned.size(); i-- > 0;) {
    at[i] = point % kTuned[i].values.size();
    point /= kTuned[i].values.size();
  }
  return at;
}

std::size_t point_of(const Positions& at) {
  std::size_t point = 0;
  for (std::size_t i = 0; i < kTuned.size(); ++i) point = point * kTuned[i].values.size() + at[i];
  return point;
}

Settings settings_at(std::size_t point) {
  Settings settings;
  const Positions at = positions_of(point);
  for (std::size_t i = 0; i < kTuned.size(); ++i) kTuned[i].set(settings, kTuned[i].values[at[i]]);
  return settings;
}

// The points that differ by one step of one value.
std::vector<std::size_t> neighbours_of(std::size_t point) {
  std::vector<std::size_t> neighbours;
  const Positions at = positions_of(point);
  for (std::size_t i = 0; i < kTuned.size(); ++i) {
    Positions near = at;
    if (at[i] > 0) {
      near[i] = at[i] - 1;
      neighbours.push_back(point_of(near));
    }
    if (at[i] + 1 < kTuned[i].values.size()) {
      near[i] = at[i] + 1;
      neighbours.push_back(point_of(near));
    }
  }
  return neighbours;
}

std::string name_of(const Settings& settings) {
  return fmt::format("join {} merge {} evidence {} and {} meaning {}", settings.join_threshold,
                     settings.merge_threshold, settings.scoring.evidence,
                     settings.scoring.merge_evidence, settings.scoring.meaning);
}

// F0.8: a wrong merge hides news, so precision counts more than recall.
double score_of(const stories::Agreement& agreement) {
  constexpr double kRecall = 0.8 * 0.8;
  const double sum = kRecall * agreement.precision + agreement.recall;
  return sum > 0 ? (1 + kRecall) * agreement.precision * agreement.recall / sum : 0;
}

// Each family counts the same, however many sets it has.
double mean_score(const std::vector<SetFigures>& figures, const std::string& without) {
  std::map<std::string, std::pair<double, int>> families;
  for (const SetFigures& set : figures) {
    auto& [sum, count] = families[set.family];
    sum += score_of(set.agreement.bcubed);
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

// Neighbouring settings differ by chance, so each is judged together with its neighbours.
std::size_t best_point(const std::vector<double>& scores) {
  std::vector<double> smooth(scores);
  for (std::size_t point = 0; point < scores.size(); ++point) {
    const std::vector<std::size_t> neighbours = neighbours_of(point);
    for (const std::size_t near : neighbours) smooth[point] += scores[near];
    smooth[point] /= static_cast<double>(1 + neighbours.size());
  }
  return static_cast<std::size_t>(std::ranges::max_element(smooth) - smooth.begin());
}

StoriesFigures::Choice choose(const std::vector<std::vector<SetFigures>>& figures,
                              const std::string& without) {
  std::vector<double> scores;
  for (const auto& found : figures) scores.push_back(mean_score(found, without));
  const std::size_t best = best_point(scores);
  StoriesFigures::Choice choice{.without = without,
                                .settings = name_of(settings_at(best)),
                                .mean_score = scores[best],
                                .sets = {}};
  for (const SetFigures& set : figures[best]) {
    if (without.empty() || set.family == without) choice.sets.push_back(set);
  }
  return choice;
}

Result<std::vector<SetFigures>> measure_point(std::size_t point,
                                              const std::vector<LabelledSet>& sets,
                                              const stories::Grouper::Model& model) {
  std::vector<SetFigures> figures;
  for (const LabelledSet& set : sets) {
    KIN_TRY(SetFigures found, measure_set(set, settings_at(point), model));
    figures.push_back(std::move(found));
  }
  return figures;
}

// The figures of all points, by as many threads as there are processors.
Result<std::vector<std::vector<SetFigures>>> measure_grid(const std::vector<LabelledSet>& sets,
                                                          const stories::Grouper::Model& model) {
  std::vector<Result<std::vector<SetFigures>>> found(grid_size(), std::vector<SetFigures>());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t point = next++; point < found.size(); point = next++)
      found[point] = measure_point(point, sets, model);
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i)
      threads.emplace_back(work);
  }
  std::vector<std::vector<SetFigures>> figures;
  for (auto& result : found) {
    KIN_TRY(std::vector<SetFigures> sound, std::move(result));
    figures.push_back(std::move(sound));
  }
  return figures;
}

}  // namespace

Result<std::vector<StoriesFigures::Choice>> tune(const std::vector<LabelledSet>& sets,
                                                 const stories::Grouper::Model& model) {
  KIN_TRY(const auto figures, measure_grid(sets, model));
  std::vector<std::string> left_out;
  for (const LabelledSet& set : sets) {
    if (set.family != "all" && std::ranges::find(left_out, set.family) == left_out.end())
      left_out.push_back(set.family);
  }
  left_out.emplace_back();
  std::vector<StoriesFigures::Choice> choices;
  for (const std::string& without : left_out) choices.push_back(choose(figures, without));
  return choices;
}

}  // namespace kin::bench
