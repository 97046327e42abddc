#include "app/seen/line_source.h"

#include <fmt/format.h>

#include <cerrno>

namespace kin::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kChunk = std::size_t{256} << 10;
constexpr auto kLookForStop = std::chrono::milliseconds(100);

data::Compression compression_of(const fs::path& path) {
  return data::compression_of(path);
}

// A list of ids may have any name, but a dataset's name is usually a mistake.
Status check_name(const std::string& name) {
  const auto type = data::file_type(name);
  if (!type) return Done{};
  return Error{Code::kInvalidArgument,
               fmt::format("{} is a dataset: which column holds the ids? (use --column NAME; if "
                           "its lines are the ids, use - < {})",
                           name, name)};
}

std::uint64_t bytes_of(const std::string& name) {
  std::error_code unknown;  // it only costs the progress line its percentage
  const auto bytes = fs::file_size(name, unknown);
  return unknown ? 0 : bytes;
}

std::string shown(const std::string& name) {
  return name == "-" ? "standard input" : name;
}

}  // namespace

class LineSource::Bytes {
 public:
  static Result<std::unique_ptr<Bytes>> open(const std::string& name) {
    auto bytes = std::make_unique<Bytes>();
    const data::Compression compression = compression_of(name);
    if (name == "-") {
      bytes->plain_ = File::standard_input();
    } else if (compression == data::Compression::kNone) {
      KIN_TRY(bytes->plain_, File::open_to_read(name));
    } else {
      const data::Input input{.path = name,
                              .type = {.format = {}, .compression = compression},
                              .bytes = bytes_of(name),
                              .shown_as = name};
      KIN_TRY(bytes->compressed_, data::ByteSource::open(input));
    }
    return bytes;
  }

  Result<std::size_t> read(char* to, std::size_t capacity) {
    return plain_ ? plain_->read(to, capacity) : compressed_->read(to, capacity);
  }

  Result<bool> wait_to_read(std::chrono::milliseconds timeout) const {
    // A compressed file never keeps its reader waiting.
    if (!plain_) return true;
    return plain_->wait_to_read(timeout);
  }

 private:
  std::optional<File> plain_;
  std::unique_ptr<data::ByteSource> compressed_;
};

LineSource::LineSource(std::vector<std::string> files) : files_(std::move(files)) {}

Result<std::unique_ptr<IdSource>> LineSource::open(const IdSourceOptions& options) {
  std::unique_ptr<LineSource> source(new LineSource(options.files));
  for (const std::string& name : options.files) {
    if (name == "-") continue;
    KIN_RETURN_IF_ERROR(check_name(name));
    KIN_TRY(const bool exists, file_exists(name));
    if (!exists) return system_error("open", name, ENOENT);
    source->progress_.bytes_total += bytes_of(name);
  }
  // Opened now, so that an unreadable file is reported before a set is made.
  KIN_TRY(source->first_, Bytes::open(options.files.front()));
  return std::unique_ptr<IdSource>(std::move(source));
}

Status LineSource::read(const std::atomic<bool>& stop, const Take& take) {
  for (const std::string& name : files_) {
    std::unique_ptr<Bytes> bytes = std::move(first_);
    if (!bytes) {
      KIN_TRY(bytes, Bytes::open(name));
    }
    KIN_RETURN_IF_ERROR(read_file(name, *bytes, stop, take));
  }
  return Done{};
}

Status LineSource::read_file(const std::string& name, Bytes& bytes, const std::atomic<bool>& stop,
                             const Take& take) {
  line_ = 0;
  for (;;) {
    // A signal just before the wait does not end it, so the wait is repeated in short slices.
    for (bool ready = false; !ready;) {
      if (stop) return Error{Code::kCancelled, "stopped"};
      KIN_TRY(ready, bytes.wait_to_read(kLookForStop));
    }
    const std::size_t before = text_.size();
    text_.resize(before + kChunk);
    KIN_TRY(const std::size_t got, bytes.read(text_.data() + before, kChunk));
    text_.resize(before + got);
    progress_.bytes_done += got;
    KIN_TRY(const bool more_is_ready, bytes.wait_to_read(std::chrono::milliseconds(0)));
    KIN_RETURN_IF_ERROR(hand_over(name, got == 0, more_is_ready, take));
    if (got == 0) return Done{};
  }
}

Status LineSource::hand_over(const std::string& name, bool at_end, bool more_is_ready,
                             const Take& take) {
  IdBatch batch;
  batch.more_is_ready = more_is_ready;
  std::vector<std::uint64_t> lines;
  std::size_t begin = 0;
  while (begin < text_.size()) {
    const std::size_t end = text_.find('\n', begin);
    if (end == std::string::npos && !at_end) break;
    std::string_view id = std::string_view(text_).substr(begin, end - begin);
    // Reported below, after the ids before it were taken.
    if (id.size() > kLongestId) break;
    begin = end == std::string::npos ? text_.size() : end + 1;
    ++line_;
    if (id.ends_with('\r')) id.remove_suffix(1);
    if (id.empty()) continue;
    batch.ids.push_back(id);
    lines.push_back(line_);
  }
  batch.where = [&](std::size_t i) { return fmt::format("{}:{}", shown(name), lines[i]); };
  KIN_RETURN_IF_ERROR(take(batch));
  text_.erase(0, begin);
  if (text_.size() <= kLongestId) return Done{};
  return Error{Code::kInvalidArgument,
               fmt::format("{}:{}: the line is longer than 1 MiB (write one id per line, or "
                           "use --column for a dataset)",
                           shown(name), line_ + 1)};
}

}  // namespace kin::app
