// The ids that a user hands over: lines of text, or a column of a dataset.
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

// Some ids, in input order. Views live as long as the call that got it.
struct IdBatch {
  std::vector<std::string_view> ids;
  // Where an id stands, for messages: "ids.txt:3".
  std::function<std::string(std::size_t)> where;
  // Whether the next batch comes without waiting for whoever writes the input. Where it does not,
  // the answer to this one should not wait either.
  bool more_is_ready = true;
};

struct IdSourceOptions {
  std::vector<std::string> files = {};     // "-" is standard input, as is none at all
  std::optional<std::string> column = {};  // of datasets; otherwise the ids are lines
  data::OnError on_error = data::OnError::kFail;
  std::optional<std::filesystem::path> temporary_folder = {};
};

// How far the reading is, for other threads to look at.
struct IdProgress {
  std::atomic<std::uint64_t> bytes_done{0};
  std::uint64_t bytes_total = 0;  // 0 if it is not known
};

// One thread only.
class IdSource {
 public:
  using Take = std::function<Status(const IdBatch& batch)>;

  // Files are found and looked at, so that a wrong name is an error before anything is done.
  // Lines: the end of a line is LF or CR LF, empty ones are no ids, .gz and .zst are read as what
  // they hold. A dataset by its name needs a column.
  static Result<std::unique_ptr<IdSource>> open(const IdSourceOptions& options);
  virtual ~IdSource() = default;

  // Calls take() until the input ends, take() fails, or `stop` is set (kCancelled). A record
  // without an id is an error, unless it is to be skipped.
  virtual Status read(const std::atomic<bool>& stop, const Take& take) = 0;

  // Records that were skipped.
  virtual std::uint64_t skipped() const = 0;
  const IdProgress& progress() const { return progress_; }

 protected:
  IdProgress progress_;
};

}  // namespace kin::app
