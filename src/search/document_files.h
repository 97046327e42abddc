// Documents from datasets, in their order.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "search/document.h"

namespace kin::search {

struct FilesOptions {
  std::vector<std::string> files = {};  // paths and globs, or "-"; see data/input.h
  std::size_t batch = 200;              // documents per call of `take`
  bool skip_errors = false;             // skip invalid documents instead of failing
  // Finds the invalid document in a batch that `take` rejects with kInvalidArgument.
  std::function<Status(const Document&)> check = {};
  std::filesystem::path temporary_folder = {};
};

struct FilesProgress {
  std::atomic<std::uint64_t> bytes_done{0};
  std::atomic<std::uint64_t> bytes_total{0};
  std::atomic<std::uint64_t> documents{0};
  std::atomic<std::uint64_t> skipped{0};
};

// Reads all documents and passes them to `take` in batches. Errors name the file and line. JSONL
// fields keep their types; CSV and Parquet values are read as text. An error of `take` is returned.
using TakeDocuments = std::function<Status(std::span<const Document>)>;
Status read_documents(const FilesOptions& options, FilesProgress& progress,
                      const TakeDocuments& take);

}  // namespace kin::search
