#include "index/shard/checkpoint.h"

#include "base/hash.h"
#include "index/truth/entity_bytes.h"

namespace kin::index {
namespace {

constexpr std::string_view kMagic = "KINSHARD";
constexpr std::uint32_t kVersion = 1;

Error damaged() {
  return {Code::kDataLoss, "the record of a shard's checkpoint is damaged"};
}

void append_sequences(std::string& out, const std::vector<std::uint64_t>& sequences) {
  append_varint(out, sequences.size());
  for (const std::uint64_t sequence : sequences) append_varint(out, sequence);
}

std::vector<std::uint64_t> read_sequences(RowReader& reader) {
  std::vector<std::uint64_t> sequences(reader.count());
  for (std::uint64_t& sequence : sequences) sequence = reader.varint();
  return sequences;
}

// Ascending numbers, written as differences.
void append_retired(std::string& out, const std::vector<std::uint32_t>& numbers) {
  append_varint(out, numbers.size());
  std::uint32_t last = 0;
  for (const std::uint32_t number : numbers) {
    append_varint(out, number - last);
    last = number;
  }
}

// False if they do not ascend or are too large.
bool read_retired(RowReader& reader, std::vector<std::uint32_t>& numbers) {
  const std::size_t count = reader.count();
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t gap = reader.varint32();
    last += gap;
    // Only the first number may be 0; a later gap of 0 would name a number twice.
    if (last > 0xFFFFFFFFU || (i > 0 && gap == 0)) return false;
    numbers.push_back(static_cast<std::uint32_t>(last));
  }
  return true;
}

}  // namespace

std::string encode(const ShardCheckpoint& checkpoint) {
  std::string out(kMagic);
  append_le(out, kVersion);
  append_varint(out, checkpoint.applied);
  append_varint(out, checkpoint.sequence);
  append_varint(out, checkpoint.spaces.size());
  for (const SpaceRecord& space : checkpoint.spaces) {
    append_text(out, space.name);
    append_le(out, space.options_hash);
    append_retired(out, space.retired);
    append_sequences(out, space.sequences);
  }
  append_varint(out, checkpoint.near_duplicates ? 1 : 0);
  if (checkpoint.near_duplicates) {
    append_le(out, checkpoint.near_duplicates->options_hash);
    append_sequences(out, checkpoint.near_duplicates->sequences);
  }
  append_le(out, checksum(out));
  return out;
}

Result<ShardCheckpoint> decode_shard_checkpoint(std::string_view bytes) {
  if (bytes.size() < kMagic.size() + 12) return damaged();
  const std::string_view body = bytes.substr(0, bytes.size() - 8);
  if (load_le<std::uint64_t>(bytes.data() + body.size()) != checksum(body)) return damaged();
  RowReader reader(body);
  // Another version counts as damage: everything is rebuilt from the truth.
  if (reader.bytes(kMagic.size()) != kMagic || reader.read<std::uint32_t>() != kVersion)
    return damaged();
  ShardCheckpoint checkpoint;
  checkpoint.applied = reader.varint();
  checkpoint.sequence = reader.varint();
  const std::size_t spaces = reader.count();
  for (std::size_t i = 0; i < spaces && reader.ok(); ++i) {
    SpaceRecord& space = checkpoint.spaces.emplace_back();
    space.name = reader.text();
    space.options_hash = reader.read<std::uint64_t>();
    if (!read_retired(reader, space.retired)) return damaged();
    space.sequences = read_sequences(reader);
  }
  if (reader.varint_up_to(1) == 1) {
    checkpoint.near_duplicates.emplace();
    checkpoint.near_duplicates->options_hash = reader.read<std::uint64_t>();
    checkpoint.near_duplicates->sequences = read_sequences(reader);
  }
  if (!reader.done()) return damaged();
  return checkpoint;
}

}  // namespace kin::index
