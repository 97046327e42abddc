// One simulated life of an index: routers, nodes and a meta store, clients that write and read, and
// everything going wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "router/testing/simulated_node.h"

namespace kin::router {

// One crash at a moment of a move or a take-over. Moments are the calls of movers and of targets
// that read from the source, or of a follower that takes over, counted from 1.
struct MoveCrash {
  enum class Kind : std::uint8_t {
    // The router of the mover, the target that reads from the source, or the follower stops before
    // it sends.
    kRouterBefore,
    kRouterAfter,  // after it has sent, before there is a reply
    kPeerBefore,   // the shard or the meta store loses power before the call arrives
    kPeerAtWrite,  // the shard loses power before the `write`-th change of its disk
    kPeerAfter,    // when it has served the call, before the reply is sent
  };
  std::size_t moment = 0;  // 0: nothing crashes
  Kind kind = Kind::kRouterBefore;
  std::uint64_t write = 1;
};

// The name of the index of a run.
inline constexpr const char* kSimulatedIndex = "things";

struct RunOptions {
  std::uint64_t seed = 1;  // of what clients do and what breaks
  // Other delays and losses for the same operations and faults.
  std::uint64_t weather = 0;
  std::size_t nodes = 3;
  std::size_t routers = 2;
  std::size_t clients = 4;
  std::size_t operations = 20;  // of each client
  std::size_t keys = 5;
  // Each shard has so many followers. `nodes` are the first owners; their logs are in an object
  // store that is unreliable, too, and replies wait until they are durable.
  std::size_t followers = 0;
  bool moves = false;    // partitions move from shard to shard, and moves are aborted
  bool relays = false;   // nodes do not reach each other: copies go through routers
  bool divides = false;  // partitions are split, merged and retrained, too
  bool joins = false;    // a further shard joins the map, and partitions move there, too
  // Everybody writes and reads one key, whose partition moves all the time. Messages get lost, and
  // nothing else breaks.
  bool contended = false;
  // One partition with all that can be in it moves, or is divided with `divides`; or, with
  // followers, the owner of the first shard is gone for good. One thing crashes meanwhile, and
  // nothing else happens to the clients.
  std::optional<MoveCrash> crash = {};
  // With these two, that owner loses its power and owns the shard again before it is gone.
  bool owns_again = false;
  Sabotage sabotage = Sabotage::kNone;
  // Parts that are left out, by number: kinds of faults, operations of clients, single faults. The
  // others do the same without them, though perhaps at other moments.
  std::set<std::size_t> without = {};
};

struct RunReport {
  std::optional<std::string> violation = {};
  std::vector<std::string> notes = {};  // what happened, for people
  std::uint64_t digest = 0;             // of the notes
  std::size_t parts = 0;                // that the run has, or would have without `without`
  std::size_t checked = 0;              // operations on keys
  std::size_t unknown = 0;              // writes with an unknown outcome
  std::size_t failed = 0;               // reads that got no answer
  std::size_t stale = 0;                // operations on keys that followers answered
  std::size_t hedges = 0;               // calls to followers because an owner was slow
  std::size_t hedges_won = 0;           // whose answer was used
  std::size_t moved = 0;                // moves that were completed
  std::size_t joined = 0;               // shards
  std::size_t aborted = 0;              // moves that were undone
  std::size_t divided = 0;              // repartitions that were completed
  std::size_t undone = 0;               // repartitions that were undone
  std::size_t taken_over = 0;           // shards, by followers
  std::size_t handed_over = 0;          // owners that were stopped in order
  std::size_t pulls = 0;                // of copies by targets, which came to an end in order
  std::size_t failed_pulls = 0;         // others for which some pages had come
  std::size_t moments = 0;              // see MoveCrash
  bool crashed = false;                 // RunOptions::crash took place
};

// Nothing acknowledged is lost, nothing deleted returns, no entity is there twice, and a read sees
// what was acknowledged before it began or, if it takes an older state, before the age that it is
// told: checked for gets, searches by words and by nearness,
// lists, and edges from both ends. Every move ends once nothing breaks any more. The same options
// give the same run.
RunReport run_cluster(const RunOptions& options);

}  // namespace kin::router
