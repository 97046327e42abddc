// Changes that an output makes to the records it keeps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace kin::data {

// Adds columns to records, and replaces texts in them. Everything else is written as it was read.
// Implementations are thread-safe: writers call from several threads, in any order, and the answers
// must not depend on that order.
class RecordEdits {
 public:
  using Value = std::variant<std::int64_t, double, bool, std::string>;
  enum class Type { kInteger, kReal, kBoolean, kText };  // in the order of Value
  struct Column {
    std::string name;
    Type type = Type::kText;
  };

  virtual ~RecordEdits() = default;

  // Columns that every record gets, behind its own. Writing fails if a record has one of these
  // names already.
  virtual const std::vector<Column>& added() const = 0;
  // The value of added()[column]; nothing for null.
  virtual std::optional<Value> added_value(std::size_t column, RecordId record) const = 0;

  // Columns, or paths into records as in ScanOptions::columns, whose texts may change.
  virtual const std::vector<std::string>& replaced() const = 0;
  // Puts the new text of replaced()[column] into `text`. False: the record keeps `old`. Not called
  // for nulls and records without the column.
  virtual Result<bool> replace(std::size_t column, RecordId record, std::string_view old,
                               std::string& text) const = 0;
};

// The same edits for a part of the records, whose rows count from 0. Borrows `edits`. Thread-safe.
class ShiftedEdits : public RecordEdits {
 public:
  ShiftedEdits(const RecordEdits& edits, std::uint64_t first_row)
      : edits_(edits), first_row_(first_row) {}

  const std::vector<Column>& added() const override { return edits_.added(); }
  std::optional<Value> added_value(std::size_t column, RecordId record) const override {
    return edits_.added_value(column, shifted(record));
  }
  const std::vector<std::string>& replaced() const override { return edits_.replaced(); }
  Result<bool> replace(std::size_t column, RecordId record, std::string_view old,
                       std::string& text) const override {
    return edits_.replace(column, shifted(record), old, text);
  }

 private:
  RecordId shifted(RecordId record) const { return record_id(first_row_ + row_number(record)); }
  const RecordEdits& edits_;
  std::uint64_t first_row_;
};

}  // namespace kin::data
