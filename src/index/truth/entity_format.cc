#include "index/truth/entity_format.h"

#include <fmt/format.h>

#include <bit>

#include "index/truth/entity_bytes.h"

namespace kin::index {
namespace {

constexpr char kFormat = 1;
enum Flag : std::uint8_t { kDeleted = 1, kHasFrom = 2, kHasUntil = 4, kHasSummary = 8 };

Error damaged(std::string_view what) {
  return {Code::kDataLoss, fmt::format("a row of {} is damaged", what)};
}

// The reader behind the version byte; an error if this program cannot read that version.
Result<RowReader> open_row(std::string_view bytes, std::string_view what) {
  if (bytes.empty()) return damaged(what);
  if (bytes[0] != kFormat) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("a row of {} has version {}, and this program reads version {}", what,
                             static_cast<unsigned char>(bytes[0]), int{kFormat})};
  }
  return RowReader(bytes.substr(1));
}

std::string new_row() {
  return std::string(1, kFormat);
}

void append_version(std::string& out, const Version& version) {
  append_varint(out, version.epoch);
  append_varint(out, version.lsn);
}

Version read_version(RowReader& reader) {
  const std::uint64_t epoch = reader.varint();
  return {.epoch = epoch, .lsn = reader.varint()};
}

void append_hash(std::string& out, const Hash128& hash) {
  append_le(out, hash.high);
  append_le(out, hash.low);
}

Hash128 read_hash(RowReader& reader) {
  Hash128 hash;
  hash.high = reader.read<std::uint64_t>();
  hash.low = reader.read<std::uint64_t>();
  return hash;
}

// An end that is open is not written: most ranges have one.
std::uint8_t range_flags(const Validity& valid) {
  return static_cast<std::uint8_t>((valid.from != kBeginning ? kHasFrom : 0) |
                                   (valid.until != kForever ? kHasUntil : 0));
}

void append_range(std::string& out, const Validity& valid) {
  if (valid.from != kBeginning) append_le(out, valid.from);
  if (valid.until != kForever) append_le(out, valid.until);
}

Validity read_range(RowReader& reader, std::uint8_t flags) {
  Validity valid;
  if ((flags & kHasFrom) != 0) valid.from = reader.read<Millis>();
  if ((flags & kHasUntil) != 0) valid.until = reader.read<Millis>();
  return valid;
}

// Flags that say what is not so would give one value two spellings.
bool spelt_as_written(const Validity& valid, std::uint8_t flags) {
  return range_flags(valid) == (flags & (kHasFrom | kHasUntil));
}

void append_value(std::string& out, const AttributeValue& value) {
  out += static_cast<char>(value.index());
  if (const auto* text = std::get_if<std::string>(&value)) append_text(out, *text);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) append_le(out, *whole);
  if (const auto* number = std::get_if<double>(&value)) append_le(out, *number);
  if (const auto* truth = std::get_if<bool>(&value)) out += static_cast<char>(*truth ? 1 : 0);
}

std::optional<AttributeValue> read_value(RowReader& reader) {
  switch (reader.read<std::uint8_t>()) {
    case 0: return std::string(reader.text());
    case 1: return reader.read<std::int64_t>();
    case 2: return reader.read<double>();
    case 3: {
      const auto byte = reader.read<std::uint8_t>();
      if (byte > 1) return {};
      return byte == 1;
    }
    default: return {};
  }
}

}  // namespace

std::string encode(const Counters& counters) {
  std::string out = new_row();
  append_varint(out, counters.last_lsn);
  append_varint(out, counters.trimmed);
  append_varint(out, counters.numbers);
  append_varint(out, counters.names);
  append_varint(out, counters.entities);
  append_varint(out, counters.edges);
  append_varint(out, counters.fragments);
  append_le(out, checksum(out));
  return out;
}

Result<Counters> decode_counters(std::string_view bytes) {
  KIN_TRY(RowReader reader, open_row(bytes, "counters"));
  Counters counters;
  counters.last_lsn = reader.varint();
  counters.trimmed = reader.varint();
  counters.numbers = reader.varint32();
  counters.names = reader.varint32();
  counters.entities = reader.varint();
  counters.edges = reader.varint();
  counters.fragments = reader.varint();
  const std::string_view before = bytes.substr(0, bytes.size() - reader.rest().size());
  const auto sum = reader.read<std::uint64_t>();
  if (!reader.done() || sum != checksum(before) || counters.trimmed > counters.last_lsn)
    return damaged("counters");
  return counters;
}

