// What a shard is told, and what it remembers: entities, edges and fragments.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/doc_id.h"
#include "base/doc_version.h"

namespace kin::index {

// A document of a shard, as its derived indexes know it. Dense, and never used again: a number
// stands for one state of one document for ever, and a document that changes gets a new one.
enum class DocNumber : std::uint32_t {};
inline constexpr DocNumber kNoNumber{std::numeric_limits<std::uint32_t>::max()};

enum class PartitionId : std::uint32_t {};  // 0 until vectors say otherwise

using Millis = std::int64_t;  // since 1970, UTC
inline constexpr Millis kBeginning = std::numeric_limits<Millis>::min();
inline constexpr Millis kForever = std::numeric_limits<Millis>::max();

// From `from` up to, but without, `until`.
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
  std::string space = {};  // the embedding space it is a point of
  std::vector<float> values = {};
  friend bool operator==(const SpaceVector&, const SpaceVector&) = default;
};

struct Entity {
  DocId id = {};
  std::string key = {};  // as its source calls it
  std::string source = {};
  std::string title = {};
  std::string text = {};
  std::vector<std::string> tags = {};
  std::vector<Attribute> attributes = {};
  std::vector<SpaceVector> vectors = {};  // at most one of each space
  Validity valid = {};
  std::vector<std::string> summaries = {};
  friend bool operator==(const Entity&, const Entity&) = default;
};

// What is kept of an entity beside what it says.
struct EntityHead {
  DocNumber number = kNoNumber;
  PartitionId partition{};
  Version version = {};
  Validity valid = {};
  friend bool operator==(const EntityHead&, const EntityHead&) = default;
};

struct StoredEntity {
  EntityHead head = {};
  Entity entity = {};
};

// An edge holds over a period; edges between the same two by the same name that begin at different
// moments are different edges.
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
  std::string summary = {};  // an edge that has one is a document, with a number
  friend bool operator==(const Edge&, const Edge&) = default;
};

struct StoredEdge {
  Edge edge = {};
  Version version = {};
  DocNumber number = kNoNumber;
};

// Something said about an entity or an edge at a moment. A document, with a number.
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
