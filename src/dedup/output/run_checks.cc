#include "dedup/output/run_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

namespace kin::dedup {
namespace fs = std::filesystem;

Status check_signature_store(const DedupOptions& options) {
  std::error_code ignored;  // a folder that does not exist yet counts as empty
  if (!options.signature_store || !fs::exists(*options.signature_store, ignored)) return Done{};
  if (fs::is_empty(*options.signature_store, ignored)) return Done{};
  return Error{Code::kFailedPrecondition,
               fmt::format("{} is not empty (name a new folder for --signature-store)",
                           options.signature_store->string())};
}

Status check_records(const data::Dataset& dataset, std::uint64_t records) {
  if (records == 0) {
    std::vector<std::string> names;
    for (const data::Input& input : dataset.inputs()) names.push_back(input.shown_as);
    return Error{Code::kInvalidArgument,
                 fmt::format("there are no records in {}", fmt::join(names, ", "))};
  }
  const data::SkippedRecords& skipped = dataset.skipped();
  if (skipped.count < records || skipped.messages.empty()) return Done{};
  return Error{Code::kInvalidArgument, fmt::format("no record could be read; the first: {}",
                                                   skipped.messages.front().second)};
}

Error explain_too_long(const DedupOptions& options, const MemoryNeeds& needs, Error error) {
  // The suggested budget is always larger than the given one, whatever was measured.
  const std::uint64_t given = options.max_memory >> 20;
  const std::uint64_t least = std::max(least_mebibytes(options, needs), given + given / 8 + 1);
  error.message += fmt::format(" (use --max-memory {}MiB or more)", least);
  return error;
}

Status check_read_errors(const DedupOptions& options, std::uint64_t records, std::uint64_t errors,
                         const fs::path& folder) {
  const auto limit =
      static_cast<std::uint64_t>(options.cold_read_error_limit * static_cast<double>(records));
  if (errors <= limit) return Done{};
  return Error{
      Code::kDataLoss,
      fmt::format("{} signatures or texts could not be read back from {}: more than the {} that "
                  "a run may lose (check the disk, or point --temp at another)",
                  errors, folder.string(), limit)};
}

}  // namespace kin::dedup
