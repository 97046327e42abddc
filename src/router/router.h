// One index over many shards.
//
//   KIN_RETURN_IF_ERROR(create_index(meta, connect, {.map = spread_partitions("papers", nodes,
//   64)})); KIN_TRY(auto router, Router::open("papers", meta, connect)); KIN_TRY(const Written
//   written, router->write(mutations)); KIN_TRY(const RoutedHits found, router->search({.text =
//   index::TextLeg{.query = "tides"}}));
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "index/graph.h"
#include "index/mutation.h"
#include "index/query.h"
#include "index/shard.h"
#include "router/centroids.h"
#include "router/meta_store.h"
#include "router/requests.h"
#include "router/shard_client.h"
#include "router/shard_map.h"

namespace kin::router {

// The client of the shard at an address of a map. Never null.
using Connect = std::function<std::shared_ptr<ShardClient>(const std::string& address)>;

// When a follower is asked for a read whose owner takes longer than usual. An owner is slow when it
// takes longer than `slow` of its last calls of the kind did.
struct HedgeOptions {
  double slow = 0.05;
  std::chrono::nanoseconds least = std::chrono::milliseconds{10};  // no owner is slow before
  double known_calls = 50;  // of a kind to a shard, before which its times say nothing
  double budget = 0.05;     // such calls to followers for each call that they may answer; 0: none
};

// Why a follower was asked: the owner was slow, was silent for RouterOptions::hedge, or is away.
enum class FollowerAsked : std::uint8_t { kSlow, kSilent, kAway };
enum class FollowerEvent : std::uint8_t { kAsked, kAnswered };  // the second: its answer was used

struct RouterOptions {
  Clock* clock = &system_clock();
  std::chrono::nanoseconds timeout = std::chrono::seconds{10};  // of a request as a whole
  // Timeout of one call to a shard. A call without an answer is sent again, within `timeout`.
  std::chrono::nanoseconds attempt = std::chrono::seconds{2};
  std::chrono::nanoseconds pause = std::chrono::milliseconds{10};  // before it is sent again
  // How long a shard may be silent before a follower is asked, too, for a read that an older state
  // may answer (Staleness), and before the map is looked at. Followers of shards that usually take
  // less are asked sooner, as `hedging` says.
  std::chrono::nanoseconds hedge = std::chrono::milliseconds{500};
  HedgeOptions hedging = {};
  // Told of every call to a follower, on any thread.
  std::function<void(FollowerAsked, FollowerEvent)> on_follower = {};
  std::size_t known_places = 1'000'000;  // entities whose partition is remembered
  // Makes the vectors that entities are placed by, if they do not bring them.
  std::shared_ptr<const index::VectorSource> source = {};
  // The text options of the shards. With them the statistics of words are remembered, and a search
  // that knows all of its words costs one round of calls. Nothing: they are read for every search.
  std::optional<index::TextOptions> text = {};
  // Entities that are near-duplicates of others, on any shard, are linked or refused. The shards
  // look for near-duplicates with the same threshold and do not screen (index::ShardOptions).
  std::optional<index::NearDuplicateOptions> near_duplicates = {};
};

// A shard that did not answer, or failed.
struct ShardProblem {
  std::uint32_t shard = 0;  // place in the map
  std::string address = {};
  Error error = {};
};

struct NewIndex {
  ShardMap map = {};
  std::optional<Centroids> centroids = {};  // as many as the map has partitions
  std::vector<std::string> blobs = {};      // bytes that every shard keeps, see read_blob()
};
// The identities of the shards at these addresses, for the map of a new index. Two addresses of one
// node are refused.
Result<std::vector<Hash128>> read_identities(const Connect& connect,
                                             const std::vector<std::string>& shards,
                                             const RouterOptions& options = {});
// Stores centroids and blobs at every shard, writes the map, and tells the shards what they own.
// kFailedPrecondition if there is an index of that name.
Status create_index(MetaStore& meta, const Connect& connect, NewIndex index,
                    const RouterOptions& options = {});

// The bytes with this hash that the shards of an index keep, from any shard that has them.
// kUnavailable if none answers with them in time.
Result<std::string> read_blob(const Connect& connect, const ShardMap& map, const Hash128& hash,
                              const RouterOptions& options = {});

struct Written {
  // One per mutation; nothing if it is unknown whether it was applied, or it was not: `problems`
  // says why.
  std::vector<std::optional<index::Outcome>> outcomes = {};
  std::vector<ShardProblem> problems = {};
  std::vector<index::Repeat> repeats = {};  // entities that are linked, or refused (kDuplicate)
};

// How old a state may answer a read whose shards are silent, and how old the one was that did. A
// state is older than a read that begins at T by D if it has everything that was in the logs of the
// shards at T - D (router/replica.h), which with replies that wait for the log is everything that
// was acknowledged by then. One thread at a time; may be used for several reads.
struct Staleness {
  // Nothing, or no followers: silent shards are waited for.
  std::optional<std::chrono::milliseconds> most = {};
  // The oldest of all states that followers answered from. Nothing: the owners of the shards
  // answered, whose states are never old.
  std::optional<std::chrono::milliseconds> behind = {};
};

struct SearchOptions {
  // Answer with what the other shards found if a shard fails; RoutedHits::missing names it.
  bool partial = false;
  // Show the hits as well: RoutedHits::shown. `most` is chosen by the router.
  std::optional<Show> show = {};
  Staleness* staleness = nullptr;  // null: as empty
};

struct RoutedHits {
  index::ShardHits found = {};             // ShardHit::shard is the place in the map
  Presented shown = {};                    // of the hits, in their order, if asked for
  std::size_t asked = 0;                   // shards that searched
  std::vector<ShardProblem> missing = {};  // empty unless partial answers are allowed
  // By which words were scored; nothing if one shard has all by itself, or there are no words.
  std::optional<index::TextStatistics> statistics = {};
};

struct EntityPage {
  std::vector<About> entities = {};
  std::uint64_t divided = 0;  // ShardMap::divided of the map that the page was read by
  std::optional<index::DocNumber> next = {};  // for ListRequest::after; nothing: the last page
};

// An index as if it were one shard. What was acknowledged is seen by every request that begins
// later, through any router, unless the request takes an older state (Staleness; null is as empty).
// Thread-safe; starts no thread. Any number of routers may serve an index.
class Router {
 public:
  // kNotFound if there is no such index. `meta` outlives the router.
  static Result<std::unique_ptr<Router>> open(std::string index, MetaStore& meta, Connect connect,
                                              const RouterOptions& options = {});
  virtual ~Router() = default;
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  // Mutations of one entity are applied in their order and, as long as they are in one call, all or
  // none. Those of different entities are independent: batches go to all shards at once. An
  // entity stays in the partition where it was first put, but for repartitions. Edges need the
  // entity that they leave.
  // With near_duplicates, batches of this router are compared with each other, and with what other
  // routers had written before; if a shard cannot tell, nothing is written.
  virtual Result<Written> write(std::span<const index::Mutation> mutations) = 0;

