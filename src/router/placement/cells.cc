#include "router/placement/cells.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/random.h"
#include "index/centroids.h"

namespace kin::router {
namespace {

using Vectors = std::span<const std::vector<float>>;

constexpr int kDraws = 6;
constexpr int kIterations = 25;

double square_between(std::span<const float> a, std::span<const float> b) {
  return std::max(0.0, static_cast<double>(index::exact_distance(index::Distance::kL2, a, b)));
}

struct Nearest {
  std::size_t place = 0;
  double distance = std::numeric_limits<double>::infinity();
};
Nearest nearest_to(std::span<const float> vector, Vectors centres) {
  Nearest nearest;
  for (std::size_t i = 0; i < centres.size(); ++i) {
    const double distance = square_between(vector, centres[i]);
    if (distance < nearest.distance) nearest = {.place = i, .distance = distance};
  }
  return nearest;
}

// False if no vector is apart from all centres.
bool draw_centre(Vectors sample, std::vector<std::vector<float>>& centres, Random& random) {
  std::vector<double> weights;
  double sum = 0;
  for (const auto& vector : sample) {
    // Without a centre, every vector has the same chance.
    weights.push_back(centres.empty() ? 1 : nearest_to(vector, centres).distance);
    sum += weights.back();
  }
  if (sum <= 0) return false;
  double left = random.unit() * sum;
  std::size_t drawn = weights.size();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0) continue;
    drawn = i;  // the last one, if rounding leaves something
    left -= weights[i];
    if (left <= 0) break;
  }
  centres.push_back(sample[drawn]);
  return true;
}

// Cells without a vector stay where they are. The sum of the squared distances.
double improve(Vectors sample, LearntCells& cells) {
  double error = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kIterations; ++i) {
    std::vector<std::vector<double>> sums(cells.centres.size());
    cells.sizes.assign(cells.centres.size(), 0);
    double now = 0;
    for (const auto& vector : sample) {
      const Nearest nearest = nearest_to(vector, cells.centres);
      now += nearest.distance;
      ++cells.sizes[nearest.place];
      auto& sum = sums[nearest.place];
      sum.resize(vector.size());
      for (std::size_t d = 0; d < vector.size(); ++d) sum[d] += static_cast<double>(vector[d]);
    }
    if (now >= error) return error;
    error = now;
    if (i + 1 == kIterations) break;  // so that sizes are those of the centres
    for (std::size_t c = 0; c < sums.size(); ++c) {
      for (std::size_t d = 0; d < sums[c].size(); ++d)
        cells.centres[c][d] = static_cast<float>(sums[c][d] / static_cast<double>(cells.sizes[c]));
    }
  }
  return error;
}

}  // namespace

LearntCells learn_cells(Vectors sample, const CellsToLearn& wanted) {
  LearntCells best;
  double least = std::numeric_limits<double>::infinity();
  const int draws = wanted.added == 0 ? 1 : kDraws;
  for (int draw = 0; draw < draws; ++draw) {
    Random random(wanted.seed + static_cast<std::uint64_t>(draw));
    LearntCells cells{.centres = wanted.centres};
    for (std::size_t i = 0; i < wanted.added; ++i) {
      if (!draw_centre(sample, cells.centres, random)) break;
    }
    cells.sizes.assign(cells.centres.size(), 0);
    const double error = sample.empty() || cells.centres.empty() ? 0 : improve(sample, cells);
    // More cells are never worse, unless their vectors are all the same.
    if (cells.centres.size() < best.centres.size()) continue;
    if (cells.centres.size() > best.centres.size() || error < least) {
      best = std::move(cells);
      least = error;
    }
  }
  return best;
}

}  // namespace kin::router
