// Finds exact duplicates, one record at a time, by the 128-bit hash of their texts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/ids.h"
#include "store/sorted_slots.h"
#include "text/normalize.h"

namespace kin::dedup {

// Whether a record repeats an earlier one, and which.
struct Verdict {
  bool duplicate = false;
  RecordId of = kNoRecord;  // the record that stays
  double similarity = 0;    // with that record
};

struct ExactDedupConfig {
  // Texts are compared after this normalisation. Nothing: byte for byte.
  std::optional<text::Normalization> normalization = std::nullopt;
};

// The first record with a text stays, later ones are duplicates of it. Memory: at most 24 bytes a
// record at any time, growth included, above a fixed 1.1 MiB; ids are dense. Thread-compatible;
// content_hash() may be called from many threads at any time.
class ExactDeduplicator {
 public:
  explicit ExactDeduplicator(ExactDedupConfig config = {});

  Verdict process_record(RecordId id, std::string_view text) {
    return process_hash(id, content_hash(text));
  }

  // The same in two steps, so that the first can be spread over threads.
  Hash128 content_hash(std::string_view text) const;
  Verdict process_hash(RecordId id, Hash128 hash);

  // The record that has this text, if there is one. Does not add anything.
  std::optional<RecordId> find(std::string_view text) const {
    return find_hash(content_hash(text));
  }

  // The number of different texts.
  std::uint64_t len() const { return count_; }
  void clear();
  std::size_t bytes() const;

 private:
  static constexpr int kTableBits = 8;
  static constexpr int kTagBits = 32;
  using Table = store::SortedSlots<kTagBits>;
  // The 88 bits of a hash that its position does not imply, by record.
  struct Chunk {
    static constexpr std::size_t kRecords = 4096;
    std::uint64_t low[kRecords];
    std::uint8_t rest[kRecords][3];
  };

  static std::size_t table_of(Hash128 hash) { return hash.high >> (64 - kTableBits); }
  static std::uint32_t tag_of(Hash128 hash) { return static_cast<std::uint32_t>(hash.high >> 24); }
  std::optional<RecordId> find_hash(Hash128 hash) const;
  bool holds(RecordId id, Hash128 hash) const;
  void keep(RecordId id, Hash128 hash);

  ExactDedupConfig config_;
  std::vector<Table> tables_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::uint64_t count_ = 0;
};

}  // namespace kin::dedup