  // In the order of `ids`; nothing for an entity that does not exist.
  virtual Result<std::vector<std::optional<index::StoredEntity>>> get(
      std::span<const DocId> ids, const index::Want& want = {},
      Staleness* staleness = nullptr) = 0;

  // As index::search() on one shard that holds everything. Words have global statistics. A vector
  // leg alone asks only the shards that can have near enough vectors, as far as its `recall` goes.
  // kInvalidArgument for a graph leg or an expansion: see traverse().
  virtual Result<RoutedHits> search(const index::ShardQuery& query,
                                    const SearchOptions& options = {}) = 0;
  // As index::run_pipeline() on one shard that holds everything. `show` shows the hits as well.
  virtual Result<RoutedHits> run_pipeline(std::span<const index::Stage> stages,
                                          const std::optional<Show>& show = {},
                                          Staleness* staleness = nullptr) = 0;
  // What shows hits of search(), in their order; `most` is ignored. For callers that choose among
  // the hits first.
  virtual Result<Presented> present(std::span<const index::ShardHit> hits, const Show& show,
                                    Staleness* staleness = nullptr) = 0;

  // As index::traverse() and index::shortest_path(); among ways of equal length any may be given.
  // The request has no partitions.
  virtual Result<index::Traversal> traverse(const index::TraverseRequest& request,
                                            Staleness* staleness = nullptr) = 0;
  virtual Result<std::optional<index::Path>> shortest_path(const index::PathRequest& request,
                                                           Staleness* staleness = nullptr) = 0;

  // Entities with everything that is said about them, in the order of `ids`; nothing for one that
  // does not exist.
  virtual Result<std::vector<std::optional<About>>> about(std::span<const DocId> ids,
                                                          const index::Want& want = {},
                                                          Staleness* staleness = nullptr) = 0;
  // The same for the entities of a partition, from the oldest on, a page at a time. kUnavailable
  // while a repartition divides it. Pages with another `divided` do not belong together: entities
  // may have changed their partition between them.
  virtual Result<EntityPage> list(const ListRequest& request, Staleness* staleness = nullptr) = 0;

  // The health of every shard in the map, or why it is not known.
  virtual std::vector<Result<Health>> health() = 0;
  // The same for what it holds; the sizes of partitions take longer.
  virtual std::vector<Result<StatsReply>> stats(const StatsRequest& request = {}) = 0;
  // Compares indexes and truth of every shard, which takes long.
  virtual std::vector<Result<CheckReply>> check() = 0;

  virtual ShardMap map() const = 0;

 protected:
  Router() = default;
};

}  // namespace kin::router
