#include "router/writes/screened_writes.h"

#include <algorithm>

#include "router/calls/places.h"
#include "router/writes/batch_write.h"

namespace kin::router {
namespace {

using MaybePlaces = std::vector<std::optional<index::PartitionId>>;
using Near = std::vector<std::vector<index::NearText>>;

// The texts of all shards. One thread only.
class RoutedTexts final : public index::StoredTexts {
 public:
  explicit RoutedTexts(Shards& shards) : shards_(shards) {}

  Result<MaybePlaces> partitions(std::span<const DocId> ids) const override {
    return shards_.with_map([&](const KnownPointer& known, SteadyTime deadline) {
      return read_places(known, ids, deadline);
    });
  }
  bool takes(index::PartitionId) const override { return true; }
  Result<Near> near(std::span<const index::TextSketch> sketches) const override {
    return shards_.with_map([&](const KnownPointer& known, SteadyTime deadline) {
      return ask_all(known, sketches, deadline);
    });
  }

 private:
  // Nothing if the map has changed, as in the function below. A removed entity still has its place,
  // which does no harm: at most a link that does not exist is removed.
  Result<std::optional<MaybePlaces>> read_places(const KnownPointer& known, std::span<const DocId> ids,
                                            SteadyTime deadline) const {
    const PlacesFound found = locate(shards_, known, ids, {deadline});
    if (found.map_changed) return std::optional<MaybePlaces>();
    if (!found.problems.empty())
      return with_context(found.problems[0].address, found.problems[0].error);
    MaybePlaces places(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto place = found.places.find(ids[i]);
      if (place != found.places.end()) places[i] = place->second;
    }
    return std::optional(std::move(places));
  }

  Result<std::optional<Near>> ask_all(const KnownPointer& known,
                                      std::span<const index::TextSketch> sketches,
                                      SteadyTime deadline) const {
    std::vector<Ask<NearRequest>> asks;
    for (std::uint32_t shard = 0; shard < known->map.shards.size(); ++shard) {
      NearRequest request{.sketches = {sketches.begin(), sketches.end()},
                          .partitions = known->map.partitions_of(shard)};
      if (!request.partitions.empty()) asks.push_back({shard, std::move(request)});
    }
    auto told = shards_.ask(known, asks, {deadline});
    Near all(sketches.size());
    for (std::size_t a = 0; a < asks.size(); ++a) {
      if (told[a].map_changed) return std::optional<Near>();
      Result<NearTexts>& reply = told[a].reply;
      if (reply.ok() && reply->texts.size() != sketches.size())
        reply = Error{Code::kInternal, "a shard answered about other texts than it was asked"};
      if (!reply.ok()) return with_context(known->map.shards[asks[a].shard], reply.error());
      for (std::size_t i = 0; i < all.size(); ++i)
        std::ranges::move(reply->texts[i], std::back_inserter(all[i]));
    }
    // As one shard orders them.
    for (auto& texts : all) {
      std::ranges::sort(texts, [](const index::NearText& a, const index::NearText& b) {
        return a.shared != b.shared ? a.shared > b.shared : a.age < b.age;
      });
    }
    return std::optional(std::move(all));
  }

  Shards& shards_;
};

}  // namespace

Result<std::unique_ptr<ScreenedWrites>> ScreenedWrites::create(
    Shards& shards, const index::NearDuplicateOptions& options) {
  KIN_TRY(index::TextSketcher sketcher, index::TextSketcher::create(options.threshold));
  return std::unique_ptr<ScreenedWrites>(
      new ScreenedWrites(shards, options, std::move(sketcher)));
}

Result<Written> ScreenedWrites::write(std::span<const index::Mutation> mutations) {
  for (const index::Mutation& mutation : mutations) KIN_RETURN_IF_ERROR(index::check(mutation));
  const std::lock_guard lock(writing_);
  const RoutedTexts texts(shards_);
  KIN_TRY(index::ScreenedBatch batch,
          index::Screening(options_, sketcher_, texts).run(mutations));
  KIN_TRY(Written written, BatchWrite(shards_, batch.mutations).run());
  using MaybeOutcome = std::optional<index::Outcome>;
  written.outcomes = index::outcomes_of_given<MaybeOutcome>(batch, mutations.size(),
                                                            written.outcomes);
  written.repeats = std::move(batch.repeats);
  return written;
}

}  // namespace kin::router
