#include "index/truth/entity_keys.h"

#include <bit>
#include <utility>

#include "index/truth/entity_bytes.h"

namespace kin::index {
namespace {

// Used only here, so that a summary's hash differs from that of a document with the same text.
constexpr std::uint64_t kSummarySeed = 0x6b696e2d73756d6dULL;
constexpr std::size_t kEdgeBytes = kIdBytes + 4 + kIdBytes;  // both ends and the name

// The sign is flipped, so that negative times come first.
void append_time(std::string& out, Millis time) {
  append_be(out, std::bit_cast<std::uint64_t>(time) ^ (std::uint64_t{1} << 63));
}

template <typename Number>
Number read_be(RowReader& reader) {
  if constexpr (sizeof(Number) == sizeof(std::uint32_t)) {
    return Number{__builtin_bswap32(reader.read<std::uint32_t>())};
  } else {
    return Number{__builtin_bswap64(reader.read<std::uint64_t>())};
  }
}

Millis read_time(RowReader& reader) {
  return std::bit_cast<Millis>(read_be<std::uint64_t>(reader) ^ (std::uint64_t{1} << 63));
}

// A key that is one number.
template <typename Number>
std::optional<Number> decode_number(std::string_view key) {
  if (key.size() != sizeof(Number)) return {};
  RowReader reader(key);
  return read_be<Number>(reader);
}

}  // namespace

const std::vector<std::string>& truth_family_names() {
  static const std::vector<std::string> names{"names",         "entities",         "contents",
                                              "vectors",       "summaries",        "forward_edges",
                                              "reverse_edges", "entity_fragments", "edge_fragments",
                                              "documents",     "members",          "changelog"};
  return names;
}

EdgeKey edge_key(const EdgeId& id, NameId name) {
  return {.from = id.from, .name = name, .to = id.to, .since = id.since};
}

std::string name_key(NameId name) {
  return be_bytes(name);
}

std::string entity_key(const DocId& id) {
  return std::string(id.view());
}

std::string content_key(DocNumber number) {
  return document_key(number);
}

std::string vector_key(DocNumber number, NameId space) {
  return document_key(number) + be_bytes(space);
}

Hash128 summary_hash(std::string_view text) {
  return hash128(text, kSummarySeed);
}

std::string summary_text_key(const Hash128& hash) {
  return be_bytes(hash.high) + be_bytes(hash.low);
}

// A row of its own next to the text, so that counting does not rewrite the text.
std::string summary_count_key(const Hash128& hash) {
  return summary_text_key(hash) + '#';
}

std::string forward_key(const EdgeKey& edge) {
  std::string key = periods_prefix(edge.from, edge.name, edge.to);
  append_time(key, edge.since);
  return key;
}

// Ends are exchanged, so that the edges that lead to an entity are next to each other.
std::string reverse_key(const EdgeKey& edge) {
  return forward_key({.from = edge.to, .name = edge.name, .to = edge.from, .since = edge.since});
}

std::string edges_prefix(const DocId& node, NameId name) {
  std::string key(node.view());
  append_be(key, name);
  return key;
}

std::string periods_prefix(const DocId& from, NameId name, const DocId& to) {
  return edges_prefix(from, name).append(to.view());
}

// Time comes before content, so that fragments are read by time.
std::string fragment_key(kv::Family family, const FragmentKey& fragment) {
  std::string key = family == kEdgeFragmentsFamily
                        ? periods_prefix(fragment.id, fragment.name, fragment.to)
                        : entity_key(fragment.id);
  append_time(key, fragment.time);
  append_be(key, fragment.content);
  return key;
}

std::string document_key(DocNumber number) {
  return be_bytes(number);
}

std::string members_prefix(PartitionId partition) {
  return be_bytes(partition);
}

std::string member_key(PartitionId partition, DocNumber number) {
  return members_prefix(partition) + document_key(number);
}

std::string change_key(Lsn lsn) {
  return be_bytes(lsn);
}

std::string owner_key(PartitionId partition) {
  return std::string(kOwnersPrefix) + members_prefix(partition);
}

std::string follower_key(std::string_view name) {
  return std::string(kFollowersPrefix).append(name);
}

std::string session_key(std::uint64_t session) {
  return std::string(kSessionsPrefix) + be_bytes(session);
}

std::optional<NameId> decode_name_key(std::string_view key) {
  return decode_number<NameId>(key);
}

std::optional<DocId> decode_entity_key(std::string_view key) {
  if (key.size() != kIdBytes) return {};
  RowReader reader(key);
  return read_id(reader);
}

std::optional<EdgeKey> decode_forward_key(std::string_view key) {
  if (key.size() != kEdgeBytes + 8) return {};
  RowReader reader(key);
  EdgeKey edge;
  edge.from = read_id(reader);
  edge.name = read_be<NameId>(reader);
  edge.to = read_id(reader);
  edge.since = read_time(reader);
  return edge;
}

std::optional<EdgeKey> decode_reverse_key(std::string_view key) {
  std::optional<EdgeKey> edge = decode_forward_key(key);
  if (edge) std::swap(edge->from, edge->to);
  return edge;
}

std::optional<FragmentKey> decode_fragment_key(kv::Family family, std::string_view key) {
  const bool of_edge = family == kEdgeFragmentsFamily;
  if (key.size() != (of_edge ? kEdgeBytes : kIdBytes) + 16) return {};
  RowReader reader(key);
  FragmentKey fragment;
  fragment.id = read_id(reader);
  if (of_edge) {
    fragment.name = read_be<NameId>(reader);
    fragment.to = read_id(reader);
  }
  fragment.time = read_time(reader);
  fragment.content = read_be<std::uint64_t>(reader);
  return fragment;
}

std::optional<DocNumber> decode_document_key(std::string_view key) {
  return decode_number<DocNumber>(key);
}

std::optional<DocNumber> decode_member_key(std::string_view key) {
  if (key.size() != 8) return {};
  return decode_document_key(key.substr(4));
}

std::optional<PartitionId> decode_owner_key(std::string_view key) {
  if (!key.starts_with(kOwnersPrefix)) return {};
  return decode_number<PartitionId>(key.substr(kOwnersPrefix.size()));
}

std::optional<std::uint64_t> decode_session_key(std::string_view key) {
  if (!key.starts_with(kSessionsPrefix)) return {};
  return decode_number<std::uint64_t>(key.substr(kSessionsPrefix.size()));
}

std::optional<PartitionId> decode_member_partition(std::string_view key) {
  if (key.size() != 8) return {};
  return decode_number<PartitionId>(key.substr(0, 4));
}

std::optional<Lsn> decode_change_key(std::string_view key) {
  return decode_number<Lsn>(key);
}

}  // namespace kin::index
