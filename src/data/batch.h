// Some records of one input, as a scan gives them to a visitor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace kin::data {

// The id of a row. Reading fails for inputs with more rows than there are ids.
constexpr RecordId record_at(std::uint64_t row) {
  return RecordId(static_cast<std::uint32_t>(row));
}

// The content of a batch, filled by the readers.
struct BatchContent {
  std::vector<RecordId> rows;
  // The line of each record, or its row in the file if the format has no lines.
  std::vector<std::uint64_t> places;
  // By column, then by record; a view without data is a null.
  std::vector<std::vector<std::string_view>> values;
  std::string_view shown_as;
  bool has_lines = true;
  std::uint32_t file = 0;
  std::uint64_t bytes = 0;
};

// Views and the batch itself are valid during the visitor's call only. Thread-compatible.
class Batch {
 public:
  explicit Batch(const BatchContent& content) : content_(content) {}
  Batch(const Batch&) = delete;

  std::size_t size() const { return content_.rows.size(); }
  RecordId row(std::size_t i) const { return content_.rows[i]; }
  // Valid UTF-8; nothing if the value is null.
  std::optional<std::string_view> value(std::size_t column, std::size_t i) const {
    const std::string_view text = content_.values[column][i];
    if (text.data() == nullptr) return {};
    return text;
  }
  // "a.jsonl:412" or "a.parquet: row 17", for messages. Lines count from 1, rows of a file from 0.
  std::string where(std::size_t i) const;
  // The content with row and file numbers increased, for a dataset made of two. Its views are those
  // of this batch.
  BatchContent shifted(std::uint64_t rows, std::uint32_t files) const {
    BatchContent content = content_;
    for (RecordId& row : content.rows) row = record_at(row_number(row) + rows);
    content.file += files;
    return content;
  }
  // The number of the input.
  std::uint32_t file() const { return content_.file; }
  // The bytes of the input on disk that the batch covers; for progress.
  std::uint64_t bytes() const { return content_.bytes; }
  // For readers that combine datasets.
  const BatchContent& content() const { return content_; }

 private:
  const BatchContent& content_;
};

}  // namespace kin::data
