#include "router/centroids.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/bytes.h"
#include "base/sized_text.h"
#include "index/centroids.h"
#include "router/shard_map.h"

namespace kin::router {
namespace {

constexpr std::string_view kMagic = "KCEN";
constexpr std::uint16_t kVersion = 1;
// Recalls for which ratios are measured.
constexpr std::array<double, 5> kRecalls{0.8, 0.9, 0.95, 0.97, 0.99};
constexpr std::size_t kQueries = 256;  // of the sample, to measure with
constexpr std::size_t kNeighbours = 10;

double euclidean(std::span<const float> a, std::span<const float> b) {
  return std::sqrt(
      std::max(0.0, static_cast<double>(index::exact_distance(index::Distance::kL2, a, b))));
}

std::size_t place_of(const std::vector<double>& distances) {
  return static_cast<std::size_t>(std::ranges::min_element(distances) - distances.begin());
}

Error damaged() {
  return {Code::kDataLoss, "the stored centroids are damaged"};
}

// The places of the nearest vectors of the sample, without `query` itself.
std::vector<std::size_t> neighbours(std::span<const std::vector<float>> sample, std::size_t query) {
  std::vector<std::pair<double, std::size_t>> all;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    if (i != query) all.emplace_back(euclidean(sample[query], sample[i]), i);
  }
  const std::size_t kept = std::min(kNeighbours, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept), all.end());
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < kept; ++i) places.push_back(all[i].second);
  return places;
}

using Rows = std::vector<std::vector<float>>;

// The direction in which the rows at `places` differ most, by power iteration.
std::vector<double> main_direction(const Rows& rows, std::span<const std::size_t> places) {
  constexpr int kRounds = 20;
  const std::size_t dimension = rows.front().size();
  std::vector<double> mean(dimension, 0);
  for (const std::size_t place : places) {
    for (std::size_t d = 0; d < dimension; ++d)
      mean[d] += static_cast<double>(rows[place][d]) / static_cast<double>(places.size());
  }
  std::vector<double> direction(dimension);
  for (std::size_t d = 0; d < dimension; ++d) direction[d] = rows[places.front()][d] - mean[d];
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> next(dimension, 0);
    for (const std::size_t place : places) {
      double along = 0;
      for (std::size_t d = 0; d < dimension; ++d)
        along += (rows[place][d] - mean[d]) * direction[d];
      for (std::size_t d = 0; d < dimension; ++d) next[d] += along * (rows[place][d] - mean[d]);
    }
    double length = 0;
    for (const double value : next) length += value * value;
    if (length == 0) break;  // all rows are the same
    for (std::size_t d = 0; d < dimension; ++d) direction[d] = next[d] / std::sqrt(length);
  }
  return direction;
}

// Puts places of neighbouring rows beside each other: halves along the main direction, and so on
// until there is one part for each shard.
void arrange(const Rows& rows, std::span<std::size_t> places, std::size_t shards) {
  if (shards < 2 || places.size() < 2) return;
  const std::vector<double> direction = main_direction(rows, places);
  const auto along = [&](std::size_t place) {
    double sum = 0;
    for (std::size_t d = 0; d < direction.size(); ++d) sum += rows[place][d] * direction[d];
    return sum;
  };
  std::ranges::stable_sort(places, {}, along);
  const std::size_t left = shards / 2;
  const std::size_t cut = places.size() * left / shards;
  arrange(rows, places.first(cut), left);
  arrange(rows, places.subspan(cut), shards - left);
}

}  // namespace

index::VectorSpace Centroids::shape() const {
  return {.dimension = dimension_, .distance = distance_};
}

std::span<const float> Centroids::row(std::size_t i) const {
  return std::span(values_).subspan(i * dimension_, dimension_);
}

