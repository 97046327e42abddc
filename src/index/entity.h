// The domain of a shard: entities, edges, fragments, and who owns a partition.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/doc_id.h"
#include "base/doc_version.h"

namespace kin::index {

// A document of a shard, as its derived indexes know it. Numbers are dense and never reused: one
// number means one state of one document, and a document that changes gets a new number.
enum class DocNumber : std::uint32_t {};
inline constexpr DocNumber kNoNumber{std::numeric_limits<std::uint32_t>::max()};

// A cell of the router: the unit that is owned, copied, compared and moved between shards.
enum class PartitionId : std::uint32_t {};  // 0 until a router assigns another

// The owner of a partition, as a shard knows it. A newer owner has a higher epoch.
struct Ownership {
  std::uint64_t epoch = 0;
  bool owned = false;  // by this shard
  friend bool operator==(const Ownership&, const Ownership&) = default;
};
using Owners = std::map<PartitionId, Ownership>;

using Millis = std::int64_t;  // since 1970, UTC
inline constexpr Millis kBeginning = std::numeric_limits<Millis>::min();
inline constexpr Millis kForever = std::numeric_limits<Millis>::max();

// The half-open period [from, until).
struct Validity {
  Millis from = kBeginning;
  Millis until = kForever;
  bool holds_at(Millis moment) const { return from <= moment && moment < until; }
  friend bool operator==(const Validity&, const Validity&) = default;
};

using AttributeValue = std::variant<std::string, std::int64_t, double, bool>;
struct Attribute {
  std::string name = {};
  AttributeValue value = {};
  friend bool operator==(const Attribute&, const Attribute&) = default;
};

struct SpaceVector {
  std::string space = {};  // name of the embedding space
  std::vector<float> values = {};
  friend bool operator==(const SpaceVector&, const SpaceVector&) = default;
};

struct Entity {
  DocId id = {};
  std::string key = {};  // the id that its source gave it
  std::string source = {};
  std::string title = {};
  std::string text = {};
  std::vector<std::string> tags = {};
  std::vector<Attribute> attributes = {};
  std::vector<SpaceVector> vectors = {};  // at most one per space
  Validity valid = {};
  std::vector<std::string> summaries = {};
  friend bool operator==(const Entity&, const Entity&) = default;
};

// The bookkeeping of an entity. Contents and partition have versions of their own: moving an entity
// to another partition does not change its contents.
struct EntityHead {
  DocNumber number = kNoNumber;
  PartitionId partition{};
  Version assigned = {};  // version of the partition
  Version version = {};   // version of the contents
  Validity valid = {};
  friend bool operator==(const EntityHead&, const EntityHead&) = default;
};

struct StoredEntity {
  EntityHead head = {};
  Entity entity = {};
};

// An edge holds over a period. Edges of one name between the same two entities that begin at
// different moments are different edges.
struct EdgeId {
  DocId from = {};
  std::string name = {};
  DocId to = {};
  Millis since = kBeginning;
  friend auto operator<=>(const EdgeId&, const EdgeId&) = default;
};

struct Edge {
  EdgeId id = {};
  Millis until = kForever;
  double weight = 1;
  std::string summary = {};  // an edge with a summary is a document and has a number
  friend bool operator==(const Edge&, const Edge&) = default;
};

struct StoredEdge {
  Edge edge = {};
  Version version = {};
  DocNumber number = kNoNumber;
};

// A text about an entity or an edge at a moment. It is a document and has a number.
struct Fragment {
  Millis time = 0;
  std::string text = {};
  friend bool operator==(const Fragment&, const Fragment&) = default;
};

struct StoredFragment {
  Fragment fragment = {};
  Version version = {};
  DocNumber number = kNoNumber;
};

}  // namespace kin::index
