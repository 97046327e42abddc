// Reads ids: lines of text files, or a column of datasets.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "data/dataset.h"

namespace kin::app {

// Ids in input order. The views are valid during the call that gets the batch.
struct IdBatch {
  std::vector<std::string_view> ids;
  // The place of the i-th id, for messages: "ids.txt:3".
  std::function<std::string(std::size_t)> where;
  // True if the next batch can be read without waiting for the writer of the input. If not, answer
  // this batch at once.
  bool more_is_ready = true;
};

struct IdSourceOptions {
  std::vector<std::string> files = {};     // "-" or none: standard input
  std::optional<std::string> column = {};  // of datasets; unset: each line is an id
  data::OnError on_error = data::OnError::kFail;
  std::optional<std::filesystem::path> temporary_folder = {};
};

// Reading progress; readable from other threads.
struct IdProgress {
  std::atomic<std::uint64_t> bytes_done{0};
  std::uint64_t bytes_total = 0;  // 0: unknown
};

// One thread only.
class IdSource {
 public:
  using Take = std::function<Status(const IdBatch& batch)>;

  // Opens the files, so that a wrong name is reported before any work is done. Lines end with LF or
  // CR LF; empty lines are skipped; .gz and .zst are decompressed. A file whose name is that of a
  // dataset needs a column.
  static Result<std::unique_ptr<IdSource>> open(const IdSourceOptions& options);
  virtual ~IdSource() = default;

  // Calls take() until the input ends, take() fails, or `stop` is set (kCancelled). A record
  // without an id is skipped or, by default, an error.
  virtual Status read(const std::atomic<bool>& stop, const Take& take) = 0;

  // Number of records skipped.
  virtual std::uint64_t skipped() const = 0;
  const IdProgress& progress() const { return progress_; }

 protected:
  IdProgress progress_;
};

}  // namespace kin::app
