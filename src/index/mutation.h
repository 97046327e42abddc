// What can happen to the truth of a shard.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "index/entity.h"

namespace kin::index {

// Each may carry the version that another owner gave it; then it is written only over an older
// one. Without, it gets the next version of this shard.

// Writes the entity, whole, over what was there. Its #hashtags join its tags. Edges and fragments
// stay.
struct PutEntity {
  Entity entity = {};
  std::optional<PartitionId> partition = {};  // nothing: where it was, or 0
  std::optional<Version> version = {};
};

// Also removes the edges that leave it, and its fragments. Edges that lead to it stay: they belong
// to where they begin.
struct RemoveEntity {
  DocId id = {};
  std::optional<Version> version = {};
};

// The entity stays as it is, with its number and version.
struct AssignPartition {
  DocId id = {};
  PartitionId partition{};
};

// Neither end need be there.
struct PutEdge {
  Edge edge = {};
  std::optional<Version> version = {};
};

// The edges that leave `from` by `name` are these, and no others. Those that are as they were stay
// as they are; those that are newer than this stay too.
struct SetEdges {
  DocId from = {};
  std::string name = {};
  std::vector<Edge> edges = {};  // which leave `from` by `name`, each once
  std::optional<Version> version = {};
};

// Ends, at `at`, the latest of the periods that hold then.
struct CloseEdge {
  DocId from = {};
  std::string name = {};
  DocId to = {};
  Millis at = 0;
  std::optional<Version> version = {};
};

// As if it had never held. The last period of an edge takes the edge's fragments with it.
struct RemoveEdge {
  EdgeId edge = {};
  std::optional<Version> version = {};
};

// The entity must be there. The same text at the same moment is one fragment.
struct AddFragment {
  DocId id = {};
  Fragment fragment = {};
  std::optional<Version> version = {};
};

// The edge must be there, in any period.
struct AddEdgeFragment {
  DocId from = {};
  std::string name = {};
  DocId to = {};
  Fragment fragment = {};
  std::optional<Version> version = {};
};

using Mutation = std::variant<PutEntity, RemoveEntity, AssignPartition, PutEdge, SetEdges,
                              CloseEdge, RemoveEdge, AddFragment, AddEdgeFragment>;

enum class Effect {
  kDone,
  kStale,      // what is there, or was deleted, is as new or newer
  kAbsent,     // there is nothing it could be done to
  kDuplicate,  // a shard's: it says almost the same as one that is there, or belongs to one that
               // does
};

// kInvalidArgument if it makes no sense: an entity without a key, a name that is empty, a number
// that is not finite, a period that ends before it begins.
Status check(const Mutation& mutation);

}  // namespace kin::index
