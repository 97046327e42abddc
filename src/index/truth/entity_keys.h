// Keys of the rows of the truth, by family. The order of keys is the order of reading.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "index/entity.h"
#include "index/truth/name_id.h"
#include "kv/key_value_store.h"

namespace kin::index {

// The main family holds single rows: the counters, the owners of partitions, followers, sessions.
inline constexpr kv::Family kCountersFamily = kv::kMain;
inline constexpr kv::Family kOwnersFamily = kv::kMain;
inline constexpr kv::Family kFollowersFamily = kv::kMain;
inline constexpr kv::Family kSessionsFamily = kv::kMain;
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
inline constexpr std::string_view kOwnersPrefix = "owner/";
inline constexpr std::string_view kFollowersPrefix = "follower/";
inline constexpr std::string_view kSessionsPrefix = "session/";

// The families whose rows are records. All keys begin with the id of the entity that they belong
// to.
inline constexpr std::array kRecordFamilies{kEntitiesFamily, kForwardEdgesFamily,
                                            kEntityFragmentsFamily, kEdgeFragmentsFamily};
inline constexpr std::size_t kIdBytes = 16;

// The key of an edge, in parts. The name of the edge is a number.
struct EdgeKey {
  DocId from = {};
  NameId name{};
  DocId to = {};
  Millis since = kBeginning;
  friend bool operator==(const EdgeKey&, const EdgeKey&) = default;
};

// The key of a fragment, in parts. A fragment of an entity has no name and no other end; a fragment
// of an edge belongs to all periods of the edge.
struct FragmentKey {
  DocId id = {};  // the entity, or where the edge begins
  NameId name{};
  DocId to = {};
  Millis time = 0;
  std::uint64_t content = 0;  // hash64 of the text: the same text is one fragment
  friend bool operator==(const FragmentKey&, const FragmentKey&) = default;
};

EdgeKey edge_key(const EdgeId& id, NameId name);
std::string name_key(NameId name);
std::string entity_key(const DocId& id);
// Long values are under numbers, which only grow: they are appended, never merged with older rows.
std::string content_key(DocNumber number);
std::string vector_key(DocNumber number, NameId space);
Hash128 summary_hash(std::string_view text);
std::string summary_text_key(const Hash128& hash);
std::string summary_count_key(const Hash128& hash);
std::string forward_key(const EdgeKey& edge);
std::string reverse_key(const EdgeKey& edge);
// Prefix of the forward keys, or the reverse keys, of the edges of `node` by `name`.
std::string edges_prefix(const DocId& node, NameId name);
// Prefix of the periods, or the fragments, of an edge.
std::string periods_prefix(const DocId& from, NameId name, const DocId& to);
// `family`: that of fragments of entities, or of edges.
std::string fragment_key(kv::Family family, const FragmentKey& fragment);
std::string document_key(DocNumber number);
std::string member_key(PartitionId partition, DocNumber number);
std::string members_prefix(PartitionId partition);
std::string change_key(Lsn lsn);
std::string owner_key(PartitionId partition);
std::string follower_key(std::string_view name);
std::string session_key(std::uint64_t session);

// Nothing if `key` is not of that kind.
std::optional<NameId> decode_name_key(std::string_view key);
std::optional<DocId> decode_entity_key(std::string_view key);
std::optional<EdgeKey> decode_forward_key(std::string_view key);
std::optional<EdgeKey> decode_reverse_key(std::string_view key);
std::optional<FragmentKey> decode_fragment_key(kv::Family family, std::string_view key);
std::optional<DocNumber> decode_document_key(std::string_view key);
std::optional<DocNumber> decode_member_key(std::string_view key);
std::optional<PartitionId> decode_member_partition(std::string_view key);
std::optional<Lsn> decode_change_key(std::string_view key);
std::optional<PartitionId> decode_owner_key(std::string_view key);
std::optional<std::uint64_t> decode_session_key(std::string_view key);

}  // namespace kin::index
