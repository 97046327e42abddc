#include "data/text/scan.h"

#include <fmt/format.h>

#include <algorithm>

namespace kin::data {

void FirstFailure::add(std::uint64_t place, Error error) {
  const std::scoped_lock lock(mutex_);
  if (!error_ || place < place_) {
    place_ = place;
    error_ = std::move(error);
  }
  any_ = true;
}

Status FirstFailure::status() const {
  const std::scoped_lock lock(mutex_);
  if (error_) return *error_;
  return Done{};
}

BlockScanner::BlockScanner(const ScanOptions& options, std::span<const Input> inputs,
                           std::unique_ptr<RecordReader> reader, SkipLog& skipped)
    : options_(options), inputs_(inputs), reader_(std::move(reader)), skipped_(skipped) {
  content_.values.resize(options.columns.size());
  values_.resize(options.columns.size());
}

Result<const BatchContent*> BlockScanner::read(const Block& block) {
  begin(block);
  for (std::size_t i = 0; i < block.records.size(); ++i) KIN_RETURN_IF_ERROR(add(block, i));
  return &content_;
}

void BlockScanner::begin(const Block& block) {
  arena_.clear();
  content_.rows.clear();
  content_.places.clear();
  for (auto& column : content_.values) column.clear();
  content_.shown_as = inputs_[block.file].shown_as;
  content_.has_lines = !inputs_[block.file].array;
  content_.file = block.file;
  content_.bytes = block.input_bytes;
  std::size_t wanted = block.records.size();
  if (options_.only != nullptr) {
    wanted = 0;
    for (std::size_t i = 0; i < block.records.size(); ++i) {
      wanted += options_.only->contains(record_at(block.first_row + i));
    }
  }
  if (wanted * 2 > block.records.size()) {
    reader_->begin_block(block);
  } else {
    reader_->begin_sparse_block(block);
  }
}

void BlockScanner::add_found(std::vector<bool>& found) const {
  for (std::size_t i = 0; i < found.size(); ++i) found[i] = found[i] || reader_->ever_found(i);
}

// The lines of a converted array are not lines of its file, so the message gives row and byte.
std::string BlockScanner::where(const Block& block, std::size_t record) const {
  const Input& input = inputs_[block.file];
  const std::uint64_t line = block.first_line + block.records[record].line;
  if (!input.array) return fmt::format("{}:{}", input.shown_as, line);
  return fmt::format("{}: row {}, byte {}", input.shown_as, line - 1,
                     block.offset + block.records[record].begin);
}

Status BlockScanner::add(const Block& block, std::size_t record) {
  const RecordId row = record_at(block.first_row + record);
  if (options_.only != nullptr && !options_.only->contains(row)) return Done{};
  if (skipped_.contains(row)) return Done{};
  if (auto problem = reader_->read(block.text(block.records[record]), arena_, values_.data())) {
    std::string message = fmt::format("{}: {}", where(block, record), problem->why);
    if (options_.on_error == OnError::kFail) {
      if (problem->kind == RecordProblem::Kind::kMalformed)
        message += " (fix the line, or use --on-error skip)";
      return Error{Code::kInvalidArgument, std::move(message)};
    }
    skipped_.add(row, std::move(message));
    return Done{};
  }
  content_.rows.push_back(row);
  const std::uint64_t line = block.first_line + block.records[record].line;
  content_.places.push_back(inputs_[block.file].array ? line - 1 : line);
  for (std::size_t i = 0; i < values_.size(); ++i) content_.values[i].push_back(values_[i]);
  return Done{};
}

}  // namespace kin::data
