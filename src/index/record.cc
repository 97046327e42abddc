#include "index/record.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/hash.h"
#include "index/mutation.h"
#include "index/truth/entity_bytes.h"
#include "index/truth/entity_format.h"

namespace kin::index {
namespace {

// Unlike the rows of a shard, records have names and summaries in full: another shard has other
// numbers for the names, and may lack the summaries.
constexpr std::string_view kMagic = "KINRECRD";
constexpr std::uint32_t kVersion = 1;

// Written in the format: the numbers stay.
enum Kind : std::uint8_t { kEntity, kEdge, kEntityFragment, kEdgeFragment, kOwner };

Error damaged() {
  return {Code::kDataLoss, "a batch of records is damaged"};
}

// A tombstone has no period, so its flag stands alone.
std::uint8_t flags_of(bool deleted, const Validity& valid) {
  return deleted ? std::uint8_t{kDeleted} : range_flags(valid);
}

void append_head(std::string& out, Kind kind, std::uint8_t flags) {
  out += static_cast<char>(kind);
  out += static_cast<char>(flags);
}

void append_texts(std::string& out, const std::vector<std::string>& texts) {
  append_varint(out, texts.size());
  for (const std::string& text : texts) append_text(out, text);
}

std::vector<std::string> read_texts(RowReader& reader) {
  std::vector<std::string> texts(reader.count());
  for (std::string& text : texts) text = reader.text();
  return texts;
}

void append(std::string& out, const EntityRecord& record) {
  const Entity& entity = record.entity;
  append_head(out, kEntity, flags_of(record.deleted, entity.valid));
  append_id(out, entity.id);
  append_version(out, record.version);
  append_varint(out, static_cast<std::uint32_t>(record.partition));
  append_version(out, record.assigned);
  if (record.deleted) return;
  append_range(out, entity.valid);
  append_text(out, entity.key);
  append_text(out, entity.source);
  append_text(out, entity.title);
  append_text(out, entity.text);
  append_texts(out, entity.tags);
  append_varint(out, entity.attributes.size());
  for (const Attribute& attribute : entity.attributes) {
    append_text(out, attribute.name);
    append_value(out, attribute.value);
  }
  append_varint(out, entity.vectors.size());
  for (const SpaceVector& vector : entity.vectors) {
    append_text(out, vector.space);
    append_text(out, as_bytes_view(std::span<const float>(vector.values)));
  }
  append_texts(out, entity.summaries);
}

Result<Record> read_entity(RowReader& reader, std::uint8_t flags) {
  EntityRecord record{.deleted = flags == kDeleted};
  Entity& entity = record.entity;
  entity.id = read_id(reader);
  record.version = read_version(reader);
  record.partition = PartitionId{reader.varint32()};
  record.assigned = read_version(reader);
  if (record.deleted) return Record(std::move(record));
  entity.valid = read_range(reader, flags);
  if (range_flags(entity.valid) != flags) return damaged();  // equal states have equal bytes
  entity.key = reader.text();
  entity.source = reader.text();
  entity.title = reader.text();
  entity.text = reader.text();
  entity.tags = read_texts(reader);
  entity.attributes.resize(reader.count());
  for (Attribute& attribute : entity.attributes) {
    attribute.name = reader.text();
    std::optional<AttributeValue> value = read_value(reader);
    if (!value) return damaged();
    attribute.value = std::move(*value);
  }
  entity.vectors.resize(reader.count());
  for (SpaceVector& vector : entity.vectors) {
    vector.space = reader.text();
    // to_vector() refuses lengths that are not whole numbers of floats.
    const auto values = to_vector(reader.text());
    if (!values) return damaged();
    vector.values = *values;
  }
  entity.summaries = read_texts(reader);
  return Record(std::move(record));
}

void append(std::string& out, const EdgeRecord& record) {
  const Edge& edge = record.edge;
  // Where an edge begins is part of its id, so only its end is written as a period.
  const Validity open{.until = edge.until};
  append_head(out, kEdge, flags_of(record.deleted, open));
  append_id(out, edge.id.from);
  append_text(out, edge.id.name);
  append_id(out, edge.id.to);
  append_le(out, edge.id.since);
  append_version(out, record.version);
  if (record.deleted) return;
  append_range(out, open);
  append_le(out, edge.weight);
  append_text(out, edge.summary);
}

Result<Record> read_edge(RowReader& reader, std::uint8_t flags) {
  EdgeRecord record{.deleted = flags == kDeleted};
  Edge& edge = record.edge;
  edge.id.from = read_id(reader);
  edge.id.name = reader.text();
  edge.id.to = read_id(reader);
  edge.id.since = reader.read<Millis>();
  record.version = read_version(reader);
  if (record.deleted) return Record(std::move(record));
  const Validity open = read_range(reader, flags);
  if (range_flags(open) != flags || open.from != kBeginning) return damaged();
  edge.until = open.until;
  edge.weight = reader.read<double>();
  edge.summary = reader.text();
  return Record(std::move(record));
}

void append(std::string& out, const FragmentRecord& record) {
  // An edge has a name, so an empty one means a fragment of an entity.
  const bool of_edge = !record.name.empty();
  append_head(out, of_edge ? kEdgeFragment : kEntityFragment, flags_of(record.deleted, {}));
  append_id(out, record.id);
  if (of_edge) {
    append_text(out, record.name);
    append_id(out, record.to);
  }
  append_le(out, record.fragment.time);
  append_version(out, record.version);
  // The hash of the text is part of the fragment's identity. A tombstone has no text to hash.
  if (record.deleted)
    append_le(out, record.content);
  else
    append_text(out, record.fragment.text);
}

Result<Record> read_fragment(RowReader& reader, std::uint8_t flags, bool of_edge) {
  FragmentRecord record{.deleted = flags == kDeleted};
  if (flags > kDeleted) return damaged();  // fragments have no period
  record.id = read_id(reader);
  if (of_edge) {
    record.name = reader.text();
    record.to = read_id(reader);
    if (record.name.empty()) return damaged();  // it would be taken for one of an entity
  }
  record.fragment.time = reader.read<Millis>();
  record.version = read_version(reader);
  if (record.deleted) {
    record.content = reader.read<std::uint64_t>();
  } else {
    record.fragment.text = reader.text();
    record.content = hash64(record.fragment.text);
  }
  return Record(std::move(record));
}

void append(std::string& out, const OwnerRecord& record) {
  append_head(out, kOwner, 0);
  append_varint(out, static_cast<std::uint32_t>(record.partition));
  append_varint(out, record.epoch);
}

Result<Record> read_owner(RowReader& reader, std::uint8_t flags) {
  if (flags != 0) return damaged();
  const PartitionId partition{reader.varint32()};
  return Record(OwnerRecord{.partition = partition, .epoch = reader.varint()});
}

Result<Record> read_record(RowReader& reader) {
  const auto kind = reader.read<std::uint8_t>();
  const auto flags = reader.read<std::uint8_t>();
  switch (static_cast<Kind>(kind)) {
    case kEntity: return read_entity(reader, flags);
    case kEdge: return read_edge(reader, flags);
    case kEntityFragment: return read_fragment(reader, flags, false);
    case kEdgeFragment: return read_fragment(reader, flags, true);
    case kOwner: return read_owner(reader, flags);
  }
  return damaged();
}

// A tombstone has an id and a version, and no contents to check.
struct Check {
  Status operator()(const EntityRecord& record) const {
    return record.deleted ? Status(Done{}) : check_entity(record.entity);
  }
  Status operator()(const EdgeRecord& record) const {
    return record.deleted ? check_edge_name(record.edge.id.name) : check_edge(record.edge);
  }
  Status operator()(const FragmentRecord& record) const {
    if (!record.deleted && record.content != hash64(record.fragment.text))
      return Error{Code::kInvalidArgument, "the hash of a fragment is not that of its text"};
    return check_fragment(record.fragment);
  }
  Status operator()(const OwnerRecord&) const { return Done{}; }
};

// Ids, versions and other numbers of a record, about.
constexpr std::size_t kFixedBytes = 64;

struct SizeOf {
  std::size_t operator()(const EntityRecord& record) const {
    const Entity& entity = record.entity;
    std::size_t bytes = kFixedBytes + entity.key.size() + entity.source.size() +
                        entity.title.size() + entity.text.size();
    for (const std::string& tag : entity.tags) bytes += 1 + tag.size();
    for (const Attribute& one : entity.attributes) {
      const auto* text = std::get_if<std::string>(&one.value);
      bytes += 10 + one.name.size() + (text == nullptr ? 0 : text->size());
    }
    for (const SpaceVector& vector : entity.vectors)
      bytes += 4 + vector.space.size() + vector.values.size() * sizeof(float);
    for (const std::string& summary : entity.summaries) bytes += 1 + summary.size();
    return bytes;
  }
  std::size_t operator()(const EdgeRecord& record) const {
    return kFixedBytes + record.edge.id.name.size() + record.edge.summary.size();
  }
  std::size_t operator()(const FragmentRecord& record) const {
    return kFixedBytes + record.name.size() + record.fragment.text.size();
  }
  std::size_t operator()(const OwnerRecord&) const { return kFixedBytes; }
};

}  // namespace

Status check(const Record& record) {
  return std::visit(Check{}, record);
}

void append_record(std::string& out, const Record& record) {
  std::visit([&](const auto& one) { append(out, one); }, record);
}

std::size_t size_of(const Record& record) {
  return std::visit(SizeOf{}, record);
}

std::uint64_t size_of(std::span<const Record> records) {
  std::uint64_t bytes = 0;
  for (const Record& record : records) bytes += size_of(record);
  return bytes;
}

std::uint64_t live_entities_in(std::span<const Record> records) {
  return static_cast<std::uint64_t>(std::ranges::count_if(records, [](const Record& one) {
    const auto* entity = std::get_if<EntityRecord>(&one);
    return entity != nullptr && !entity->deleted;
  }));
}

std::string encode(std::span<const Record> records) {
  std::string out(kMagic);
  append_le(out, kVersion);
  append_varint(out, records.size());
  for (const Record& record : records) append_record(out, record);
  append_le(out, checksum(out));
  return out;
}

Result<std::vector<Record>> decode_records(std::string_view bytes) {
  if (bytes.size() < kMagic.size() + 12 || !bytes.starts_with(kMagic)) return damaged();
  // The checksum comes first: a batch is applied as a whole, so damage anywhere refuses all of it.
  const std::string_view body = bytes.substr(0, bytes.size() - 8);
  if (load_le<std::uint64_t>(bytes.data() + body.size()) != checksum(body)) return damaged();
  RowReader reader(body.substr(kMagic.size()));
  if (const auto version = reader.read<std::uint32_t>(); version != kVersion)
    return Error{Code::kFailedPrecondition,
                 fmt::format("a batch of records has version {}, and this program reads version {}",
                             version, kVersion)};
  const std::size_t count = reader.count();
  std::vector<Record> records;
  // The count is not trusted: it is only bounded by the bytes that follow.
  records.reserve(std::min<std::size_t>(count, 10'000));
  for (std::size_t i = 0; i < count && reader.ok(); ++i) {
    KIN_TRY(Record record, read_record(reader));
    records.push_back(std::move(record));
  }
  if (!reader.done()) return damaged();
  return records;
}

}  // namespace kin::index
