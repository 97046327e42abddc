#include "data/parquet/page_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "data/pages/rewrite.h"
#include "data/parquet/columns.h"
#include "data/parquet/joiner.h"

namespace kin::data {
namespace {

std::optional<Codec> codec_of(const OutputFormat& format) {
  if (!format.compression) return {};
  switch (*format.compression) {
    case OutputFormat::Packing::kNone: return Codec::kNone;
    case OutputFormat::Packing::kSnappy: return Codec::kSnappy;
    case OutputFormat::Packing::kGzip: return Codec::kGzip;
    case OutputFormat::Packing::kZstd: return Codec::kZstd;
    case OutputFormat::Packing::kLz4: return Codec::kLz4Raw;
  }
  KIN_UNREACHABLE();
}

// An error if an edit cannot be made.
Status check_edits(std::span<const ParquetFile> files, const RecordEdits* edits) {
  if (edits == nullptr) return Done{};
  for (const RecordEdits::Column& column : edits->added()) {
    if (!has_column(files, column.name)) continue;
    return Error{Code::kInvalidArgument, fmt::format("{}: there is a column `{}` already",
                                                     files.front().shown_as, column.name)};
  }
  const Footer& footer = *files.front().footer;
  for (const std::string& name : edits->replaced()) {
    const auto leaf = find_leaf(footer, name);
    if (leaf && footer.leaves[*leaf].type.physical == Physical::kBytes) continue;
    return Error{Code::kInvalidArgument,
                 fmt::format("{}: column `{}` is not a text, or one in a list: it cannot be "
                             "replaced",
                             files.front().shown_as, name)};
  }
  return Done{};
}

// The memory that kept pages leave. Pages are dropped if it is not enough for one thread.
std::uint64_t memory_beside_kept(const DatasetOptions& options, std::uint64_t need) {
  if (options.kept_pages == nullptr) return options.memory_bytes;
  const std::uint64_t most = options.memory_bytes - std::min(options.memory_bytes, need);
  options.kept_pages->limit(most);
  return options.memory_bytes - std::min(options.memory_bytes, options.kept_pages->bytes());
}

}  // namespace

std::vector<ThriftValue> common_metadata(std::span<const ParquetFile> files,
                                         std::vector<std::string>& notes) {
  const auto bytes_of = [](const ThriftValue& pair) {
    std::string bytes;
    encode_thrift(bytes, pair);
    return bytes;
  };
  std::map<std::string, std::size_t> holders;  // by the bytes of a pair
  std::set<std::string> keys;
  std::vector<ThriftValue> first;
  for (const ParquetFile& file : files) {
    auto pairs = read_key_values(*file.data);
    if (!pairs) {
      notes.push_back(fmt::format(
          "the key-value metadata of {} cannot be read: the output has none", file.shown_as));
      return {};
    }
    std::set<std::string> mine;
    for (ThriftValue& pair : *pairs) {
      keys.insert(key_of(pair));
      mine.insert(bytes_of(pair));
    }
    for (const std::string& pair : mine) ++holders[pair];
    if (&file == &files.front()) first = std::move(*pairs);
  }
  std::erase_if(first, [&](const auto& pair) { return holders[bytes_of(pair)] < files.size(); });
  for (ThriftValue& pair : first) keys.erase(key_of(pair));
  if (!keys.empty()) {
    notes.push_back(
        fmt::format("the inputs have different key-value metadata: the output has none for {}",
                    fmt::join(keys, ", ")));
  }
  return first;
}

std::optional<std::vector<ThriftValue>> output_metadata(std::span<const ParquetFile> files,
                                                        const WriteOptions& how,
                                                        std::vector<std::string>& notes) {
  constexpr std::string_view kArrowSchema = "ARROW:schema";
  const bool adds = how.edits != nullptr && !how.edits->added().empty();
  if (files.size() == 1 && !adds) return {};
  std::vector<ThriftValue> pairs = common_metadata(files, notes);
  const auto is_schema = [&](ThriftValue& pair) { return key_of(pair) == kArrowSchema; };
  if (adds && std::erase_if(pairs, is_schema) > 0) {
    notes.push_back(fmt::format(
        "columns are added: the output has no {}, and Arrow takes types from Parquet's schema",
        kArrowSchema));
  }
  return pairs;
}

bool have_one_schema(std::span<const ParquetFile> files) {
  const std::string first = schema_bytes(*files.front().footer);
  return std::all_of(files.begin(), files.end(),
                     [&](const ParquetFile& file) { return schema_bytes(*file.footer) == first; });
}

Result<WriteReport> write_pages(std::span<const ParquetFile> files,
                                const ParquetWriteRequest& request) {
  WriteReport report;
  RecordSet keep;
  const std::vector<RecordId>& skipped = request.skipped.records().rows;
  if (!skipped.empty()) {
    keep = request.keep;
    for (const RecordId row : skipped) keep.erase(row);
  }
  RewriteRequest rewrite{.files = {},
                         .keep = skipped.empty() ? request.keep : keep,
                         .path = request.path,
                         .threads = request.how.threads,
                         .beside = request.how.beside,
                         .written = request.how.written,
                         .edits = request.how.edits,
                         .kept = request.options.kept_pages.get(),
                         .codec = codec_of(request.how.format),
                         .level = request.how.format.level,
                         .group_rows = request.how.format.row_group_rows,
                         .key_values = output_metadata(files, request.how, report.notes)};
  for (const ParquetFile& file : files)
    rewrite.files.push_back({file.shown_as, *file.data, *file.footer, file.first_row});
  KIN_RETURN_IF_ERROR(check_edits(files, request.how.edits));
  KIN_TRY(const std::uint64_t need, least_parquet_memory(files, request.type));
  const std::uint64_t memory = memory_beside_kept(request.options, need);
  const std::uint64_t fitting = std::max<std::uint64_t>(memory / need, 1);
  rewrite.writing_threads = static_cast<int>(
      std::min<std::uint64_t>(fitting, static_cast<std::uint64_t>(std::max(rewrite.threads, 1))));
  const std::uint64_t held = static_cast<std::uint64_t>(rewrite.writing_threads) * need;
  rewrite.waiting_bytes = std::max(memory, held) - held;
  KIN_TRY(const Rewritten written, rewrite_parquet(rewrite));
  report.records = written.records;
  report.bytes = written.bytes;
  return report;
}

}  // namespace kin::data
