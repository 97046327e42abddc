#include "dedup/output/removed_log.h"

#include <fmt/format.h>

#include <charconv>

#include "base/ascii.h"
#include "data/dataset.h"

namespace kin::dedup {
namespace {

Result<Method> parse_method(std::string_view name) {
  for (const Method method : {Method::kExact, Method::kMinHash, Method::kSimHash, Method::kChunk}) {
    if (name == name_of(method)) return method;
  }
  return Error{Code::kInternal, fmt::format("the audit log has an unknown method, {}", name)};
}

}  // namespace

Result<std::vector<Fate>> read_fates(const std::filesystem::path& log, std::size_t records,
                                     const std::filesystem::path& folder) {
  std::vector<Fate> fates(records);
  // A run that removed nothing leaves an empty log, which is not a dataset.
  if (std::error_code ignored; std::filesystem::file_size(log, ignored) == 0) return fates;
  KIN_TRY(std::vector<data::Input> files,
          data::find_inputs(std::vector<std::string>{log.string()}, folder));
  data::DatasetOptions dataset_options;
  dataset_options.temporary_folder = folder;
  KIN_TRY(const auto dataset, data::Dataset::open(std::move(files), dataset_options));
  data::ScanOptions scan;
  scan.columns = {"row_id", "duplicate_of_row_id", "method", "similarity"};
  const auto number = [](std::string_view text) {
    std::size_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  KIN_RETURN_IF_ERROR(dataset->scan(scan, [&](const data::Batch& batch, int) -> Status {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const std::size_t row = number(batch.value(0, i).value_or(""));
      const std::size_t kept = number(batch.value(1, i).value_or(""));
      KIN_TRY(const Method method, parse_method(batch.value(2, i).value_or("")));
      if (row >= records || kept >= records)
        return Error{Code::kInternal, "the audit log names rows that were never read"};
      const double similarity = parse_number<double>(batch.value(3, i).value_or("")).value_or(0);
      fates[row] = {.kept = kept, .method = method, .similarity = similarity};
    }
    return Done{};
  }));
  return fates;
}

}  // namespace kin::dedup
