// A repartition: the entities of some partitions of one shard are divided among them by new
// centroids, as routers agree on it (ADR 0037).
//
//   KIN_TRY(const Repartition split, begin_repartition(meta, "papers", {.partitions = {seven},
//   .added = 1}));
//   ...  // every router steps it (router/mover.h)
//   KIN_TRY(const auto last, read_repartition(meta, "papers"));
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "base/result.h"
#include "router/meta_store.h"
#include "router/requests.h"
#include "router/shard_map.h"

namespace kin::router {

enum class RepartitionPhase : std::uint8_t {
  kLearning,  // new centroids are trained, and stored at every shard
  kOpening,   // the shard answers about all members together; the map gets the centroids
  kDividing,  // entities get the member whose centroid is the nearest
  kPlacing,   // the directory is told where they are
  kSettling,  // after a pause, the map says that older places are wrong
  kClosing,   // the shard answers about each member by itself
  kDone,
  kAborting,  // nothing was divided; the map is changed so that nothing will be
  kFailed,    // it was aborted; `reason` says why
};

// The facts about a phase that decisions are made by, in one place.
struct RepartitionRule {
  RepartitionPhase next = RepartitionPhase::kFailed;  // when its work is done
  bool can_abort = false;  // unless the map names the repartition already
  bool over = false;
};
constexpr RepartitionRule rule_of(RepartitionPhase phase) {
  using Phase = RepartitionPhase;
  switch (phase) {
    case Phase::kLearning: return {.next = Phase::kOpening, .can_abort = true};
    case Phase::kOpening: return {.next = Phase::kDividing, .can_abort = true};
    case Phase::kDividing: return {.next = Phase::kPlacing};
    case Phase::kPlacing: return {.next = Phase::kSettling};
    case Phase::kSettling: return {.next = Phase::kClosing};
    case Phase::kClosing: return {.next = Phase::kDone};
    case Phase::kDone: return {.next = Phase::kDone, .over = true};
    case Phase::kAborting: return {.next = Phase::kFailed};
    case Phase::kFailed: return {.next = Phase::kFailed, .over = true};
  }
  KIN_UNREACHABLE();
}
// For people: "dividing".
std::string_view name_of(RepartitionPhase phase);

struct Repartition {
  std::uint64_t id = 0;  // 0 until the first step; later ones of the index have higher ids
  RepartitionPhase phase = RepartitionPhase::kLearning;
  std::uint32_t shard = 0;  // its place in ShardMap::shards
  Partitions members = {};  // with the new ones, once centroids were learnt
  Partitions retired = {};  // members that have no centroid afterwards
  std::uint32_t added = 0;  // members that are new, or get a centroid
  std::uint64_t epoch = 0;  // of the map by which it was begun or its centroids were learnt
  // When centroids were learnt:
  std::uint32_t partitions = 0;  // of that map
  Hash128 before = {};           // the centroids of that map
  Hash128 after = {};            // the new ones
  // ShardMap::terms when the last placing began, without zeros at the end.
  std::vector<std::uint64_t> terms = {};
  std::string reason = {};  // why it is aborted
  friend bool operator==(const Repartition&, const Repartition&) = default;
};

// A split has one partition and one more afterwards, a merge two of which one is retired;
// retraining any with neither.
struct NewRepartition {
  Partitions partitions = {};
  std::uint32_t added = 0;
  Partitions retired = {};
};
// Whether it makes sense by the map. kInvalidArgument for partitions that the index does not have,
// that are on different shards, or of which no centroid would be left; kFailedPrecondition for an
// index without centroids, and while there is another repartition.
Status check_repartition(const ShardMap& map, const NewRepartition& wanted);
// Writes it down; routers step it from then on. kFailedPrecondition while there is another one, or
// one of the partitions moves. Errors as check_repartition(), and kNotFound if there is no such
// index.
Result<Repartition> begin_repartition(MetaStore& meta, std::string_view index,
                                      const NewRepartition& wanted);
// Has it undone. kFailedPrecondition if it is too late, kNotFound if there is none. The map
// decides: one that was opened meanwhile is completed.
Result<Repartition> abort_repartition(MetaStore& meta, std::string_view index, std::string reason);

struct StoredRepartition {
  Repartition repartition = {};
  std::uint64_t revision = 0;
};
// The last one of the index; nothing if there was none.
Result<std::optional<StoredRepartition>> read_repartition(MetaStore& meta, std::string_view index);
// False if somebody else was faster.
Result<bool> swap_repartition(MetaStore& meta, std::string_view index,
                              const StoredRepartition& before, const Repartition& after);
// Of an index that has no map any more.
Status forget_repartition(MetaStore& meta, std::string_view index);

// ShardMap::terms without zeros at the end: shards that join do not change them.
std::vector<std::uint64_t> taken_terms(const ShardMap& map);

// The bytes of docs/formats.md, "A router: the meta store, maps, moves and centroids".
std::string encode(const Repartition& repartition);
// kDataLoss for bytes that no encoder wrote, kFailedPrecondition for an unknown version.
Result<Repartition> decode_repartition(std::string_view bytes);

// Its key in a MetaStore: this prefix and the name of the index.
inline constexpr std::string_view kRepartitionsPrefix = "repartition/";
std::string repartition_key(std::string_view index);

}  // namespace kin::router
