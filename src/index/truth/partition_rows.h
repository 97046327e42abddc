// The rows of a partition, in the order of exports.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "index/record.h"
#include "index/truth/entity_keys.h"
#include "index/truth/view.h"

namespace kin::index {

// Walks the rows by entity, then by family, then by key. One thread only; the view outlives it.
class PartitionRows {
 public:
  // Nothing: all buckets.
  PartitionRows(const TruthView& view, PartitionId partition, std::optional<std::uint8_t> bucket);

  // Goes on after the row that position() named.
  Status resume(std::string_view position);
  // Goes on after all rows of this entity.
  void skip_past(const DocId& id);
  // The next row of the partition is at cursor(); false at the end, and where it stopped.
  Result<bool> next();
  // Stops behind the entity, which is id() then, that makes so many of other partitions.
  void stop_after(std::size_t passed) {
    passed_ = 0;
    most_passed_ = passed;
  }
  bool has_stopped() const { return passed_ >= most_passed_; }

  const kv::Cursor& cursor() const { return cursors_[*current_]; }
  kv::Family family() const { return kRecordFamilies[*current_]; }
  DocId id() const { return *decode_entity_key(id_); }
  std::string position() const;

 private:
  // Nothing: past the last key.
  void seek(std::size_t cursor, const std::optional<std::string>& key);
  Status find_least();
  Status see_entity(std::string id);
  Result<std::optional<std::string>> head_row() const;
  void skip_entity();

  const TruthView& view_;
  PartitionId partition_;
  std::optional<std::uint8_t> bucket_;
  std::vector<kv::Cursor> cursors_;     // of kRecordFamilies
  std::optional<std::size_t> current_;  // the cursor with the least key
  std::string id_;                      // of the entity that the row belongs to
  bool is_member_ = false;              // whether that is in the partition
  std::size_t passed_ = 0;              // entities of other partitions
  std::size_t most_passed_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace kin::index
