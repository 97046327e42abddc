#include "app/headlines.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/print.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json_writer.h"
#include "base/record_set.h"
#include "data/dataset.h"
#include "stories/timestamp.h"

namespace kin::app {
namespace {

namespace fs = std::filesystem;

Error missing(const data::Batch& batch, std::size_t i, std::string_view column,
              std::string_view flag) {
  return {Code::kInvalidArgument, fmt::format("{}: field \"{}\" is missing (use --{} COLUMN)",
                                              batch.where(i), column, flag)};
}

// Puts records where their rows say, since batches come in any order.
class Collector {
 public:
  explicit Collector(const HeadlineColumns& columns) : columns_(columns) {
    names_ = {columns.id, columns.title, columns.time};
    if (has_labels()) names_.push_back(columns.label);
    names_.insert(names_.end(), {columns.source, columns.url, columns.summary});
  }

  data::ScanOptions options() const {
    data::ScanOptions options;
    options.columns = names_;
    options.optional_columns = 3;
    return options;
  }

  Status visit(const data::Batch& batch) {
    for (std::size_t i = 0; i < batch.size(); ++i) KIN_RETURN_IF_ERROR(visit(batch, i));
    return Done{};
  }

  Headlines take() { return std::move(headlines_); }

 private:
  bool has_labels() const { return !columns_.label.empty(); }

  Status visit(const data::Batch& batch, std::size_t i) {
    const auto id = batch.value(0, i);
    if (!id) return missing(batch, i, columns_.id, "id");
    const auto time = batch.value(2, i);
    if (!time) return missing(batch, i, columns_.time, "time");
    const auto published_at = stories::parse_timestamp(*time);
    if (!published_at)
      return Error{
          Code::kInvalidArgument,
          fmt::format("{}: \"{}\" is no time (write seconds since 1970, or ISO 8601 such as "
                      "2026-03-10T16:52:50Z)",
                      batch.where(i), *time)};
    const std::size_t row = index(batch.row(i));
    make_room(row + 1);
    headlines_.ids[row] = *id;
    if (has_labels()) {
      const auto label = batch.value(3, i);
      if (!label) return missing(batch, i, columns_.label, "eval");
      headlines_.labels[row] = hash64(*label);
    }
    const std::size_t optional = has_labels() ? 4 : 3;
    const auto text = [&](std::size_t column) {
      return std::string(batch.value(column, i).value_or(""));
    };
    headlines_.items[row] = {.id = stories::ItemId{row},
                             .title = text(1),
                             .published_at = *published_at,
                             .source = text(optional),
                             .summary = text(optional + 2),
                             .url = text(optional + 1)};
    return Done{};
  }

  void make_room(std::size_t size) {
    if (headlines_.items.size() >= size) return;
    headlines_.ids.resize(size);
    headlines_.items.resize(size);
    if (has_labels()) headlines_.labels.resize(size);
  }

  const HeadlineColumns& columns_;
  std::vector<std::string> names_;
  Headlines headlines_;
};

std::string lines(const Headlines& headlines, std::span<const stories::Placement> placements) {
  std::string text;
  for (std::size_t i = 0; i < placements.size(); ++i) {
    JsonWriter json;
    json.begin_object().field("id", headlines.ids[i]);
    json.field("story_id", number(placements[i].story));
    json.field("is_representative", placements[i].is_representative);
    json.field("similarity", std::round(placements[i].similarity * 1e4) / 1e4);
    text += json.end().take() + "\n";
  }
  return text;
}

}  // namespace

Result<Headlines> read_headlines(std::span<const std::string> inputs,
                                 const HeadlineColumns& columns) {
  KIN_TRY(const TemporaryFolder folder, TemporaryFolder::create());
  KIN_TRY(std::vector<data::Input> files, data::find_inputs(inputs, folder.path()));
  data::DatasetOptions options;
  options.temporary_folder = folder.path();
  KIN_TRY(const auto dataset, data::Dataset::open(std::move(files), options));
  Collector collector(columns);
  KIN_TRY(const data::ScanEnd end,
          dataset->scan(collector.options(),
                        [&](const data::Batch& batch, int) { return collector.visit(batch); }));
  KIN_CHECK(end.finished, "a scan without a pause goes to the end");
  return collector.take();
}

Status write_placements(const Headlines& headlines, std::span<const stories::Placement> placements,
                        const std::string& output) {
  const std::string text = lines(headlines, placements);
  if (output.empty() || output == "-") return print(text);
  KIN_TRY(const TemporaryFolder folder, TemporaryFolder::create());
  const fs::path rows = folder.path() / "stories.jsonl";
  KIN_RETURN_IF_ERROR(write_file_atomically(rows, text));
  KIN_TRY(std::vector<data::Input> files,
          data::find_inputs(std::array{rows.string()}, folder.path()));
  data::DatasetOptions options;
  options.temporary_folder = folder.path();
  KIN_TRY(const auto dataset, data::Dataset::open(std::move(files), options));
  KIN_RETURN_IF_ERROR(dataset->check_output(output));
  KIN_RETURN_IF_ERROR(dataset->write(RecordSet(placements.size(), true), output, 1));
  return Done{};
}

}  // namespace kin::app
