#include "router/centroids.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <ranges>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "base/format_head.h"
#include "base/sized_text.h"
#include "index/centroids.h"
#include "router/placement/groups.h"
#include "router/placement/prospects.h"

namespace kin::router {
namespace {

constexpr FormatHead kHead{.name = "the centroids of an index", .magic = "KCEN"};
constexpr std::uint16_t kVersion = 3;
constexpr std::uint16_t kWithAllCentroids = 2;  // written while every partition has one
constexpr std::uint16_t kWithRatios = 1;
// Recalls for which it is measured how much may be passed over.
constexpr std::array<double, 8> kRecalls{0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 0.998};
constexpr std::array<double, 5> kRatioRecalls{0.8, 0.9, 0.95, 0.97, 0.99};
constexpr std::size_t kQueries = 1'000;  // of the sample, to measure with
constexpr std::size_t kTied = 2'000;     // of the others, whose neighbours tie partitions
constexpr std::size_t kNeighbours = 10;
// One vector in so many is kept out of training, to measure with.
constexpr std::size_t kKeptOut = 5;
// Where the sample lost nothing, shards are passed over that hold so many times what a search may
// miss. Shares that fit are about twice that.
constexpr double kMostPassed = 4;
// With fewer vectors for a partition all are trained on.
constexpr std::size_t kLeastPerPartition = 10;

using Rows = std::span<const std::vector<float>>;

double square_between(std::span<const float> a, std::span<const float> b) {
  return std::max(0.0, static_cast<double>(index::exact_distance(index::Distance::kL2, a, b)));
}

std::size_t place_of(const std::vector<double>& distances) {
  return static_cast<std::size_t>(std::ranges::min_element(distances) - distances.begin());
}

// Which vectors of a sample have which use, by place.
struct Uses {
  std::vector<std::uint32_t> trained = {};
  std::vector<std::uint32_t> measured = {};
  std::vector<std::uint32_t> tied = {};
};

std::vector<std::uint32_t> some_of(const std::vector<std::uint32_t>& all, std::size_t most) {
  const std::size_t every = (all.size() + most - 1) / most;
  std::vector<std::uint32_t> some;
  for (std::size_t i = 0; i < all.size(); i += every) some.push_back(all[i]);
  return some;
}

Uses uses_of(std::size_t sample, std::size_t partitions) {
  Uses uses;
  const std::size_t every = std::max(kKeptOut, sample / kQueries);
  const bool keeps_out = sample >= kLeastPerPartition * partitions;
  for (std::uint32_t i = 0; i < sample; ++i)
    (keeps_out && i % every == every - 1 ? uses.measured : uses.trained).push_back(i);
  if (!keeps_out) uses.measured = some_of(uses.trained, kQueries);
  uses.tied = some_of(uses.trained, kTied);
  return uses;
}

// The squared distance of prepared vectors that are so similar; the inverse of a leg's scores.
double squared_distance(index::Distance kind, double similarity) {
  if (kind == index::Distance::kCosine) return 2 - 2 * similarity;
  return similarity > 0 ? 1 / similarity - 1 : std::numeric_limits<double>::infinity();
}

bool are_finite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

// The owners in a new map; without groups every partition is on a shard of its own.
std::vector<PartitionOwner> owners_of(const std::vector<std::uint32_t>& groups,
                                      std::size_t partitions) {
  std::vector<PartitionOwner> owners(partitions);
  for (std::uint32_t i = 0; i < partitions; ++i) owners[i].shard = groups.empty() ? i : groups[i];
  return owners;
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
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = square_between(prepared, row(i));
  return all;
}

Result<Centroids> Centroids::train(const index::SpaceOptions& space, Rows sample,
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
  const Uses uses = uses_of(prepared.size(), options.partitions);
  std::vector<std::vector<float>> trained;
  for (const std::uint32_t place : uses.trained) trained.push_back(prepared[place]);
  made.arrange(prepared, index::train_centroids(trained, options.partitions, options.seed),
               uses.tied, options.shards);
  made.measure(prepared, uses.measured);
  return made;
}

void Centroids::arrange(Rows sample, const std::vector<std::vector<float>>& centres,
                        std::span<const std::uint32_t> tied, std::size_t shards) {
  for (const auto& centre : centres) values_.insert(values_.end(), centre.begin(), centre.end());
  const std::vector<std::uint32_t> places = places_of(sample);
  // No partition has a weight of 0: vectors that the sample does not have may be in it.
  PartitionGraph graph{.centres = centres, .weights = std::vector<double>(centres.size(), 1)};
  for (const std::uint32_t place : places) graph.weights[place] += 1;
  std::vector<std::size_t> order(centres.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (shards > 0) {
    const auto neighbours = index::nearest_in_sample(sample, tied, kNeighbours);
    for (std::size_t i = 0; i < tied.size(); ++i) {
      for (const auto& one : neighbours[i])
        graph.ties.push_back({.from = places[tied[i]], .to = places[one.place]});
    }
    groups_ = group_partitions(graph, shards);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return groups_[i]; });
    std::ranges::sort(groups_);
  }
  values_.clear();
  const auto all = static_cast<double>(sample.size() + centres.size());
  for (const std::size_t i : order) {
    values_.insert(values_.end(), centres[i].begin(), centres[i].end());
    weights_.push_back(static_cast<float>(graph.weights[i] / all));
  }
}

std::vector<std::uint32_t> Centroids::places_of(Rows vectors) const {
  std::vector<std::uint32_t> places;
  places.reserve(vectors.size());
  for (const auto& vector : vectors)
    places.push_back(static_cast<std::uint32_t>(place_of(distances(vector))));
  return places;
}

void Centroids::measure(Rows sample, std::span<const std::uint32_t> queries) {
  passed_.assign(kRecalls.size(), 0);
  const auto neighbours = index::nearest_in_sample(sample, queries, kNeighbours);
  const std::vector<std::uint32_t> places = places_of(sample);
  std::vector<KnownQuery> known;
  double farthest = 0;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    if (neighbours[i].empty()) return;  // a sample of one vector
    KnownQuery& one = known.emplace_back(KnownQuery{.distances = distances(sample[queries[i]])});
    for (const auto& other : neighbours[i]) one.neighbours.push_back(places[other.place]);
    farthest += static_cast<double>(neighbours[i].back().distance);
  }
  reach_ = static_cast<float>(farthest / static_cast<double>(known.size()));
  const std::vector<PartitionOwner> owners = owners_of(groups_, size());
  sharpness_ = static_cast<float>(best_sharpness(known, weights_, owners));
  const auto rests = rests_needed(known, weights_, owners, static_cast<double>(sharpness_));
  for (std::size_t i = 0; i < kRecalls.size(); ++i) {
    const double missed = (1 - kRecalls[i]) * static_cast<double>(rests.size());
    const double rest =
        std::min(rests[static_cast<std::size_t>(missed + 1e-9)], kMostPassed * (1 - kRecalls[i]));
    passed_[i] = std::nextafter(static_cast<float>(rest), 0.0F);  // not above it by rounding
  }
}

