// Where a row of the truth lies: families, and keys whose order is the order of reading.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "index/entity.h"
#include "index/truth/name_id.h"
#include "kv/key_value_store.h"

namespace kin::index {

// The families of a shard's truth, by number; the main one holds the counters.
inline constexpr kv::Family kCountersFamily = kv::kMain;
inline constexpr kv::Family kNamesFamily{1};
inline constexpr kv::Family kEntitiesFamily{2};
inline constexpr kv::Family kContentsFamily{3};
inline constexpr kv::Family kVectorsFamily{4};
inline constexpr kv::Family kSummariesFamily{5};
inline constexpr kv::Family kForwardEdgesFamily{6};
inline constexpr kv::Family kReverseEdgesFamily{7};
inline constexpr kv::Family kEntityFragmentsFamily{8};
inline constexpr kv::Family kEdgeFragmentsFamily{9};
inline constexpr kv::Family kDocumentsFamily{10};
inline constexpr kv::Family kMembersFamily{11};
inline constexpr kv::Family kChangelogFamily{12};
inline constexpr std::size_t kTruthFamilies = 13;
// In the order above, without the main one.
const std::vector<std::string>& truth_family_names();

inline constexpr std::string_view kCountersKey = "counters";

// An edge with its name as a number: what keys are made of.
struct EdgePlace {
  DocId from = {};
  NameId name{};
  DocId to = {};
  Millis since = kBeginning;
  friend bool operator==(const EdgePlace&, const EdgePlace&) = default;
};

// A fragment of an entity, which needs no name and no other end, or of an edge in all its periods.
struct FragmentPlace {
  DocId id = {};  // the entity, or where the edge begins
  NameId name{};
  DocId to = {};
  Millis time = 0;
  std::uint64_t content = 0;  // hash64 of the text: the same thing said twice is one fragment
  friend bool operator==(const FragmentPlace&, const FragmentPlace&) = default;
};

std::string name_key(NameId name);
std::string entity_key(const DocId& id);
// Numbers only grow, so what is long is appended and never merged with what is there.
std::string content_key(DocNumber number);
std::string vector_key(DocNumber number, NameId space);
// What a summary is known by.
Hash128 summary_hash(std::string_view text);
std::string summary_text_key(const Hash128& hash);
std::string summary_count_key(const Hash128& hash);
std::string forward_key(const EdgePlace& edge);
std::string reverse_key(const EdgePlace& edge);
// Of all edges of `node` by `name`, of forward and of reverse keys alike.
std::string edges_prefix(const DocId& node, NameId name);
// Of all periods, and all fragments, of an edge.
std::string periods_prefix(const DocId& from, NameId name, const DocId& to);
std::string entity_fragment_key(const FragmentPlace& fragment);
std::string edge_fragment_key(const FragmentPlace& fragment);
std::string document_key(DocNumber number);
std::string member_key(PartitionId partition, DocNumber number);
std::string members_prefix(PartitionId partition);
std::string change_key(Lsn lsn);

// Nothing if `key` is none of its kind.
std::optional<NameId> decode_name_key(std::string_view key);
std::optional<DocId> decode_entity_key(std::string_view key);
std::optional<EdgePlace> decode_forward_key(std::string_view key);
std::optional<EdgePlace> decode_reverse_key(std::string_view key);
std::optional<FragmentPlace> decode_entity_fragment_key(std::string_view key);
std::optional<FragmentPlace> decode_edge_fragment_key(std::string_view key);
std::optional<DocNumber> decode_document_key(std::string_view key);
std::optional<DocNumber> decode_member_key(std::string_view key);
std::optional<PartitionId> decode_member_partition(std::string_view key);
std::optional<Lsn> decode_change_key(std::string_view key);

}  // namespace kin::index
