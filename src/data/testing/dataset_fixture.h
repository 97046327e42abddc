// Fixtures for tests of this room: files in a temporary folder, and short ways to open, scan and
// write them.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "data/dataset.h"

namespace kin::data {

class TestFolder {
 public:
  std::filesystem::path path(std::string_view name) const { return folder_.path() / name; }
  std::string write(std::string_view name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name).string();
  }
  std::string read(std::string_view name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      found.push_back(entry.path().filename().string());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  TemporaryFolder folder_ = TemporaryFolder::create().value();
};

inline Result<std::unique_ptr<Dataset>> open_dataset(const std::vector<std::string>& patterns) {
  const auto temporary = std::filesystem::temp_directory_path();
  KIN_TRY(std::vector<Input> inputs, find_inputs(patterns, temporary));
  return Dataset::open(std::move(inputs),
                       {.threads = 4, .memory_bytes = 1 << 30, .temporary_folder = temporary});
}

// The results of a scan, by row.
struct Seen {
  std::map<std::uint32_t, std::vector<std::optional<std::string>>> values;
  std::map<std::uint32_t, std::string> where;
  std::map<std::uint32_t, std::uint32_t> file;
  std::uint64_t bytes = 0;
  int visits = 0;  // of records; more than there are values if one was visited twice
  ScanEnd end;
};

inline Result<Seen> scan_all(Dataset& dataset, const ScanOptions& options) {
  Seen seen;
  std::mutex mutex;
  KIN_TRY(seen.end, dataset.scan(options, [&](const Batch& batch, int worker) -> Status {
    if (worker < 0 || worker >= options.threads)
      return Error{Code::kInternal, "worker out of range"};
    const std::scoped_lock lock(mutex);
    seen.bytes += batch.bytes();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto row = static_cast<std::uint32_t>(batch.row(i));
      ++seen.visits;
      seen.where[row] = batch.where(i);
      seen.file[row] = batch.file();
      auto& values = seen.values[row];
      values.clear();
      for (std::size_t column = 0; column < options.columns.size(); ++column) {
        const auto value = batch.value(column, i);
        values.push_back(value ? std::optional<std::string>(*value) : std::nullopt);
      }
    }
    return Done{};
  }));
  return seen;
}

inline RecordSet keep_rows(std::size_t size, const std::vector<std::uint32_t>& rows) {
  RecordSet keep(size);
  for (const std::uint32_t row : rows) keep.insert(RecordId(row));
  return keep;
}

}  // namespace kin::data