bool Centroids::has_centroid(index::PartitionId partition) const {
  const auto place = static_cast<std::size_t>(partition);
  return place < size() && (weights_.empty() || weights_[place] > 0);
}

std::span<const float> Centroids::centre_of(index::PartitionId partition) const {
  return has_centroid(partition) ? row(static_cast<std::size_t>(partition))
                                 : std::span<const float>();
}

Result<std::vector<float>> Centroids::prepared(std::span<const float> vector) const {
  return index::prepared(shape(), vector);
}

template <typename Numbers>
std::optional<std::uint32_t> Centroids::nearest_place(const std::vector<double>& distances,
                                                      const Numbers& among) const {
  std::optional<std::uint32_t> nearest;
  for (const auto one : among) {
    const auto place = static_cast<std::uint32_t>(one);
    if (!has_centroid(index::PartitionId{place})) continue;
    if (!nearest || distances[place] < distances[*nearest]) nearest = place;
  }
  return nearest;
}

Result<index::PartitionId> Centroids::nearest(std::span<const float> vector) const {
  KIN_TRY(const auto made, prepared(vector));
  const auto all = std::views::iota(std::uint32_t{0}, static_cast<std::uint32_t>(size()));
  const auto place = nearest_place(distances(made), all);
  KIN_CHECK(place.has_value(), "some partition has a centroid");
  return index::PartitionId{*place};
}

Result<index::PartitionId> Centroids::nearest_of(std::span<const float> vector,
                                                 const Partitions& among) const {
  KIN_TRY(const auto made, prepared(vector));
  const auto place = nearest_place(distances(made), among);
  if (!place) return Error{Code::kInvalidArgument, "none of the partitions has a centroid"};
  return index::PartitionId{*place};
}

