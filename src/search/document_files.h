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
  std::vector<std::string> files = {};  // paths and globs, or "-", as data/input.h has them
  std::size_t batch = 200;              // documents handed over at once
  bool skip_errors = false;             // leave out what makes no sense, instead of failing
  // Which of the documents that `take` calls kInvalidArgument makes no sense.
  std::function<Status(const Document&)> check = {};
  std::filesystem::path temporary_folder = {};
};

struct FilesProgress {
  std::atomic<std::uint64_t> bytes_done{0};
  std::atomic<std::uint64_t> bytes_total{0};
  std::atomic<std::uint64_t> documents{0};
  std::atomic<std::uint64_t> skipped{0};
};

// Hands over all documents. Whatever fails names the file and line. JSONL keeps every field as it
// is; rows of CSV and Parquet are texts. An error of `take` ends it.
using TakeDocuments = std::function<Status(std::span<const Document>)>;
Status read_documents(const FilesOptions& options, FilesProgress& progress,
                      const TakeDocuments& take);

}  // namespace kin::search
