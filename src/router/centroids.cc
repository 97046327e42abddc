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
#include "base/random.h"
#include "base/sized_text.h"
#include "index/centroids.h"
#include "router/placement/groups.h"
#include "router/placement/measure.h"
#include "router/placement/prospects.h"

namespace kin::router {
namespace {

constexpr FormatHead kHead{.name = "the centroids of an index", .magic = "KCEN"};
constexpr std::uint16_t kVersion = 4;
// Without a radius, as it was measured before, or if nothing is.
constexpr std::uint16_t kWithoutRadius = 3;
constexpr std::uint16_t kWithAllCentroids = 2;  // the same, where every partition has one
constexpr std::uint16_t kWithRatios = 1;
constexpr std::array<double, 5> kRatioRecalls{0.8, 0.9, 0.95, 0.97, 0.99};
constexpr std::size_t kQueries = 1'000;  // of the sample, to measure with
constexpr std::size_t kTied = 2'000;     // of the others, whose neighbours tie partitions
constexpr std::size_t kNeighbours = 10;  // that tie partitions
// One vector in so many is kept out of training, to measure with.
constexpr std::size_t kKeptOut = 5;
// With fewer vectors for a partition all are trained on.
constexpr std::size_t kLeastPerPartition = 10;
// With fewer vectors of an index nothing is measured again.
constexpr std::size_t kLeastMeasured = 250;

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

Uses uses_of(std::size_t sample, bool keeps_out) {
  Uses uses;
  const std::size_t every = std::max(kKeptOut, sample / kQueries);
  // At random: a sample may repeat its kinds of vectors at equal distances.
  Random random(1);
  for (std::uint32_t i = 0; i < sample; ++i)
    (keeps_out && random.below(every) == 0 ? uses.measured : uses.trained).push_back(i);
  if (!keeps_out) uses.measured = some_of(uses.trained, kQueries);
  uses.tied = some_of(uses.trained, kTied);
  return uses;
}

// The squared distance of prepared vectors that are so similar; the inverse of a leg's scores.
double squared_distance(index::Distance kind, double similarity) {
  if (kind == index::Distance::kCosine) return 2 - 2 * similarity;
  return similarity > 0 ? 1 / similarity - 1 : std::numeric_limits<double>::infinity();
}

void append_all(std::string& out, const auto& values) {
  out += as_bytes_view(std::span(values.data(), values.size()));
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
  const bool keeps_out = prepared.size() >= kLeastPerPartition * options.partitions;
  const Uses uses = uses_of(prepared.size(), keeps_out);
  std::vector<std::vector<float>> trained;
  for (const std::uint32_t place : uses.trained) trained.push_back(prepared[place]);
  made.arrange(prepared, index::train_centroids(trained, options.partitions, options.seed),
               uses.tied, options.shards);
  PlacedVectors placed{.vectors = std::move(prepared)};
  placed.partitions = made.places_of(placed.vectors);
  const auto owners = owners_of(made.groups_, made.size());
  if (keeps_out) {
    made.spots_ = made.spots_in(placed, uses.trained, options.seed);
    made.measured_ = measure(placed, uses.measured, made.spots_, owners);
  } else {
    Spots spots{.values = made.values_, .weights = made.weights_};
    for (std::uint32_t i = 0; i < made.size(); ++i) spots.partitions.push_back(i);
    made.measured_ = measure(placed, uses.measured, spots, owners);
  }
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

Spots Centroids::spots_in(const PlacedVectors& sample, std::span<const std::uint32_t> places,
                          std::uint64_t seed) const {
  Spots spots = learn_spots(sample, places, seed);
  const auto add = [&](std::uint32_t partition, std::span<const float> at) {
    if (std::ranges::find(spots.partitions, partition) != spots.partitions.end()) return;
    spots.values.insert(spots.values.end(), at.begin(), at.end());
    spots.weights.push_back(1);
    spots.partitions.push_back(partition);
  };
  for (std::uint32_t i = 0; i < size(); ++i) {
    if (has_centroid(index::PartitionId{i})) add(i, row(i));
  }
  // Of partitions whose few vectors in the sample are all measured with.
  for (std::size_t i = 0; i < sample.vectors.size(); ++i)
    add(sample.partitions[i], sample.vectors[i]);
  const float all = std::accumulate(spots.weights.begin(), spots.weights.end(), 0.0F);
  for (float& weight : spots.weights) weight /= all;
  return spots;
}

Result<Centroids> Centroids::measured(const PlacedVectors& sample,
                                      std::span<const PartitionOwner> owners,
                                      std::uint64_t seed) const {
  const bool fits = std::ranges::all_of(sample.partitions, [&](std::uint32_t partition) {
    return partition < std::min(size(), owners.size());
  });
  if (!fits || owners.size() < size() || sample.vectors.size() != sample.partitions.size())
    return Error{Code::kInvalidArgument, "a sample of the index does not fit its centroids"};
  Centroids after = *this;
  if (sample.vectors.size() < kLeastMeasured || distance_ == index::Distance::kDot) return after;
  const Uses uses = uses_of(sample.vectors.size(), true);
  after.spots_ = spots_in(sample, uses.trained, seed);
  after.measured_ = measure(sample, uses.measured, after.spots_, owners);
  return after;
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
  after.measured_ = {};
  after.spots_ = {};
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
  if (!ratios_.empty()) return by_ratio(distances(prepared), search.recall, owners);
  const bool by_spots = !spots_.weights.empty();
  const std::vector<double> all = by_spots ? spots_.distances(prepared) : distances(prepared);
  // Nothing was measured with vectors as far from all others as this one may be.
  const bool is_known =
      !measured_.radius || std::ranges::min(all) <= static_cast<double>(*measured_.radius);
  const bool may_pass = is_known && distance_ != index::Distance::kDot;
  const double passed = may_pass ? passed_over(measured_.passed, search.recall) : 0;
  const double sharpness = may_pass ? sharpness_at(search.last) : 0;
  std::vector<double> shares =
      expected_shares(by_spots ? spots_.weights : weights_, all, sharpness);
  if (by_spots) shares = spots_.sums(shares, size());
  std::vector<std::uint32_t> shards;
  for (const Prospect& one : prospects(shares, owners)) {
    if (shards.empty() || one.rest >= passed) shards.push_back(one.shard);
  }
  return shards;
}

// Neighbours that are farther away lie in more directions: the share of a partition falls more
// slowly with its distance, in proportion.
double Centroids::sharpness_at(std::optional<double> last) const {
  const auto sharpness = static_cast<double>(measured_.sharpness);
  if (!last) return sharpness;
  const double distance = squared_distance(distance_, *last);
  const auto reach = static_cast<double>(measured_.reach);
  return distance > reach ? sharpness * reach / distance : sharpness;
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
  append_le(out, !ratios_.empty()   ? kWithRatios
                 : measured_.radius ? kVersion
                 : lacks            ? kWithoutRadius
                                    : kWithAllCentroids);
  append_le(out, static_cast<std::uint8_t>(distance_));
  append_sized(out, space_);
  append_le(out, dimension_);
  append_le(out, static_cast<std::uint32_t>(size()));
  if (ratios_.empty()) {
    append_measured(out);
  } else {
    append_le(out, static_cast<std::uint32_t>(ratios_.size()));
    append_all(out, values_);
    append_all(out, ratios_);
  }
  append_le(out, checksum(out));
  return out;
}

void Centroids::append_measured(std::string& out) const {
  append_le(out, static_cast<std::uint32_t>(measured_.passed.size()));
  append_le(out, static_cast<std::uint32_t>(groups_.size()));
  if (measured_.radius) append_le(out, static_cast<std::uint32_t>(spots_.weights.size()));
  append_all(out, values_);
  append_all(out, weights_);
  append_all(out, std::array{measured_.sharpness, measured_.reach});
  if (measured_.radius) append_all(out, std::array{*measured_.radius});
  append_all(out, measured_.passed);
  append_all(out, groups_);
  append_all(out, spots_.values);
  append_all(out, spots_.weights);
  append_all(out, spots_.partitions);
}

Result<Centroids> Centroids::decode(std::string_view bytes) {
  KIN_TRY(auto fields,
          read_format(kHead, {kVersion, kWithoutRadius, kWithAllCentroids, kWithRatios}, bytes));
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
  const bool read =
      version == kWithRatios ? made.read_ratios(in, count) : made.read_shares(in, count, version);
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

bool Centroids::read_shares(ByteReader& in, std::size_t count, std::uint16_t version) {
  const bool has_radius = version == kVersion;
  const std::size_t recalls = in.read<std::uint32_t>();
  const std::size_t groups = in.read<std::uint32_t>();
  const std::size_t spots = has_radius ? in.read<std::uint32_t>() : 0;
  if (!in.ok() || recalls != kRecalls.size() || (groups != 0 && groups != count) ||
      in.rest().size() != ((count + spots) * (std::size_t{dimension_} + 1) + spots + 2 +
                           (has_radius ? 1 : 0) + recalls + groups) *
                              sizeof(float))
    return false;
  values_ = in.read_vector<float>(count * dimension_);
  weights_ = in.read_vector<float>(count);
  measured_.sharpness = in.read<float>();
  measured_.reach = in.read<float>();
  if (has_radius) measured_.radius = in.read<float>();
  measured_.passed = in.read_vector<float>(recalls);
  groups_ = in.read_vector<std::uint32_t>(groups);
  const auto is_share = [](float value) { return std::isfinite(value) && value >= 0; };
  const bool lacks = std::ranges::find(weights_, 0.0F) != weights_.end();
  const bool has = std::ranges::any_of(weights_, [](float one) { return one > 0; });
  return are_finite(values_) && is_share(measured_.sharpness) && is_share(measured_.reach) &&
         is_share(measured_.radius.value_or(0)) &&
         std::ranges::all_of(measured_.passed, is_share) &&
         std::ranges::all_of(weights_, is_share) && has &&
         (has_radius || lacks == (version == kWithoutRadius)) && read_spots(in, spots);
}

bool Centroids::read_spots(ByteReader& in, std::size_t spots) {
  spots_.values = in.read_vector<float>(spots * dimension_);
  spots_.weights = in.read_vector<float>(spots);
  spots_.partitions = in.read_vector<std::uint32_t>(spots);
  const auto is_weight = [](float value) { return std::isfinite(value) && value > 0; };
  return are_finite(spots_.values) && std::ranges::all_of(spots_.weights, is_weight) &&
         std::ranges::all_of(spots_.partitions, [&](std::uint32_t one) { return one < size(); });
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
