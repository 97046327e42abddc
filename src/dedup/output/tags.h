// Columns that tell which records a run would remove.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "data/edits.h"
#include "dedup/groups/grouping.h"

namespace kin::dedup {

// Adds four columns to every record, with a prefix: "group" (the row of the record that stays, -1 -
// row for a reference, null for a record without duplicates), "kept", "similarity" (with the record
// that stays, for a record that would be removed; else null) and "duplicates" (the number of
// records of its group that would be removed). Borrows the removals, which must be sorted by
// record.
class Tags final : public data::RecordEdits {
 public:
  // The first `references` rows are references.
  Tags(std::string_view prefix, const std::vector<Removal>& removals, std::uint64_t references);

  const std::vector<Column>& added() const override { return added_; }
  std::optional<Value> added_value(std::size_t column, RecordId record) const override;
  const std::vector<std::string>& replaced() const override { return replaced_; }
  Result<bool> replace(std::size_t, RecordId, std::string_view, std::string&) const override {
    return false;
  }

 private:
  const Removal* removal_of(RecordId record) const;
  std::int64_t duplicates_of(RecordId kept) const;

  std::vector<Column> added_;
  std::vector<std::string> replaced_;
  const std::vector<Removal>& removals_;
  std::int64_t references_;
  std::vector<std::pair<RecordId, std::uint32_t>> counts_;  // of removals by kept record, sorted
};

}  // namespace kin::dedup
