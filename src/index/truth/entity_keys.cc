#include "index/truth/entity_keys.h"

#include <algorithm>
#include <bit>

#include "base/bytes.h"

namespace kin::index {
namespace {

constexpr std::uint64_t kSummarySeed = 0x6b696e2d73756d6dULL;
constexpr std::size_t kIdBytes = 16;
constexpr std::size_t kEdgeBytes = kIdBytes + 4 + kIdBytes;

// The highest byte first, so that the order of bytes is the order of numbers.
void append_be(std::string& out, std::uint32_t value) {
  append_le(out, __builtin_bswap32(value));
}
void append_be(std::string& out, std::uint64_t value) {
  append_le(out, __builtin_bswap64(value));
}
// The sign is flipped, so that negative times come first.
void append_time(std::string& out, Millis time) {
  append_be(out, std::bit_cast<std::uint64_t>(time) ^ (std::uint64_t{1} << 63));
}
void append_name(std::string& out, NameId name) {
  append_be(out, static_cast<std::uint32_t>(name));
}
void append_hash(std::string& out, const Hash128& hash) {
  append_be(out, hash.high);
  append_be(out, hash.low);
}

std::uint32_t read_be32(ByteReader& reader) {
  return __builtin_bswap32(reader.read<std::uint32_t>());
}
std::uint64_t read_be64(ByteReader& reader) {
  return __builtin_bswap64(reader.read<std::uint64_t>());
}
Millis read_time(ByteReader& reader) {
  return std::bit_cast<Millis>(read_be64(reader) ^ (std::uint64_t{1} << 63));
}
DocId read_id(ByteReader& reader) {
  DocId id;
  const std::string_view bytes = reader.read_bytes(kIdBytes);
  std::copy(bytes.begin(), bytes.end(), id.bytes.begin());
  return id;
}

std::string edge_bytes(const DocId& one, NameId name, const DocId& other) {
  std::string key(one.view());
  append_name(key, name);
  key.append(other.view());
  return key;
}

}  // namespace

const std::vector<std::string>& truth_family_names() {
  static const std::vector<std::string> names{"names",         "entities",         "contents",
                                              "vectors",       "summaries",        "forward_edges",
                                              "reverse_edges", "entity_fragments", "edge_fragments",
                                              "documents",     "members",          "changelog"};
  return names;
}

std::string name_key(NameId name) {
  std::string key;
  append_name(key, name);
  return key;
}

std::string entity_key(const DocId& id) {
  return std::string(id.view());
}

std::string content_key(DocNumber number) {
  return document_key(number);
}

std::string vector_key(DocNumber number, NameId space) {
  std::string key = document_key(number);
  append_name(key, space);
  return key;
}

Hash128 summary_hash(std::string_view text) {
  return hash128(text, kSummarySeed);
}

std::string summary_text_key(const Hash128& hash) {
  std::string key;
  append_hash(key, hash);
  return key;
}

std::string summary_count_key(const Hash128& hash) {
  return summary_text_key(hash) + '#';
}

std::string forward_key(const EdgeKey& edge) {
  std::string key = edge_bytes(edge.from, edge.name, edge.to);
  append_time(key, edge.since);
  return key;
}

std::string reverse_key(const EdgeKey& edge) {
  std::string key = edge_bytes(edge.to, edge.name, edge.from);
  append_time(key, edge.since);
  return key;
}

std::string edges_prefix(const DocId& node, NameId name) {
  std::string key(node.view());
  append_name(key, name);
  return key;
}

std::string periods_prefix(const DocId& from, NameId name, const DocId& to) {
  return edge_bytes(from, name, to);
}

std::string entity_fragment_key(const FragmentKey& fragment) {
  std::string key(fragment.id.view());
  append_time(key, fragment.time);
  append_be(key, fragment.content);
  return key;
}

std::string edge_fragment_key(const FragmentKey& fragment) {
  std::string key = edge_bytes(fragment.id, fragment.name, fragment.to);
  append_time(key, fragment.time);
  append_be(key, fragment.content);
  return key;
}

std::string document_key(DocNumber number) {
  std::string key;
  append_be(key, static_cast<std::uint32_t>(number));
  return key;
}

std::string members_prefix(PartitionId partition) {
  std::string key;
  append_be(key, static_cast<std::uint32_t>(partition));
  return key;
}

std::string member_key(PartitionId partition, DocNumber number) {
  return members_prefix(partition) + document_key(number);
}

std::string change_key(Lsn lsn) {
  std::string key;
  append_be(key, lsn);
  return key;
}

std::string owner_key(PartitionId partition) {
  return std::string(kOwnersPrefix) + members_prefix(partition);
}

std::string follower_key(std::string_view name) {
  return std::string(kFollowersPrefix).append(name);
}

std::optional<NameId> decode_name_key(std::string_view key) {
  if (key.size() != 4) return {};
  ByteReader reader(key);
  return NameId{read_be32(reader)};
}

std::optional<DocId> decode_entity_key(std::string_view key) {
  if (key.size() != kIdBytes) return {};
  ByteReader reader(key);
  return read_id(reader);
}

std::optional<EdgeKey> decode_forward_key(std::string_view key) {
  if (key.size() != kEdgeBytes + 8) return {};
  ByteReader reader(key);
  EdgeKey edge;
  edge.from = read_id(reader);
  edge.name = NameId{read_be32(reader)};
  edge.to = read_id(reader);
  edge.since = read_time(reader);
  return edge;
}

std::optional<EdgeKey> decode_reverse_key(std::string_view key) {
  std::optional<EdgeKey> edge = decode_forward_key(key);
  if (edge) std::swap(edge->from, edge->to);
  return edge;
}

std::optional<FragmentKey> decode_entity_fragment_key(std::string_view key) {
  if (key.size() != kIdBytes + 16) return {};
  ByteReader reader(key);
  FragmentKey fragment;
  fragment.id = read_id(reader);
  fragment.time = read_time(reader);
  fragment.content = read_be64(reader);
  return fragment;
}

std::optional<FragmentKey> decode_edge_fragment_key(std::string_view key) {
  if (key.size() != kEdgeBytes + 16) return {};
  ByteReader reader(key);
  FragmentKey fragment;
  fragment.id = read_id(reader);
  fragment.name = NameId{read_be32(reader)};
  fragment.to = read_id(reader);
  fragment.time = read_time(reader);
  fragment.content = read_be64(reader);
  return fragment;
}

std::optional<DocNumber> decode_document_key(std::string_view key) {
  if (key.size() != 4) return {};
  ByteReader reader(key);
  return DocNumber{read_be32(reader)};
}

std::optional<DocNumber> decode_member_key(std::string_view key) {
  if (key.size() != 8) return {};
  return decode_document_key(key.substr(4));
}

std::optional<PartitionId> decode_owner_key(std::string_view key) {
  if (!key.starts_with(kOwnersPrefix) || key.size() != kOwnersPrefix.size() + 4) return {};
  ByteReader reader(key.substr(kOwnersPrefix.size()));
  return PartitionId{read_be32(reader)};
}

std::optional<PartitionId> decode_member_partition(std::string_view key) {
  if (key.size() != 8) return {};
  ByteReader reader(key);
  return PartitionId{read_be32(reader)};
}

std::optional<Lsn> decode_change_key(std::string_view key) {
  if (key.size() != 8) return {};
  ByteReader reader(key);
  return read_be64(reader);
}

}  // namespace kin::index
