#include "dedup/cut/cut_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "dedup/record_text.h"
#include "dedup/scan/columns.h"
#include "dedup/spill/long_texts.h"

namespace kin::dedup {

namespace {

// Finds the units of one record at a time, on one thread.
class UnitReader {
 public:
  UnitReader(const CutInput& input, TextRoom& room)
      : input_(input),
        room_(room),
        copies_(sketch_copies(input.options)),
        units_(*input.options.cut, input.options.shingles.normalization) {}

  Status visit(const data::Batch& batch, std::size_t i, int worker, const UnitVisitor& visit) {
    const std::uint64_t weight = weight_of(batch, i);
    heaviest_ = std::max(heaviest_, weight);
    std::optional<TextRoom::Share> share;
    if (weight > kShortText) {
      if (weight * copies_ > room_.bytes()) return too_long(batch.where(i));
      share.emplace(room_, weight * copies_);
    }
    KIN_RETURN_IF_ERROR(units_.read(batch, i, input_.options.fields.size()));
    KIN_RETURN_IF_ERROR(visit(batch, i, units_, worker));
    if (weight > kShortText) units_.forget();
    return Done{};
  }

  std::uint64_t heaviest() const { return heaviest_; }

 private:
  // Of the joined fields, as a plan weighs it.
  std::uint64_t weight_of(const data::Batch& batch, std::size_t i) const {
    const std::size_t fields = input_.options.fields.size();
    std::uint64_t bytes = 0;
    for (std::size_t field = 0; field < fields; ++field)
      bytes += batch.value(field, i).value_or(std::string_view()).size();
    if (bytes <= kShortText) return bytes;
    std::string joined;
    const auto text = text_of(batch, i, fields, joined);
    return text ? text_weight(*text, input_.options) : 0;
  }

  Error too_long(const std::string& where) const {
    if (input_.met_too_long_text != nullptr) *input_.met_too_long_text = true;
    return Error{Code::kResourceExhausted,
                 fmt::format("{}: the text is too long for the memory", where)};
  }

  const CutInput& input_;
  TextRoom& room_;
  const std::uint64_t copies_;
  Units units_;
  std::uint64_t heaviest_ = 0;
};

}  // namespace

Result<ScannedUnits> scan_units(const CutInput& input, const UnitScan& scan,
                                const UnitVisitor& visit) {
  const DedupOptions& options = input.options;
  data::ScanOptions scan_options;
  scan_options.columns = options.fields;
  if (scan.with_ids) {
    scan_options.columns.push_back(*options.id_column);
  }
  const std::size_t source_column = scan_options.columns.size();
  const bool first = scan.only == nullptr;
  const bool with_sources = first && input.sources != nullptr && options.source_column;
  if (with_sources) scan_options.columns.push_back(*options.source_column);
  scan_options.optional_columns = scan_options.columns.size();
  scan_options.threads = options.threads;
  scan_options.on_error = options.on_error;
  scan_options.only = scan.only;
  std::uint64_t bytes = 0;
  for (const data::Input& file : input.dataset.inputs()) bytes += file.bytes;
  next_phase(input.work, scan.only != nullptr ? scan.only->count() : bytes);
  TextRoom room(input.text_room);
  std::vector<UnitReader> readers(static_cast<std::size_t>(options.threads),
                                  UnitReader(input, room));
  KIN_TRY(data::ScanEnd end,
          input.dataset.scan(scan_options, [&](const data::Batch& batch, int worker) -> Status {
            if (input.stop != nullptr && *input.stop) return Error{Code::kCancelled, "stopped"};
            count_work(input.work, scan.only != nullptr ? batch.size() : batch.bytes());
            UnitReader& reader = readers[static_cast<std::size_t>(worker)];
            for (std::size_t i = 0; i < batch.size(); ++i) {
              const auto source = with_sources ? batch.value(source_column, i) : std::nullopt;
              if (source) input.sources->add(batch.row(i), *source);
              KIN_RETURN_IF_ERROR(reader.visit(batch, i, worker, visit));
            }
            return Done{};
          }));
  // If no record could be read, the caller has a better message.
  if (first && input.dataset.skipped().count < end.position.row) {
    end.found.resize(options.fields.size());
    KIN_RETURN_IF_ERROR(check_found(input.dataset, options, end.found));
  }
  ScannedUnits scanned{.rows = end.position.row};
  for (const UnitReader& reader : readers)
    scanned.heaviest_text = std::max(scanned.heaviest_text, reader.heaviest());
  return scanned;
}

}  // namespace kin::dedup
