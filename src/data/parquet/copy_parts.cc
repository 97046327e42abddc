#include "data/parquet/copy_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <mutex>
#include <optional>

#include "base/file.h"
#include "base/workers.h"
#include "data/parquet/joiner.h"

namespace kin::data {
namespace fs = std::filesystem;
namespace {

// Joins finished parts in order, whichever is finished first. Thread-safe.
class PartCollector {
 public:
  static Result<std::unique_ptr<PartCollector>> create(const CopyRequest& request) {
    auto collector = std::make_unique<PartCollector>();
    collector->done_.resize(request.parts.size());
    if (request.type.format == Format::kParquet) {
      KIN_TRY(ParquetJoiner joiner, ParquetJoiner::create(request.path));
      joiner.set_key_values(request.key_values);
      collector->joiner_.emplace(std::move(joiner));
    } else {
      KIN_TRY(File file, File::create(request.path));
      collector->plain_.emplace(std::move(file));
    }
    return collector;
  }

  // The thread that finds the next part ready appends it and all ready parts after it; other
  // threads leave their finished parts to that thread.
  Status add(std::size_t part, fs::path path) {
    std::unique_lock lock(mutex_);
    done_[part] = std::move(path);
    if (joining_) return Done{};
    joining_ = true;
    while (next_ < done_.size() && done_[next_]) {
      const fs::path ready = *done_[next_++];
      lock.unlock();
      KIN_RETURN_IF_ERROR(joiner_ ? joiner_->append(ready) : append_plain(ready));
      std::error_code ignored;  // the folder it lies in is removed as a whole later
      fs::remove(ready, ignored);
      lock.lock();
    }
    joining_ = false;
    return Done{};
  }

  Result<std::uint64_t> finish() {
    if (joiner_) {
      KIN_RETURN_IF_ERROR(joiner_->finish());
      return joiner_->bytes();
    }
    KIN_RETURN_IF_ERROR(plain_->close());
    return bytes_;
  }

 private:
  Status append_plain(const fs::path& path) {
    KIN_TRY(File part, File::open_to_read(path));
    std::vector<char> buffer(1 << 20);
    for (;;) {
      KIN_TRY(const std::size_t got, part.read(buffer.data(), buffer.size()));
      if (got == 0) return Done{};
      KIN_RETURN_IF_ERROR(plain_->write({buffer.data(), got}));
      plain_->begin_sync(bytes_, got);
      bytes_ += got;
    }
  }

  std::mutex mutex_;  // of the next three
  std::vector<std::optional<fs::path>> done_;
  std::size_t next_ = 0;
  bool joining_ = false;
  std::optional<ParquetJoiner> joiner_;
  std::optional<File> plain_;
  std::uint64_t bytes_ = 0;
};

// Users do not know about parts, so the error names the output.
Error name_output(const fs::path& output, const fs::path& folder, Error error) {
  const std::string start = (folder / "part-").string();
  const std::size_t at = error.message.find(start);
  if (at == std::string::npos) return error;
  std::size_t end = at + start.size();
  while (end < error.message.size() && std::isdigit(static_cast<unsigned char>(error.message[end])))
    ++end;
  error.message.replace(at, end - at, output.string());
  return error;
}

std::string copy_codec(OutputFormat::Packing packing) {
  switch (packing) {
    case OutputFormat::Packing::kNone: return "uncompressed";
    case OutputFormat::Packing::kSnappy: return "snappy";
    case OutputFormat::Packing::kGzip: return "gzip";
    case OutputFormat::Packing::kZstd: return "zstd";
    case OutputFormat::Packing::kLz4: return "lz4_raw";
  }
  KIN_UNREACHABLE();
}

}  // namespace

std::string copy_options(const OutputFormat& format, const std::string& codec,
                         std::uint64_t group_rows) {
  std::string options = fmt::format("FORMAT parquet, COMPRESSION {}, ROW_GROUP_SIZE {}",
                                    format.compression ? copy_codec(*format.compression) : codec,
                                    format.row_group_rows.value_or(group_rows));
  // DuckDB has levels for zstd alone.
  if (format.level && format.compression == OutputFormat::Packing::kZstd)
    options += fmt::format(", COMPRESSION_LEVEL {}", *format.level);
  return options;
}

Error explain_write_error(const fs::path& output, Error error) {
  // Users know the file by its final name.
  const std::string temporary = temporary_name(output).string();
  if (const std::size_t at = error.message.find(temporary); at != std::string::npos) {
    error.message.replace(at, temporary.size(), output.string());
  }
  const std::string& text = error.message;
  if (text.starts_with("cannot ")) return error;
  if (text.find("No space left") != std::string::npos) return system_error("write", output, ENOSPC);
  if (text.find("Permission denied") != std::string::npos)
    return system_error("write", output, EACCES);
  if (text.find("No such file or directory") != std::string::npos)
    return system_error("write", output, ENOENT);
  if (text.find("not enough memory") != std::string::npos)
    error.message += " (allow more memory, or use fewer threads)";
  return with_context(fmt::format("cannot write {}", output.string()), std::move(error));
}

Result<Copied> copy_parts(const CopyRequest& request) {
  KIN_TRY(const auto collector, PartCollector::create(request));
  KIN_TRY(const TemporaryFolder folder, TemporaryFolder::create(request.temporary_folder));
  const auto most = static_cast<int>(std::min<std::size_t>(request.parts.size(), 1024));
  const int copying = std::clamp(request.limits.threads, 1, std::max(most, 1));
  const int threads = request.beside ? std::max(copying, request.threads) : copying;
  std::atomic<std::size_t> next{0};
  std::atomic<std::uint64_t> records{0};
  std::atomic<bool> failed{false};
  const auto copy = [&]() -> Status {
    const DuckDbLimits limits{
        .threads = 1,
        .memory_bytes = request.limits.memory_bytes / static_cast<std::uint64_t>(copying),
        .held_back_bytes = request.limits.held_back_bytes};
    KIN_TRY(const auto duckdb, DuckDbSession::open(limits, request.temporary_folder));
    // One thread keeps the order anyway. With this setting on, DuckDB would first collect the rows
    // of a row group.
    KIN_RETURN_IF_ERROR(duckdb->run("SET preserve_insertion_order = false"));
    for (std::size_t part = next++; part < request.parts.size() && !failed; part = next++) {
      fs::path path = folder.path() / fmt::format("part-{}", part);
      const std::string sql = fmt::format("COPY ({}) TO {} ({})", request.parts[part].select,
                                          sql_text(path.string()), request.parts[part].options);
      KIN_TRY(const std::int64_t count, duckdb->run_with_hook(sql, 0, request.hook));
      records += static_cast<std::uint64_t>(count);
      if (request.written) request.written(static_cast<std::uint64_t>(count));
      KIN_RETURN_IF_ERROR(collector->add(part, std::move(path)));
    }
    return Done{};
  };
  const Status done = run_workers(threads, [&](int worker) {
    Status status = worker < copying ? copy() : Status(Done{});
    if (status && request.beside) status = request.beside();
    if (!status) failed = true;
    return status;
  });
  if (!done) return name_output(request.output, folder.path(), done.error());
  KIN_TRY(const std::uint64_t bytes, collector->finish());
  return Copied{records, bytes};
}

}  // namespace kin::data