std::string encode(const HeadRow& row) {
  std::string out = new_row();
  out += static_cast<char>((row.deleted ? kDeleted : 0) | range_flags(row.head.valid));
  append_varint(out, static_cast<std::uint32_t>(row.head.partition));
  append_version(out, row.head.version);
  if (row.deleted) return out;
  append_le(out, static_cast<std::uint32_t>(row.head.number));
  append_version(out, row.born);
  append_range(out, row.head.valid);
  append_varint(out, static_cast<std::uint32_t>(row.source));
  append_varint(out, row.spaces.size());
  for (const NameId space : row.spaces) append_varint(out, static_cast<std::uint32_t>(space));
  append_varint(out, row.summaries.size());
  for (const Hash128& hash : row.summaries) append_hash(out, hash);
  return out;
}

Result<HeadRow> decode_head(std::string_view bytes) {
  KIN_TRY(RowReader reader, open_row(bytes, "entities"));
  HeadRow row;
  const auto flags = reader.read<std::uint8_t>();
  row.deleted = (flags & kDeleted) != 0;
  row.head.partition = PartitionId{reader.varint32()};
  row.head.version = read_version(reader);
  if (row.deleted) {
    if (flags != kDeleted || !reader.done()) return damaged("entities");
    return row;
  }
  row.head.number = DocNumber{reader.read<std::uint32_t>()};
  row.born = read_version(reader);
  row.head.valid = read_range(reader, flags);
  row.source = NameId{reader.varint32()};
  row.spaces.resize(reader.count());
  for (NameId& space : row.spaces) space = NameId{reader.varint32()};
  row.summaries.resize(reader.count());
  for (Hash128& hash : row.summaries) hash = read_hash(reader);
  const bool spelt = flags <= (kHasFrom | kHasUntil) && spelt_as_written(row.head.valid, flags);
  if (!reader.done() || !spelt) return damaged("entities");
  return row;
}

std::string encode(const ContentRow& row) {
  std::string out = new_row();
  out.reserve(row.text.size() + row.title.size() + row.key.size() + 64);
  append_text(out, row.key);
  append_text(out, row.title);
  append_text(out, row.text);
  append_varint(out, row.tags.size());
  for (const std::string& tag : row.tags) append_text(out, tag);
  append_varint(out, row.attributes.size());
  for (const AttributeRow& attribute : row.attributes) {
    append_varint(out, static_cast<std::uint32_t>(attribute.name));
    append_value(out, attribute.value);
  }
  return out;
}

Result<ContentRow> decode_content(std::string_view bytes) {
  KIN_TRY(RowReader reader, open_row(bytes, "contents"));
  ContentRow row;
  row.key = reader.text();
  row.title = reader.text();
  row.text = reader.text();
  row.tags.resize(reader.count());
  for (std::string& tag : row.tags) tag = reader.text();
  row.attributes.resize(reader.count());
  for (AttributeRow& attribute : row.attributes) {
    attribute.name = NameId{reader.varint32()};
    std::optional<AttributeValue> value = read_value(reader);
    if (!value) return damaged("contents");
    attribute.value = std::move(*value);
  }
  if (!reader.done()) return damaged("contents");
  return row;
}

std::string encode(const EdgeRow& row) {
  const Validity open{.until = row.until};
  std::string out = new_row();
  if (row.deleted) {
    out += static_cast<char>(kDeleted);
    append_version(out, row.version);
    return out;
  }
  out += static_cast<char>(range_flags(open) | (row.summary ? kHasSummary : 0));
  append_version(out, row.version);
  append_le(out, row.weight);
  append_range(out, open);
  if (!row.summary) return out;
  append_le(out, static_cast<std::uint32_t>(row.number));
  append_hash(out, *row.summary);
  return out;
}

Result<EdgeRow> decode_edge(std::string_view bytes) {
  KIN_TRY(RowReader reader, open_row(bytes, "forward_edges"));
  EdgeRow row;
  const auto flags = reader.read<std::uint8_t>();
  row.deleted = (flags & kDeleted) != 0;
  row.version = read_version(reader);
  if (row.deleted) {
    if (flags != kDeleted || !reader.done()) return damaged("forward_edges");
    return row;
  }
  row.weight = reader.read<double>();
  const Validity open = read_range(reader, flags);
  row.until = open.until;
  if ((flags & kHasSummary) != 0) {
    row.number = DocNumber{reader.read<std::uint32_t>()};
    row.summary = read_hash(reader);
  }
  const bool spelt = (flags & ~(kHasUntil | kHasSummary)) == 0 && spelt_as_written(open, flags);
  if (!reader.done() || !spelt) return damaged("forward_edges");
  return row;
}