Result<Centroids> Centroids::divided(const NewCells& cells) const {
  if (!ratios_.empty())
    return Error{Code::kFailedPrecondition,
                 "the centroids of the index are of an older version: export the index and make it "
                 "again"};
  Centroids after = *this;
  after.groups_.clear();
  // What was measured says nothing of where vectors are now: no shard is passed over.
  after.sharpness_ = 0;
  std::ranges::fill(after.passed_, 0.0F);
  double share = 0;
  double sampled = 0;
  for (const index::PartitionId member : cells.members) {
    const auto place = static_cast<std::size_t>(member);
    const auto centre = cells.centres.find(member);
    if (place > after.size() || (place == after.size() && centre == cells.centres.end()))
      return Error{Code::kInvalidArgument, "new partitions have the next numbers, and centroids"};
    if (place == after.size()) {
      after.values_.resize(after.values_.size() + dimension_);
      after.weights_.push_back(0);
    }
    share += static_cast<double>(after.weights_[place]);
    after.weights_[place] = 0;
    if (centre == cells.centres.end()) continue;
    if (centre->second.size() != dimension_ || !are_finite(centre->second))
      return Error{Code::kInvalidArgument, "a centroid does not fit the space"};
    std::ranges::copy(centre->second,
                      after.values_.begin() + static_cast<std::ptrdiff_t>(place * dimension_));
    const auto size = cells.sizes.find(member);
    // As in training, no cell counts as empty.
    sampled += 1 + static_cast<double>(size == cells.sizes.end() ? 0 : size->second);
  }
  if (cells.centres.empty())
    return Error{Code::kInvalidArgument, "a repartition leaves one centroid at least"};
  for (const auto& [member, centre] : cells.centres) {
    if (!cells.members.contains(member))
      return Error{Code::kInvalidArgument, "only members have new centroids"};
    const auto size = cells.sizes.find(member);
    const double part =
        (1 + static_cast<double>(size == cells.sizes.end() ? 0 : size->second)) / sampled;
    // Members that had no centroid before held nothing of the sample.
    after.weights_[static_cast<std::size_t>(member)] =
        std::max(static_cast<float>(share * part), std::numeric_limits<float>::min());
  }
  return after;
}

Result<std::vector<std::uint32_t>> Centroids::near(const NearSearch& search,
                                                   std::span<const PartitionOwner> owners) const {
  KIN_TRY(const auto prepared, index::prepared(shape(), search.vector));
  const std::vector<double> all = distances(prepared);
  if (!ratios_.empty()) return by_ratio(all, search.recall, owners);
  const bool may_pass = distance_ != index::Distance::kDot;
  const double passed = may_pass ? passed_over(search.recall) : 0;
  const double sharpness = may_pass ? sharpness_at(search.last) : 0;
  std::vector<std::uint32_t> shards;
  for (const Prospect& one : prospects(expected_shares(weights_, all, sharpness), owners)) {
    if (shards.empty() || one.rest >= passed) shards.push_back(one.shard);
  }
  return shards;
}

// Neighbours that are farther away lie in more directions: the share of a partition falls more
// slowly with its distance, in proportion.
double Centroids::sharpness_at(std::optional<double> last) const {
  const auto sharpness = static_cast<double>(sharpness_);
  if (!last) return sharpness;
  const double distance = squared_distance(distance_, *last);
  const auto reach = static_cast<double>(reach_);
  return distance > reach ? sharpness * reach / distance : sharpness;
}

double Centroids::passed_over(double recall) const {
  // 0.99 may be a bit more.
  const auto above = std::ranges::lower_bound(kRecalls, recall - 1e-9);
  if (above == kRecalls.end()) return 0;
  const auto level = static_cast<std::size_t>(above - kRecalls.begin());
  const auto there = static_cast<double>(passed_[level]);
  if (level == 0) return there;
  const double part = (kRecalls[level] - recall) / (kRecalls[level] - kRecalls[level - 1]);
  return there + std::max(0.0, part) * (static_cast<double>(passed_[level - 1]) - there);
}

std::vector<std::uint32_t> Centroids::by_ratio(const std::vector<double>& distances, double recall,
                                               std::span<const PartitionOwner> owners) const {
  const auto level = std::ranges::lower_bound(kRatioRecalls, recall - 1e-9);
  const bool may_pass = level != kRatioRecalls.end() && distance_ != index::Distance::kDot;
  const double ratio =
      may_pass
          ? static_cast<double>(ratios_[static_cast<std::size_t>(level - kRatioRecalls.begin())])
          : std::numeric_limits<double>::infinity();
  const double reach = std::max(std::sqrt(distances[place_of(distances)]), 1e-9) * ratio;
  std::vector<std::uint32_t> shards;
  for (std::size_t i = 0; i < distances.size(); ++i) {
    if (std::sqrt(distances[i]) <= reach) shards.push_back(owners[i].shard);
  }
  std::ranges::sort(shards);
  shards.erase(std::unique(shards.begin(), shards.end()), shards.end());
  return shards;
}

