// Changes that a shard can be asked to make.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "index/entity.h"

namespace kin::index {

// Writes the whole entity over the stored one. Its #hashtags join its tags. Its edges and fragments
// stay.
struct PutEntity {
  Entity entity = {};
  std::optional<PartitionId> partition = {};  // nothing: its current one, or 0
};

// Also removes the edges that leave the entity, and its fragments. Edges that lead to it stay: they
// belong to the entity where they begin.
struct RemoveEntity {
  DocId id = {};
};

// Moves an entity with its edges and fragments. Contents, number and version stay.
struct AssignPartition {
  DocId id = {};
  PartitionId partition{};
};

// Tells the shard whether it owns a partition from `epoch` on. Only a newer epoch is written;
// repeating the last one is not an error. A shard that was never told of an owner owns every
// partition. After the first AssignOwner it owns only the partitions that it was told to own.
struct AssignOwner {
  PartitionId partition{};
  std::uint64_t epoch = 0;
  bool owned = false;
};

// The ends of an edge need not exist.
struct PutEdge {
  Edge edge = {};
};

// Replaces all edges that leave `from` by `name`. Edges that do not change keep their version.
struct SetEdges {
  DocId from = {};
  std::string name = {};
  std::vector<Edge> edges = {};  // each leaves `from` by `name`; no two have the same id
};

// Ends an edge at `at`. If several periods hold then, the latest is ended.
struct CloseEdge {
  DocId from = {};
  std::string name = {};
  DocId to = {};
  Millis at = 0;
};

// Removes a period of an edge. The last period takes the edge's fragments with it.
struct RemoveEdge {
  EdgeId edge = {};
};

// kAbsent if the entity does not exist. The same text at the same moment is one fragment.
struct AddFragment {
  DocId id = {};
  Fragment fragment = {};
};

// kAbsent if the edge has no period.
struct AddEdgeFragment {
  DocId from = {};
  std::string name = {};
  DocId to = {};
  Fragment fragment = {};
};

// Every mutation gets the next version of the shard: the epoch of the partition's owner, and an LSN
// that is higher than the version it replaces. To write a version that another shard gave, apply a
// Record (index/record.h).
using Mutation = std::variant<PutEntity, RemoveEntity, AssignPartition, AssignOwner, PutEdge,
                              SetEdges, CloseEdge, RemoveEdge, AddFragment, AddEdgeFragment>;

enum class Effect {
  kDone,
  kStale,      // nothing to write: the stored state is the same or newer
  kAbsent,     // the entity or edge does not exist
  kDuplicate,  // a near-duplicate of another entity, or something that belongs to one; not written
  kNotOwned,   // the shard does not own the partition; the outcome has the epoch it knows
  kOldEpoch,   // the sender's map is older than the owner's epoch; the outcome has that epoch
};

// A request of a session (Shard::open_session()): `sequence` grows with every new request, and
// stays the same when one is sent again.
struct RequestId {
  std::uint64_t session = 0;
  std::uint64_t sequence = 0;
  friend bool operator==(const RequestId&, const RequestId&) = default;
};

struct ApplyOptions {
  // Return once the batch is on the device. Otherwise a crash of the machine, but not of the
  // process, may lose it together with every batch after it.
  bool sync = true;
  // Epoch of the map by which the sender chose this shard. Mutations of partitions with a newer
  // owner are refused (kOldEpoch). Nothing: not checked.
  std::optional<std::uint64_t> map_epoch = {};
  // A request is applied once, however often and late it arrives: one whose sequence is not above
  // that of the last request of its session changes nothing (Applied::repeated), also after a
  // crash. kFailedPrecondition for a session that is not open.
  std::optional<RequestId> request = {};
  // An entity or tombstone that is in one of these partitions stays there when it is put into
  // another of them.
  std::set<PartitionId> together = {};
  // One per mutation, or none: numbers that grow with time over all shards of an index. Versions of
  // the documents written are at least these, so that documents of different shards have an order.
  std::vector<std::uint64_t> ages = {};
};

// kInvalidArgument for a mutation that no shard can store: an entity without a key, an empty name,
// a number that is not finite, a period that ends before it begins.
Status check(const Mutation& mutation);

// The parts that records share with mutations.
Status check_entity(const Entity& entity);
Status check_edge(const Edge& edge);
Status check_edge_name(std::string_view name);
Status check_fragment(const Fragment& fragment);

}  // namespace kin::index
