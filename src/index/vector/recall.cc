#include "index/vector/recall.h"

#include <algorithm>
#include <cmath>

#include "index/vector/kernels.h"

namespace kin::index::internal {
namespace {

constexpr std::size_t kNeighbours = 10;  // the usual k of a search; probes() corrects for more

std::vector<float> percentiles(std::vector<float> values) {
  std::ranges::sort(values);
  std::vector<float> result;
  for (std::size_t i = 0; i < kCurvePoints && !values.empty(); ++i)
    result.push_back(values[i * (values.size() - 1) / (kCurvePoints - 1)]);
  return result;
}

}  // namespace

void RecallMeter::add_query(std::size_t source, std::span<const float> vector) {
  queries_.add(vector);
  sources_.push_back(source);
  squares_.push_back(dot(vector.data(), vector.data(), vector.size()));
  scratch_.resize(sources_.size());
  nearest_.resize(sources_.size());
}

void RecallMeter::see(std::size_t source, std::span<const float> vector, std::uint32_t owner) {
  dot_rows(vector.data(), queries_.data(), queries_.stride(), scratch_);
  const float square = dot(vector.data(), vector.data(), vector.size());
  for (std::size_t q = 0; q < scratch_.size(); ++q) {
    if (sources_[q] == source) continue;  // a vector is not its own neighbour
    // Without the square of the query, which is the same for all.
    const float distance = products_ ? -scratch_[q] : square - 2 * scratch_[q];
    auto& heap = nearest_[q];
    if (heap.size() == kNeighbours && distance >= heap.top().first) continue;
    heap.emplace(distance, owner);
    if (heap.size() > kNeighbours) heap.pop();
  }
}

RecallCurve RecallMeter::curve(const Draft& draft) {
  const Centres centres(draft.centres);
  for (std::size_t q = 0; q < nearest_.size(); ++q) add(draft, centres, q);
  return {percentiles(std::move(shares_)), percentiles(std::move(reaches_))};
}

void RecallMeter::add(const Draft& draft, const Centres& centres, std::size_t query) {
  std::vector<float> products(centres.size());
  centres.products(queries_.row(query).data(), products);
  const auto nearness = [&](std::size_t i) {
    return products_ ? -products[i] : centres.square(i) - 2 * products[i];
  };
  const float square = squares_[query];
  auto& heap = nearest_[query];
  const float limit = heap.empty() ? 0 : heap.top().first + (products_ ? 0 : square);
  for (; !heap.empty(); heap.pop()) {
    const std::uint32_t own = heap.top().second;
    // How many cells a search scans, nearest first, until it has scanned the neighbour's.
    std::size_t before = 0;
    for (std::size_t i = 0; i < products.size(); ++i)
      before += nearness(i) <= nearness(own) ? 1 : 0;
    shares_.push_back(static_cast<float>(before) / static_cast<float>(products.size()));
    const float apart = std::max(0.0F, square + centres.square(own) - 2 * products[own]);
    const CellView view{products_ ? -products[own] : apart, std::sqrt(apart)};
    reaches_.push_back(
        reach_needed(view, draft.postings[own]->spread(), limit, std::sqrt(square), products_));
  }
}

}  // namespace kin::index::internal