std::string Centroids::encode() const {
  std::string out(kHead.magic);
  const bool lacks = std::ranges::find(weights_, 0.0F) != weights_.end();
  append_le(out, !ratios_.empty() ? kWithRatios : lacks ? kVersion : kWithAllCentroids);
  append_le(out, static_cast<std::uint8_t>(distance_));
  append_sized(out, space_);
  append_le(out, dimension_);
  append_le(out, static_cast<std::uint32_t>(size()));
  const auto append_all = [&](const auto& values) {
    out += as_bytes_view(std::span(values.data(), values.size()));
  };
  if (!ratios_.empty()) {
    append_le(out, static_cast<std::uint32_t>(ratios_.size()));
    append_all(values_);
    append_all(ratios_);
  } else {
    append_le(out, static_cast<std::uint32_t>(passed_.size()));
    append_le(out, static_cast<std::uint32_t>(groups_.size()));
    append_all(values_);
    append_all(weights_);
    append_all(std::array{sharpness_, reach_});
    append_all(passed_);
    append_all(groups_);
  }
  append_le(out, checksum(out));
  return out;
}

Result<Centroids> Centroids::decode(std::string_view bytes) {
  KIN_TRY(auto fields, read_format(kHead, {kVersion, kWithAllCentroids, kWithRatios}, bytes));
  const std::uint16_t version = fields.version;
  ByteReader& in = fields.in;
  Centroids made;
  const auto distance = in.read<std::uint8_t>();
  made.distance_ = static_cast<index::Distance>(distance);
  made.space_ = read_sized(in);
  made.dimension_ = in.read<std::uint32_t>();
  const std::size_t count = in.read<std::uint32_t>();
  if (!in.ok() || distance > 2 || !index::check_space(made.shape()).ok() || count == 0)
    return kHead.damaged();
  const bool read = version == kWithRatios ? made.read_ratios(in, count)
                                           : made.read_shares(in, count, version == kVersion);
  if (!read || !in.ok() || !in.rest().empty()) return kHead.damaged();
  return made;
}

bool Centroids::read_ratios(ByteReader& in, std::size_t count) {
  const std::size_t ratios = in.read<std::uint32_t>();
  if (!in.ok() || ratios != kRatioRecalls.size() ||
      in.rest().size() != (count * dimension_ + ratios) * sizeof(float))
    return false;
  values_ = in.read_vector<float>(count * dimension_);
  ratios_ = in.read_vector<float>(ratios);
  return are_finite(values_) && are_finite(ratios_);
}

bool Centroids::read_shares(ByteReader& in, std::size_t count, bool may_lack) {
  const std::size_t recalls = in.read<std::uint32_t>();
  const std::size_t groups = in.read<std::uint32_t>();
  if (!in.ok() || recalls != kRecalls.size() || (groups != 0 && groups != count) ||
      in.rest().size() !=
          (count * (dimension_ + 1) + 2 + recalls) * sizeof(float) + groups * sizeof(std::uint32_t))
    return false;
  values_ = in.read_vector<float>(count * dimension_);
  weights_ = in.read_vector<float>(count);
  sharpness_ = in.read<float>();
  reach_ = in.read<float>();
  passed_ = in.read_vector<float>(recalls);
  groups_ = in.read_vector<std::uint32_t>(groups);
  const auto is_share = [](float value) { return std::isfinite(value) && value >= 0; };
  // Version 3 is written only where a partition has no centroid.
  const bool lacks = std::ranges::find(weights_, 0.0F) != weights_.end();
  const bool has = std::ranges::any_of(weights_, [](float one) { return one > 0; });
  return are_finite(values_) && is_share(sharpness_) && is_share(reach_) &&
         std::ranges::all_of(passed_, is_share) && std::ranges::all_of(weights_, is_share) &&
         lacks == may_lack && has;
}

ShardMap spread_partitions(std::string index, std::vector<std::string> shards,
                           const Centroids& centroids) {
  ShardMap map = spread_partitions(std::move(index), std::move(shards), centroids.size());
  const std::vector<std::uint32_t>& groups = centroids.groups();
  if (groups.empty() || std::ranges::max(groups) + 1 != map.shards.size()) return map;
  for (std::size_t i = 0; i < groups.size(); ++i) map.partitions[i].shard = groups[i];
  return map;
}

}  // namespace kin::router
