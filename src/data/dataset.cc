#include "data/dataset.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/json_writer.h"
#include "data/compressor.h"
#include "data/convert/mixed_dataset.h"
#include "data/convert/text_dataset.h"
#include "data/parquet/dataset.h"

namespace kin::data {

std::string Batch::where(std::size_t i) const {
  if (content_.has_lines) return fmt::format("{}:{}", content_.shown_as, content_.places[i]);
  return fmt::format("{}: row {}", content_.shown_as, content_.places[i]);
}

Result<std::unique_ptr<Dataset>> Dataset::open(std::vector<Input> inputs, DatasetOptions options) {
  if (inputs.empty()) return Error{Code::kInvalidArgument, "no input was named"};
  if (options.temporary_folder.empty()) {
    std::error_code failure;
    options.temporary_folder = std::filesystem::temp_directory_path(failure);
    if (failure) return system_error("find", "the folder for temporary files", failure.value());
  }
  KIN_TRY(std::vector<std::vector<Input>> parts, parts_alike(std::move(inputs)));
  if (parts.size() > 1) return MixedDataset::open(std::move(parts), options);
  if (parts[0].front().type.format == Format::kParquet)
    return ParquetDataset::open(std::move(parts[0]), std::move(options));
  return TextDataset::open(std::move(parts[0]), std::move(options));
}

Status Dataset::check_output(const std::filesystem::path& output) const {
  if (output != "-") KIN_RETURN_IF_ERROR(file_type(output));
  return Done{};
}

Result<StagedOutput> Dataset::write_skipped(const std::filesystem::path& output) const {
  StagedOutput staged(output, std::filesystem::temp_directory_path());
  const std::vector<std::uint64_t> first_rows = this->first_rows();
  std::string lines;
  std::size_t file = 0;
  for (const RecordId record : skipped().rows) {
    const std::uint64_t row = row_number(record);
    while (file + 1 < first_rows.size() && row >= first_rows[file + 1]) ++file;
    JsonWriter json;
    json.begin_object().field("file", inputs()[file].shown_as);
    lines += json.field("row", row - first_rows[file]).end().text() + "\n";
  }
  Compressor compressor(compression_of(output));
  KIN_TRY(const std::string_view packed, compressor.pack(lines));
  KIN_TRY(File to, File::create(staged.path()));
  KIN_RETURN_IF_ERROR(to.write(packed));
  KIN_RETURN_IF_ERROR(to.close());
  return staged;
}

RecordSet slice(const RecordSet& set, std::uint64_t first, std::uint64_t count) {
  RecordSet part(count);
  for (std::uint64_t row = 0; row < count; ++row) {
    if (set.contains(record_at(first + row))) part.insert(record_at(row));
  }
  return part;
}

Result<std::vector<std::string>> Dataset::foreseen_losses(const std::filesystem::path&,
                                                          const WriteOptions&) {
  return std::vector<std::string>();
}

Result<std::uint64_t> Dataset::least_scan_memory(const std::vector<std::string>&) {
  return std::uint64_t{0};
}

Result<WriteMemory> Dataset::least_write_memory(const std::filesystem::path&, const WriteOptions&) {
  return WriteMemory{};
}

Status check_format(const OutputFormat& format, FileType type) {
  using Packing = OutputFormat::Packing;
  const auto wrong = [](std::string message) {
    return Error{Code::kInvalidArgument, std::move(message)};
  };
  const bool parquet = type.format == Format::kParquet;
  if (!parquet && format.compression) {
    return wrong(
        "--compression is for Parquet outputs; text is compressed by its name, such as "
        "out.jsonl.zst");
  }
  if (!parquet && format.row_group_rows) return wrong("--row-group-size is for Parquet outputs");
  if (format.row_group_rows == std::uint64_t{0}) return wrong("--row-group-size must be 1 or more");
  if (!format.level) return Done{};
  const bool zstd =
      parquet ? format.compression == Packing::kZstd : type.compression == Compression::kZstd;
  const bool gzip =
      parquet ? format.compression == Packing::kGzip : type.compression == Compression::kGzip;
  if (!zstd && !gzip) {
    return wrong(parquet ? "--compression-level needs --compression zstd or gzip"
                         : "--compression-level needs an output whose name ends in .zst or .gz");
  }
  const int most = zstd ? 22 : 12;
  if (*format.level < 1 || *format.level > most)
    return wrong(fmt::format("--compression-level of {} is 1 to {}", zstd ? "zstd" : "gzip", most));
  return Done{};
}

Result<WriteReport> Dataset::write(const RecordSet& keep, const std::filesystem::path& output,
                                   int threads) {
  KIN_TRY(auto staged, write_staged(keep, output, {.threads = threads}));
  KIN_RETURN_IF_ERROR(check_unchanged(inputs()));
  KIN_RETURN_IF_ERROR(staged.first.commit());
  return std::move(staged.second);
}

}  // namespace kin::data
