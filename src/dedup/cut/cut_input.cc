#include "dedup/cut/cut_input.h"

#include "dedup/scan/columns.h"

namespace kin::dedup {

Result<std::uint64_t> scan_units(const CutInput& input, const UnitScan& scan,
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
  std::vector<Units> units(static_cast<std::size_t>(options.threads),
                           Units(*options.cut, options.shingles.normalization));
  KIN_TRY(data::ScanEnd end,
          input.dataset.scan(scan_options, [&](const data::Batch& batch, int worker) -> Status {
            if (input.stop != nullptr && *input.stop) return Error{Code::kCancelled, "stopped"};
            count_work(input.work, scan.only != nullptr ? batch.size() : batch.bytes());
            Units& own = units[static_cast<std::size_t>(worker)];
            for (std::size_t i = 0; i < batch.size(); ++i) {
              const auto source = with_sources ? batch.value(source_column, i) : std::nullopt;
              if (source) input.sources->add(batch.row(i), *source);
              KIN_RETURN_IF_ERROR(own.read(batch, i, options.fields.size()));
              KIN_RETURN_IF_ERROR(visit(batch, i, own, worker));
            }
            return Done{};
          }));
  // If no record could be read, the caller has a better message.
  if (first && input.dataset.skipped().count < end.position.row) {
    end.found.resize(options.fields.size());
    KIN_RETURN_IF_ERROR(check_found(input.dataset, options, end.found));
  }
  return end.position.row;
}

}  // namespace kin::dedup
