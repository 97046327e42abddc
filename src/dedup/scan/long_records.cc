#include "dedup/scan/long_records.h"

#include <algorithm>
#include <string>
#include <vector>

#include "data/record_sizes.h"
#include "dedup/record_text.h"
#include "dedup/spill/long_texts.h"

namespace kin::dedup {
namespace {

// The weight of the heaviest text of `input`, all of whose records fit into memory.
Result<std::uint64_t> heaviest_text(const data::Input& input, const DedupOptions& options,
                                    std::uint64_t room, const std::filesystem::path& folder) {
  data::DatasetOptions how;
  how.temporary_folder = folder;
  how.memory_bytes = Budget(options.max_memory).reader;
  KIN_TRY(const auto dataset, data::Dataset::open({input}, how));
  // A page that does not fit into memory may be a single text.
  KIN_TRY(const std::uint64_t need, dataset->least_scan_memory(options.fields));
  if (need > room) return need;
  data::ScanOptions scan;
  scan.columns = options.fields;
  scan.optional_columns = scan.columns.size();
  scan.on_error = options.on_error;
  scan.may_be_empty = true;
  std::uint64_t heaviest = 0;
  std::string joined;
  KIN_RETURN_IF_ERROR(dataset->scan(scan, [&](const data::Batch& batch, int) -> Status {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto text = text_of(batch, i, options.fields.size(), joined);
      if (text) heaviest = std::max(heaviest, text_weight(*text, options));
    }
    return Done{};
  }));
  return heaviest;
}

}  // namespace

bool hold_pages(std::span<const data::Input> inputs) {
  return std::ranges::any_of(
      inputs, [](const data::Input& input) { return input.type.format == data::Format::kParquet; });
}

Status measure_records(std::span<const data::Input> inputs, const DedupOptions& options,
                       const std::filesystem::path& folder, MemoryNeeds& needs) {
  const std::uint64_t room = options.max_memory - std::min(options.max_memory, kFixedBytes);
  const auto count = [&](std::string_view piece) { return text_units(piece, options); };
  std::uint64_t records = 0;
  for (const data::Input& input : inputs) {
    KIN_TRY(const data::RecordSizes sizes, data::record_sizes(input, count));
    records += sizes.records;
    needs.longest_record = std::max(needs.longest_record, sizes.longest);
    // The text may be the whole record.
    std::uint64_t heaviest = text_weight(sizes.longest, sizes.most);
    if ((kRecordCopies + 1) * sizes.longest <= room) {
      KIN_TRY(heaviest, heaviest_text(input, options, room, folder));
    }
    needs.heaviest_text = std::max(needs.heaviest_text, heaviest);
  }
  needs.records = std::max(needs.records, records);
  return Done{};
}

}  // namespace kin::dedup