std::vector<double> Centroids::distances(std::span<const float> prepared) const {
  std::vector<double> all(size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = euclidean(prepared, row(i));
  return all;
}

Result<Centroids> Centroids::train(const index::SpaceOptions& space,
                                   std::span<const std::vector<float>> sample,
                                   const TrainOptions& options) {
  if (sample.empty() || options.partitions == 0)
    return Error{Code::kInvalidArgument, "centroids need a sample of vectors"};
  Centroids made;
  made.space_ = space.name;
  made.distance_ = space.space.distance;
  made.dimension_ = space.space.dimension;
  std::vector<std::vector<float>> prepared;
  prepared.reserve(sample.size());
  for (const auto& vector : sample) {
    KIN_TRY(auto one, index::prepared(made.shape(), vector));
    prepared.push_back(std::move(one));
  }
  const auto centres = index::train_centroids(prepared, options.partitions, options.seed);
  std::vector<std::size_t> order(centres.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  arrange(centres, order, options.shards);
  for (const std::size_t place : order)
    made.values_.insert(made.values_.end(), centres[place].begin(), centres[place].end());
  made.measure(prepared, options.shards);
  return made;
}

// By how much the nearest centroid of a neighbour's shard is farther than the nearest of all. With
// more vectors neighbours are nearer, and so is that centroid: what is measured here suffices.
void Centroids::measure(std::span<const std::vector<float>> sample, std::size_t shards) {
  const std::size_t groups = shards == 0 ? size() : std::min(shards, size());
  std::vector<std::size_t> owners;
  for (const auto& vector : sample) owners.push_back(place_of(distances(vector)));
  std::vector<double> needed;
  const std::size_t stride = std::max<std::size_t>(1, sample.size() / kQueries);
  for (std::size_t query = 0; query < sample.size(); query += stride) {
    const std::vector<double> all = distances(sample[query]);
    const double least = std::max(all[owners[query]], 1e-9);
    std::vector<double> nearest(groups, std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < all.size(); ++i) {
      double& of_shard = nearest[shard_of_partition(i, size(), groups)];
      of_shard = std::min(of_shard, all[i]);
    }
    for (const std::size_t place : neighbours(sample, query))
      needed.push_back(nearest[shard_of_partition(owners[place], size(), groups)] / least);
  }
  std::ranges::sort(needed);
  for (const double recall : kRecalls) {
    const auto place = static_cast<std::size_t>(recall * static_cast<double>(needed.size()));
    ratios_.push_back(place < needed.size() ? static_cast<float>(needed[place]) : 1.0F);
  }
}

Result<index::PartitionId> Centroids::nearest(std::span<const float> vector) const {
  KIN_TRY(const auto prepared, index::prepared(shape(), vector));
  return index::PartitionId{static_cast<std::uint32_t>(place_of(distances(prepared)))};
}

Result<std::vector<index::PartitionId>> Centroids::near(std::span<const float> vector,
                                                        double recall) const {
  KIN_TRY(const auto prepared, index::prepared(shape(), vector));
  const std::vector<double> all = distances(prepared);
  const auto level = std::ranges::lower_bound(kRecalls, recall - 1e-9);  // 0.99 may be a bit more
  const bool may_skip = level != kRecalls.end() && distance_ != index::Distance::kDot;
  const double ratio =
      may_skip ? static_cast<double>(ratios_[static_cast<std::size_t>(level - kRecalls.begin())])
               : std::numeric_limits<double>::infinity();
  const double reach = std::max(all[place_of(all)], 1e-9) * ratio;
  std::vector<index::PartitionId> found;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] <= reach) found.push_back(index::PartitionId{static_cast<std::uint32_t>(i)});
  }
  return found;
}

std::string Centroids::encode() const {
  std::string out(kMagic);
  append_le(out, kVersion);
  append_le(out, static_cast<std::uint8_t>(distance_));
  append_sized(out, space_);
  append_le(out, dimension_);
  append_le(out, static_cast<std::uint32_t>(size()));
  append_le(out, static_cast<std::uint32_t>(ratios_.size()));
  for (const auto* values : {&values_, &ratios_})
    out += as_bytes_view(std::span<const float>(*values));
  append_le(out, checksum(out));
  return out;
}

Result<Centroids> Centroids::decode(std::string_view bytes) {
  const auto body = checked_body(bytes);
  if (!body || !body->starts_with(kMagic)) return damaged();
  ByteReader in(body->substr(kMagic.size()));
  const auto version = in.read<std::uint16_t>();
  if (in.ok() && version != kVersion)
    return Error{Code::kFailedPrecondition,
                 "the centroids have a version that this program does not read"};
  Centroids made;
  const auto distance = in.read<std::uint8_t>();
  made.distance_ = static_cast<index::Distance>(distance);
  made.space_ = read_sized(in);
  made.dimension_ = in.read<std::uint32_t>();
  const std::size_t count = in.read<std::uint32_t>();
  const std::size_t ratios = in.read<std::uint32_t>();
  if (!in.ok() || distance > 2 || !index::check_space(made.shape()).ok() ||
      ratios != kRecalls.size() || count == 0 ||
      in.rest().size() != (count * made.dimension_ + ratios) * sizeof(float))
    return damaged();
  made.values_ = in.read_vector<float>(count * made.dimension_);
  made.ratios_ = in.read_vector<float>(ratios);
  for (const auto* values : {&made.values_, &made.ratios_}) {
    if (!std::ranges::all_of(*values, [](float value) { return std::isfinite(value); }))
      return damaged();
  }
  return made;
}

}  // namespace kin::router
