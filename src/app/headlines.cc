#include "app/headlines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "app/print.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json_writer.h"
#include "base/locked_folder.h"
#include "base/record_set.h"
#include "data/dataset.h"
#include "data/timestamp.h"

namespace kin::app {
namespace {

namespace fs = std::filesystem;

// The fields of a record, in the order in which they are requested.
enum Field : std::size_t { kId, kTitle, kTime, kSource, kUrl, kSummary, kLabel, kFields };
constexpr std::array<std::string_view, kFields> kFlags{"id",  "title",   "time", "source",
                                                       "url", "summary", "eval"};

// The columns to scan, and the index of each field among them; nothing for a missing field.
struct Layout {
  std::array<std::string, kFields> names;
  std::array<std::optional<std::size_t>, kFields> at;
  std::vector<std::string> scanned;

  bool has(Field field) const { return at[field].has_value(); }
};

bool is_needed(Field field, const Layout& layout) {
  return field <= kTime || (field == kLabel && !layout.names[kLabel].empty());
}

// In JSONL a field may occur in some records only; other formats name their columns once.
Result<Layout> lay_out(data::Dataset& dataset, const HeadlineColumns& columns) {
  Layout layout{.names = {columns.id, columns.title, columns.time, columns.source, columns.url,
                          columns.summary, columns.label},
                .at = {},
                .scanned = {}};
  const bool any_name = dataset.inputs().front().type.format == data::Format::kJsonl;
  KIN_TRY(const std::vector<std::string> known, dataset.columns());
  for (std::size_t i = 0; i < kFields; ++i) {
    const std::string& name = layout.names[i];
    const bool there = any_name || std::ranges::find(known, name) != known.end();
    if (there && !name.empty()) {
      layout.at[i] = layout.scanned.size();
      layout.scanned.push_back(name);
    } else if (is_needed(static_cast<Field>(i), layout)) {
      return Error{
          Code::kNotFound,
          fmt::format("{}: there is no column \"{}\" (use --{} COLUMN); the columns are: {}",
                      dataset.inputs().front().shown_as, name, kFlags[i], fmt::join(known, ", "))};
    }
  }
  return layout;
}

// Puts records where their rows say, since batches come in any order.
class Collector {
 public:
  explicit Collector(const Layout& layout) : layout_(layout) {}

  Status visit(const data::Batch& batch) {
    for (std::size_t i = 0; i < batch.size(); ++i) KIN_RETURN_IF_ERROR(visit(batch, i));
    return Done{};
  }

  Result<Headlines> take() {
    // JSONL has no list of columns: a misspelt name shows only in the end.
    if (titles_ > 0 || headlines_.items.empty()) return std::move(headlines_);
    return Error{Code::kNotFound, fmt::format("no record has a field \"{}\" (use --title COLUMN)",
                                              layout_.names[kTitle])};
  }

 private:
  std::optional<std::string_view> value(const data::Batch& batch, std::size_t i,
                                        Field field) const {
    if (!layout_.has(field)) return {};
    return batch.value(*layout_.at[field], i);
  }

  Result<std::string_view> needed(const data::Batch& batch, std::size_t i, Field field) const {
    if (const auto text = value(batch, i, field)) return *text;
    return Error{Code::kInvalidArgument,
                 fmt::format("{}: field \"{}\" is missing (use --{} COLUMN)", batch.where(i),
                             layout_.names[field], kFlags[field])};
  }

  Status visit(const data::Batch& batch, std::size_t i) {
    KIN_TRY(const std::string_view id, needed(batch, i, kId));
    KIN_TRY(const std::string_view time, needed(batch, i, kTime));
    const auto published_at = data::parse_timestamp(time);
    if (!published_at)
      return Error{
          Code::kInvalidArgument,
          fmt::format("{}: \"{}\" is not a time (write seconds since 1970, or ISO 8601 such "
                      "as 2026-03-10T16:52:50Z)",
                      batch.where(i), time)};
    const std::size_t row = row_number(batch.row(i));
    make_room(row + 1);
    headlines_.ids[row] = id;
    if (layout_.has(kLabel)) {
      KIN_TRY(const std::string_view label, needed(batch, i, kLabel));
      // Labels are only compared for equality.
      headlines_.labels[row] = hash64(label);
    }
    const auto text = [&](Field field) { return std::string(value(batch, i, field).value_or("")); };
    titles_ += value(batch, i, kTitle) ? 1 : 0;
    headlines_.items[row] = {.id = stories::ItemId{row},
                             .title = text(kTitle),
                             .published_at = *published_at,
                             .source = text(kSource),
                             .summary = text(kSummary),
                             .url = text(kUrl)};
    return Done{};
  }

  void make_room(std::size_t size) {
    if (headlines_.items.size() >= size) return;
    headlines_.ids.resize(size);
    headlines_.items.resize(size);
    if (layout_.has(kLabel)) headlines_.labels.resize(size);
  }

  const Layout& layout_;
  Headlines headlines_;
  std::size_t titles_ = 0;
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
  KIN_TRY(const LockedFolder folder, LockedFolder::create());
  KIN_TRY(std::vector<data::Input> files, data::find_inputs(inputs, folder.path()));
  data::DatasetOptions options;
  options.temporary_folder = folder.path();
  KIN_TRY(const auto dataset, data::Dataset::open(std::move(files), options));
  KIN_TRY(const Layout layout, lay_out(*dataset, columns));
  Collector collector(layout);
  data::ScanOptions scan_options;
  scan_options.columns = layout.scanned;
  // Missing columns are reported below, with the flag that helps.
  scan_options.optional_columns = layout.scanned.size();
  KIN_TRY(const data::ScanEnd end, dataset->scan(scan_options, [&](const data::Batch& batch, int) {
    return collector.visit(batch);
  }));
  KIN_CHECK(end.finished, "a scan without a pause goes to the end");
  return collector.take();
}

Status write_placements(const Headlines& headlines, std::span<const stories::Placement> placements,
                        const std::string& output) {
  const std::string text = lines(headlines, placements);
  if (output.empty() || output == "-") return print(text);
  KIN_TRY(const LockedFolder folder, LockedFolder::create());
  // By way of JSONL, which the writer of datasets turns into any format.
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

stories::AgreementFigures agreement_of(std::span<const stories::Placement> placements,
                                       std::span<const std::uint64_t> labels) {
  std::vector<std::uint64_t> groups;
  for (const stories::Placement& placement : placements) groups.push_back(number(placement.story));
  return stories::measure_agreement(groups, labels);
}

void write_agreement(JsonWriter& json, const stories::AgreementFigures& figures) {
  const auto write = [&](const char* name, const stories::Agreement& agreement) {
    json.key(name).begin_object().field("precision", agreement.precision);
    json.field("recall", agreement.recall).field("f1", agreement.f1()).end();
  };
  json.field("true_stories", figures.true_groups);
  write("bcubed", figures.bcubed);
  write("pairwise", figures.pairwise);
}

}  // namespace kin::app
