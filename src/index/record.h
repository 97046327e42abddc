// The state of one thing in a shard, with its version. Logs, exports and copies consist of records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "index/entity.h"

namespace kin::index {

// A shard writes a record only over an older version, and changes nothing else: removing an entity
// removes no edge or fragment. So records may arrive in any order and more than once, and shards
// that have seen the same records hold the same state. A deleted thing keeps a tombstone, which is
// a record too.

struct EntityRecord {
  Entity entity = {};  // the id alone if it is deleted
  bool deleted = false;
  Version version = {};  // of the contents
  PartitionId partition{};
  Version assigned = {};  // of the partition, which is compared apart from the contents
  friend bool operator==(const EntityRecord&, const EntityRecord&) = default;
};

struct EdgeRecord {
  Edge edge = {};  // the id alone if it is deleted
  bool deleted = false;
  Version version = {};
  friend bool operator==(const EdgeRecord&, const EdgeRecord&) = default;
};

struct FragmentRecord {
  DocId id = {};              // the entity, or where the edge begins
  std::string name = {};      // of the edge; empty for an entity
  DocId to = {};              // of the edge
  Fragment fragment = {};     // without its text if it is deleted
  std::uint64_t content = 0;  // hash64 of the text
  bool deleted = false;
  Version version = {};
  friend bool operator==(const FragmentRecord&, const FragmentRecord&) = default;
};

// The shard that wrote the log owns the partition from `epoch` on. A shard that applies this record
// learns that it does not.
struct OwnerRecord {
  PartitionId partition{};
  std::uint64_t epoch = 0;
  friend bool operator==(const OwnerRecord&, const OwnerRecord&) = default;
};

using Record = std::variant<EntityRecord, EdgeRecord, FragmentRecord, OwnerRecord>;

// kInvalidArgument for a record that no shard can store, by the rules of check(const Mutation&).
Status check(const Record& record);

// The bytes of one record in a batch. Equal states have equal bytes in every shard.
void append_record(std::string& out, const Record& record);

// About as many bytes as append_record() adds, without making them.
std::size_t size_of(const Record& record);

std::uint64_t size_of(std::span<const Record> records);
// How many of them are entities that are not deleted.
std::uint64_t live_entities_in(std::span<const Record> records);

// A batch of records as bytes (docs/formats.md, "An index shard: records").
std::string encode(std::span<const Record> records);
// kDataLoss for bytes that no encoder wrote, kFailedPrecondition for a version that this program
// cannot read.
Result<std::vector<Record>> decode_records(std::string_view bytes);

}  // namespace kin::index
