#include "search/document_files.h"

#include <fmt/format.h>

#include "data/block_reader.h"
#include "data/dataset.h"
#include "data/input.h"

namespace kin::search {
namespace {

Error refusal(const std::string& where, const Error& error) {
  return {error.code,
          fmt::format("{}: {} (--on-error skip leaves such records out)", where, error.message)};
}

// Gathers documents into batches.
class Gatherer {
 public:
  Gatherer(const FilesOptions& options, FilesProgress& progress, const TakeDocuments& take)
      : options_(options), progress_(progress), take_(take) {}

  // `where` gives the document's origin, for messages.
  template <typename Where>
  Status add(Result<Document> document, const Where& where) {
    if (!document) {
      if (!options_.skip_errors) return refusal(where(), document.error());
      ++progress_.skipped;
      return Done{};
    }
    batch_.push_back(std::move(*document));
    places_.push_back(where());
    return batch_.size() >= options_.batch ? flush() : Status(Done{});
  }

  Status flush() {
    if (batch_.empty()) return Done{};
    // A batch is accepted as a whole or not at all. If its contents are refused, each document is
    // checked by itself, and the valid ones are offered again.
    Status taken = take_(batch_);
    if (!taken.ok() && taken.error().code == Code::kInvalidArgument && options_.check) {
      KIN_TRY(const bool left_out, leave_out_wrong());
      if (left_out) taken = take_(batch_);
    }
    KIN_RETURN_IF_ERROR(taken);
    progress_.documents += batch_.size();
    batch_.clear();
    places_.clear();
    return Done{};
  }

 private:
  // True if invalid documents were left out; an error, unless errors are skipped.
  Result<bool> leave_out_wrong() {
    std::vector<Document> sound;
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      const Status checked = options_.check(batch_[i]);
      if (checked.ok()) {
        sound.push_back(std::move(batch_[i]));
      } else if (!options_.skip_errors) {
        return refusal(places_[i], checked.error());
      }
    }
    const std::size_t wrong = batch_.size() - sound.size();
    progress_.skipped += wrong;
    batch_ = std::move(sound);
    return wrong > 0;
  }

  const FilesOptions& options_;
  FilesProgress& progress_;
  const TakeDocuments& take_;
  std::vector<Document> batch_;
  std::vector<std::string> places_;  // where each is from
};

Result<Document> document_in(std::string_view line) {
  KIN_TRY(const data::JsonValue json, data::parse_json(line));
  return document_of(json);
}

Status read_lines(const std::vector<data::Input>& inputs, FilesProgress& progress,
                  Gatherer& gatherer) {
  data::BlockReader reader(inputs, {});
  data::Block block;
  while (true) {
    KIN_TRY(const bool more, reader.next(block));
    if (!more) return Done{};
    for (const data::Block::Record& record : block.records) {
      const auto where = [&] {
        return fmt::format("{}:{}", inputs[block.file].shown_as, block.first_line + record.line);
      };
      KIN_RETURN_IF_ERROR(gatherer.add(document_in(block.text(record)), where));
    }
    progress.bytes_done += block.input_bytes;
  }
}

Result<Document> document_in(const std::vector<std::string>& columns, const data::Batch& batch,
                             std::size_t record) {
  Row row;
  for (std::size_t column = 0; column < columns.size(); ++column)
    if (const auto value = batch.value(column, record))
      row.emplace_back(columns[column], std::string(*value));
  return document_of(row);
}

Status read_rows(std::vector<data::Input> inputs, const FilesOptions& options,
                 FilesProgress& progress, Gatherer& gatherer) {
  KIN_TRY(const auto dataset,
          data::Dataset::open(std::move(inputs), {.temporary_folder = options.temporary_folder}));
  KIN_TRY(const std::vector<std::string> columns, dataset->columns());
  // Every column is optional: rows of files with different columns are documents too.
  data::ScanOptions scan{.columns = columns, .optional_columns = columns.size()};
  if (options.skip_errors) scan.on_error = data::OnError::kSkip;
  const auto visit = [&](const data::Batch& batch, int) -> Status {
    for (std::size_t i = 0; i < batch.size(); ++i)
      KIN_RETURN_IF_ERROR(
          gatherer.add(document_in(columns, batch, i), [&] { return batch.where(i); }));
    progress.bytes_done += batch.bytes();
    return Done{};
  };
  if (const auto scanned = dataset->scan(scan, visit); !scanned) return scanned.error();
  progress.skipped += dataset->skipped().count;
  return Done{};
}

}  // namespace

Status read_documents(const FilesOptions& options, FilesProgress& progress,
                      const TakeDocuments& take) {
  KIN_TRY(std::vector<data::Input> inputs,
          data::find_inputs(options.files, options.temporary_folder));
  for (const data::Input& input : inputs) progress.bytes_total += input.bytes;
  Gatherer gatherer(options, progress, take);
  // find_inputs() refuses an empty list and a mix of formats.
  const bool lines = inputs.front().type.format == data::Format::kJsonl;
  KIN_RETURN_IF_ERROR(lines ? read_lines(inputs, progress, gatherer)
                            : read_rows(std::move(inputs), options, progress, gatherer));
  return gatherer.flush();
}

}  // namespace kin::search
