#include "dedup/exact_deduplicator.h"

#include <cstring>
#include <string>

#include "base/check.h"

namespace kin::dedup {

ExactDeduplicator::ExactDeduplicator(ExactDedupConfig config)
    : config_(config), tables_(std::size_t{1} << kTableBits) {}

Hash128 ExactDeduplicator::content_hash(std::string_view text) const {
  if (!config_.normalization) return hash128(text);
  std::string normalized;
  text::normalize(text, *config_.normalization, normalized);
  return hash128(normalized);
}

Verdict ExactDeduplicator::process_hash(RecordId id, Hash128 hash) {
  KIN_CHECK(id != kNoRecord, "a verdict needs the id of a record");
  if (const auto there = find_hash(hash)) return {.duplicate = true, .of = *there, .similarity = 1};
  keep(id, hash);
  return {};
}

std::optional<RecordId> ExactDeduplicator::find_hash(Hash128 hash) const {
  for (const std::uint64_t slot : tables_[table_of(hash)].find(tag_of(hash))) {
    const auto id = RecordId(static_cast<std::uint32_t>(Table::payload_of(slot)));
    if (holds(id, hash)) return id;
  }
  return std::nullopt;
}

bool ExactDeduplicator::holds(RecordId id, Hash128 hash) const {
  const Chunk& chunk = *chunks_[row_number(id) / Chunk::kRecords];
  const std::size_t at = row_number(id) % Chunk::kRecords;
  return chunk.low[at] == hash.low &&
         std::memcmp(chunk.rest[at], &hash.high, sizeof chunk.rest[at]) == 0;
}

void ExactDeduplicator::keep(RecordId id, Hash128 hash) {
  const std::size_t number = row_number(id) / Chunk::kRecords;
  if (number >= chunks_.size()) chunks_.resize(number + 1);
  if (!chunks_[number]) chunks_[number] = std::make_unique<Chunk>();
  const std::size_t at = row_number(id) % Chunk::kRecords;
  chunks_[number]->low[at] = hash.low;
  std::memcpy(chunks_[number]->rest[at], &hash.high, sizeof chunks_[number]->rest[at]);
  tables_[table_of(hash)].insert(tag_of(hash), static_cast<std::uint32_t>(id));
  ++count_;
}

void ExactDeduplicator::clear() {
  for (Table& table : tables_) table.clear();
  chunks_.clear();
  count_ = 0;
}

std::size_t ExactDeduplicator::bytes() const {
  std::size_t total = tables_.capacity() * sizeof(Table) + chunks_.capacity() * sizeof(chunks_[0]);
  for (const Table& table : tables_) total += table.bytes();
  for (const auto& chunk : chunks_) total += chunk ? sizeof(Chunk) : 0;
  return total;
}

}  // namespace kin::dedup
