#include "dedup/against/against_dataset.h"

#include <fmt/format.h>

#include <optional>

namespace kin::dedup {
AgainstDataset::AgainstDataset(std::unique_ptr<data::Dataset> references,
                               std::unique_ptr<data::Dataset> inputs)
    : references_(std::move(references)),
      inputs_(std::move(inputs)),
      files_(references_->inputs()) {
  files_.insert(files_.end(), inputs_->inputs().begin(), inputs_->inputs().end());
}

void AgainstDataset::limit_memory(std::uint64_t bytes) {
  references_->limit_memory(bytes);
  inputs_->limit_memory(bytes);
}

Result<data::ScanEnd> AgainstDataset::scan(const data::ScanOptions& options,
                                           const data::Visitor& visitor) {
  if (options.start.file < reference_files()) {
    data::ScanOptions first = options;
    first.optional_columns = options.columns.size();
    KIN_TRY(const data::ScanEnd end, references_->scan(first, visitor));
    gather_skipped();
    if (!end.finished) return end;
    if (options.only == nullptr && !end.found.empty() && !end.found.front()) {
      return Error{Code::kNotFound,
                   fmt::format("{}: no reference has a field \"{}\" (references need the fields of "
                               "the inputs)",
                               files_.front().shown_as, options.columns.front())};
    }
  }
  return scan_inputs(options, visitor);
}

Result<data::ScanEnd> AgainstDataset::scan_inputs(const data::ScanOptions& options,
                                                  const data::Visitor& visitor) {
  const std::uint64_t rows = *reference_rows();
  const auto files = static_cast<std::uint32_t>(reference_files());
  data::ScanOptions second = options;
  second.start = {};
  if (options.start.file >= files) {
    second.start = options.start;
    second.start.file -= files;
    second.start.row -= rows;
  }
  RecordSet only;
  if (options.only != nullptr) {
    only = data::slice(*options.only, rows, options.only->size() - rows);
    second.only = &only;
  }
  const auto shift = [&](const data::Batch& batch, int worker) {
    const data::BatchContent content = batch.shifted(rows, files);
    return visitor(data::Batch(content), worker);
  };
  KIN_TRY(data::ScanEnd end, inputs_->scan(second, shift));
  gather_skipped();
  end.position.file += files;
  end.position.row += rows;
  return end;
}

std::optional<std::uint64_t> AgainstDataset::rows() const {
  const auto first = references_->rows();
  const auto second = inputs_->rows();
  if (!first || !second) return {};
  return *first + *second;
}

std::vector<std::uint64_t> AgainstDataset::first_rows() const {
  std::vector<std::uint64_t> all = references_->first_rows();
  const auto rows = reference_rows();
  if (!rows) return all;
  for (const std::uint64_t row : inputs_->first_rows()) all.push_back(row + *rows);
  return all;
}

void AgainstDataset::gather_skipped() {
  constexpr std::size_t kMessages = 100;
  skipped_ = references_->skipped();
  const data::SkippedRecords& more = inputs_->skipped();
  const std::uint64_t rows = reference_rows().value_or(0);
  skipped_.count += more.count;
  for (const auto& [row, message] : more.messages) {
    if (skipped_.messages.size() < kMessages)
      skipped_.messages.emplace_back(record_id(row_number(row) + rows), message);
  }
  for (const RecordId row : more.rows) skipped_.rows.push_back(record_id(row_number(row) + rows));
}

data::ScanMemory AgainstDataset::memory() const {
  return {.first_rows = first_rows(), .rows = rows(), .skipped = skipped_};
}

// The first row of the inputs tells where the references end.
void AgainstDataset::restore(data::ScanMemory memory) {
  const std::size_t files = reference_files();
  data::ScanMemory first;
  data::ScanMemory second;
  const bool complete = memory.first_rows.size() > files;
  const std::uint64_t rows = complete ? memory.first_rows[files] : UINT64_MAX;
  for (std::size_t i = 0; i < memory.first_rows.size(); ++i) {
    if (i < files) {
      first.first_rows.push_back(memory.first_rows[i]);
    } else {
      second.first_rows.push_back(memory.first_rows[i] - rows);
    }
  }
  if (complete) first.rows = rows;
  if (memory.rows) second.rows = *memory.rows - rows;
  const auto add = [&](RecordId row, auto&& put) {
    const bool own = row_number(row) < rows;
    put(own ? first.skipped : second.skipped, own ? row : record_id(row_number(row) - rows));
  };
  for (const RecordId row : memory.skipped.rows) {
    add(row, [](data::SkippedRecords& to, RecordId own) {
      to.rows.push_back(own);
      ++to.count;
    });
  }
  for (const auto& [row, message] : memory.skipped.messages) {
    add(row,
        [&](data::SkippedRecords& to, RecordId own) { to.messages.emplace_back(own, message); });
  }
  references_->restore(std::move(first));
  inputs_->restore(std::move(second));
  gather_skipped();
}

Result<std::pair<data::StagedOutput, data::WriteReport>> AgainstDataset::write_staged(
    const RecordSet& keep, const std::filesystem::path& output, const data::WriteOptions& options) {
  const std::uint64_t rows = *reference_rows();
  data::WriteOptions how = options;
  std::optional<data::ShiftedEdits> edits;
  if (options.edits != nullptr) {
    edits.emplace(*options.edits, rows);
    how.edits = &*edits;
  }
  return inputs_->write_staged(data::slice(keep, rows, keep.size() - rows), output, how);
}

}  // namespace kin::dedup