std::string encode(const ReverseRow& row) {
  const Validity open{.until = row.until};
  std::string out = new_row();
  out += static_cast<char>(range_flags(open));
  append_le(out, row.weight);
  append_range(out, open);
  return out;
}

Result<ReverseRow> decode_reverse(std::string_view bytes) {
  KIN_TRY(RowReader reader, open_row(bytes, "reverse_edges"));
  ReverseRow row;
  const auto flags = reader.read<std::uint8_t>();
  row.weight = reader.read<double>();
  const Validity open = read_range(reader, flags);
  row.until = open.until;
  if (!reader.done() || (flags & ~kHasUntil) != 0 || !spelt_as_written(open, flags))
    return damaged("reverse_edges");
  return row;
}

std::string encode(const FragmentRow& row) {
  std::string out = new_row();
  append_version(out, row.version);
  append_le(out, static_cast<std::uint32_t>(row.number));
  out.append(row.text);
  return out;
}

Result<FragmentRow> decode_fragment(std::string_view bytes) {
  KIN_TRY(RowReader reader, open_row(bytes, "fragments"));
  FragmentRow row;
  row.version = read_version(reader);
  row.number = DocNumber{reader.read<std::uint32_t>()};
  if (!reader.ok()) return damaged("fragments");
  row.text = reader.rest();
  return row;
}

std::string encode(const DocumentRow& row) {
  std::string out = new_row();
  out += static_cast<char>(row.kind);
  out.append(row.key);
  return out;
}

Result<DocumentRow> decode_document(std::string_view bytes) {
  KIN_TRY(RowReader reader, open_row(bytes, "documents"));
  const auto kind = reader.read<std::uint8_t>();
  const std::string_view key = reader.rest();
  const auto has_key = [&] {
    switch (static_cast<DocKind>(kind)) {
      case DocKind::kEntity: return decode_entity_key(key).has_value();
      case DocKind::kEdge: return decode_forward_key(key).has_value();
      case DocKind::kEntityFragment: return decode_entity_fragment_key(key).has_value();
      case DocKind::kEdgeFragment: return decode_edge_fragment_key(key).has_value();
    }
    return false;
  };
  if (!reader.ok() || !has_key()) return damaged("documents");
  return DocumentRow{.kind = static_cast<DocKind>(kind), .key = std::string(key)};
}

std::string encode_vector(std::span<const float> values) {
  std::string out = new_row();
  out.append(as_bytes_view(values));
  return out;
}

Result<std::vector<float>> decode_vector(std::string_view bytes) {
  KIN_TRY(RowReader reader, open_row(bytes, "vectors"));
  const std::string_view rest = reader.rest();
  if (rest.empty() || rest.size() % sizeof(float) != 0 ||
      rest.size() / sizeof(float) > kMaxDimensions) {
    return damaged("vectors");
  }
  std::vector<float> values(rest.size() / sizeof(float));
  std::memcpy(values.data(), rest.data(), rest.size());
  return values;
}

std::string encode_name(std::string_view name) {
  return new_row().append(name);
}

Result<std::string> decode_name(std::string_view bytes) {
  KIN_TRY(const RowReader reader, open_row(bytes, "names"));
  return std::string(reader.rest());
}

std::string encode_summary_text(std::string_view text) {
  return new_row().append(text);
}

Result<std::string> decode_summary_text(std::string_view bytes) {
  KIN_TRY(const RowReader reader, open_row(bytes, "summaries"));
  return std::string(reader.rest());
}

std::string encode_summary_count(std::uint64_t count) {
  std::string out = new_row();
  append_varint(out, count);
  return out;
}

Result<std::uint64_t> decode_summary_count(std::string_view bytes) {
  KIN_TRY(RowReader reader, open_row(bytes, "summaries"));
  const std::uint64_t count = reader.varint();
  if (!reader.done() || count == 0) return damaged("summaries");
  return count;
}

}  // namespace kin::index
