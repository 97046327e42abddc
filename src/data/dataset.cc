#include "data/dataset.h"

#include <fmt/format.h>

#include "base/file.h"
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
  if (inputs.front().type.format == Format::kParquet)
    return ParquetDataset::open(std::move(inputs), std::move(options));
  return TextDataset::open(std::move(inputs), std::move(options));
}

Status Dataset::check_output(const std::filesystem::path& output) const {
  if (output != "-") KIN_RETURN_IF_ERROR(file_type(output));
  return Done{};
}

Result<std::vector<std::string>> Dataset::foreseen_losses(const std::filesystem::path&,
                                                          const WriteOptions&) {
  return std::vector<std::string>();
}

Result<std::uint64_t> Dataset::least_scan_memory(const std::vector<std::string>&) {
  return std::uint64_t{0};
}

Result<std::uint64_t> Dataset::least_write_memory(const std::filesystem::path&,
                                                  const WriteOptions&) {
  return std::uint64_t{0};
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
