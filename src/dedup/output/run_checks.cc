#include "dedup/output/run_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "base/memory.h"

namespace kin::dedup {
namespace fs = std::filesystem;

Status check_signature_store(const DedupOptions& options) {
  std::error_code ignored;  // a folder that does not exist yet is as good as an empty one
  if (!options.signature_store || !fs::exists(*options.signature_store, ignored)) return Done{};
  if (fs::is_empty(*options.signature_store, ignored)) return Done{};
  return Error{
      Code::kFailedPrecondition,
      fmt::format("there is something in {} already (name a new folder for --signature-store)",
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

Status check_memory(const DedupOptions& options, std::uint64_t records, std::uint64_t least) {
  if (least <= options.max_memory) return Done{};
  return Error{Code::kResourceExhausted,
               fmt::format("{} records need at least {} (use --max-memory {}MiB or more)", records,
                           format_bytes(least), (least >> 20) + 1)};
}

Status check_longest_text(const DedupOptions& options, std::uint64_t longest,
                          const LongTexts& memory) {
  if (longest <= memory.longest_text()) return Done{};
  const std::uint64_t least = total_memory(options, memory_for_text(longest, memory.tables));
  return Error{Code::kResourceExhausted,
               fmt::format("the longest text has {} bytes, too many for the memory (use "
                           "--max-memory {}MiB or more)",
                           longest, (least >> 20) + 1)};
}

Error explain_scan(const DedupOptions& options, const data::Dataset& dataset,
                   const LongTexts& memory, Error error) {
  const std::uint64_t length = dataset.longest_record();
  if (error.code != Code::kResourceExhausted || length <= memory.longest_record()) return error;
  // All of it may be text.
  const std::uint64_t least = total_memory(options, memory_for_text(length, 0));
  error.message += fmt::format(" (use --max-memory {}MiB or more)", (least >> 20) + 1);
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
