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

Result<WriteReport> Dataset::write(const RecordSet& keep, const std::filesystem::path& output,
                                   int threads) {
  KIN_TRY(auto staged, write_staged(keep, output, {.threads = threads}));
  KIN_RETURN_IF_ERROR(check_unchanged(inputs()));
  KIN_RETURN_IF_ERROR(staged.first.commit());
  return std::move(staged.second);
}

}  // namespace kin::data
