#include "data/line_output.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>

#include "base/file.h"
#include "base/ordered_places.h"
#include "base/record_set.h"
#include "data/compressor.h"
#include "data/dataset.h"
#include "data/input.h"

namespace kin::data {
namespace fs = std::filesystem;

class LineOutput::Impl {
 public:
  Impl(LineOutputOptions options, FileType type, fs::path lines_path)
      : options_(std::move(options)),
        type_(type),
        staged_(options_.target, options_.temporary_folder),
        lines_path_(std::move(lines_path)) {}

  static Result<std::unique_ptr<Impl>> create(LineOutputOptions options) {
    KIN_TRY(const FileType type, line_output_type(options.target));
    auto impl = std::make_unique<Impl>(std::move(options), type, fs::path());
    if (type.format != Format::kJsonl) {
      KIN_TRY(TemporaryFolder folder, TemporaryFolder::create(impl->options_.temporary_folder));
      impl->folder_.emplace(std::move(folder));
      impl->lines_path_ = impl->folder_->path() / "lines.jsonl";
    } else {
      impl->lines_path_ = impl->staged_.path();
    }
    KIN_TRY(File file, File::create(impl->lines_path_));
    impl->file_.emplace(std::move(file));
    if (impl->folder_) {
      const std::string example = impl->options_.example + "\n";
      KIN_RETURN_IF_ERROR(impl->file_->write_at(0, example));
      impl->places_.take(0, example.size());
    }
    return impl;
  }

  Status append(std::uint64_t number, std::string_view lines) {
    // Lines that are converted later are not compressed in between.
    Compressor compressor(folder_ ? Compression::kNone : type_.compression);
    KIN_TRY(const std::string_view packed, compressor.pack(lines));
    if (folder_) rows_ += static_cast<std::uint64_t>(std::count(lines.begin(), lines.end(), '\n'));
    if (!lines.empty()) empty_ = false;
    const auto place = places_.take(number + (folder_ ? 1 : 0), packed.size());
    if (!place) return Done{};  // another thread has the error
    {
      const std::scoped_lock lock(writing_);
      KIN_RETURN_IF_ERROR(file_->write_at(*place, packed));
    }
    file_->begin_sync(*place, packed.size());
    return Done{};
  }

  void fail() { places_.fail(); }

  Status finish() {
    if (!folder_ && empty_ && type_.compression != Compression::kNone) {
      // An empty file is no gzip or zstd file.
      KIN_RETURN_IF_ERROR(append(0, ""));
    }
    KIN_RETURN_IF_ERROR(file_->close());
    return folder_ ? convert() : staged_.sync();
  }

  Status commit() { return converted_ ? converted_->commit() : staged_.commit(); }

 private:
  Status convert() {
    const std::string path = lines_path_.string();
    KIN_TRY(std::vector<Input> inputs, find_inputs({&path, 1}, folder_->path()));
    DatasetOptions how;
    how.memory_bytes = options_.memory_bytes;
    how.temporary_folder = folder_->path();
    KIN_TRY(const auto dataset, Dataset::open(std::move(inputs), how));
    RecordSet keep(rows_ + 1, true);
    keep.erase(record_at(0));  // the example
    KIN_TRY(auto written, dataset->write_staged(keep, options_.target, {}));
    converted_.emplace(std::move(written.first));
    return converted_->sync();
  }

  LineOutputOptions options_;
  FileType type_;
  StagedOutput staged_;
  fs::path lines_path_;
  std::optional<TemporaryFolder> folder_;  // where lines wait that are converted
  std::optional<File> file_;
  OrderedPlaces places_{0};
  // The system lets one thread write to a file at a time, and the others spin meanwhile.
  std::mutex writing_;
  std::atomic<bool> empty_{true};
  std::atomic<std::uint64_t> rows_{0};  // that are converted
  std::optional<StagedOutput> converted_;
};

Result<FileType> line_output_type(const fs::path& target) {
  if (target == "-") return FileType{};
  Result<FileType> type = file_type(target);
  if (type) return type;
  const bool packed = target.extension() == ".gz" || target.extension() == ".zst";
  return packed ? type : FileType{};
}

LineOutput::LineOutput(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LineOutput::~LineOutput() = default;

Result<std::unique_ptr<LineOutput>> LineOutput::create(LineOutputOptions options) {
  KIN_TRY(std::unique_ptr<Impl> impl, Impl::create(std::move(options)));
  return std::unique_ptr<LineOutput>(new LineOutput(std::move(impl)));
}

Status LineOutput::append(std::uint64_t number, std::string_view lines) {
  Status done = impl_->append(number, lines);
  if (!done) impl_->fail();
  return done;
}
void LineOutput::fail() {
  impl_->fail();
}
Status LineOutput::finish() {
  return impl_->finish();
}
Status LineOutput::commit() {
  return impl_->commit();
}

Status write_json(const fs::path& target, std::string_view object) {
  if (target == "-") return File::standard_output().write(object);
  KIN_TRY(const FileType type, line_output_type(target));
  Compressor compressor(type.compression);
  KIN_TRY(const std::string_view bytes, compressor.pack(object));
  return write_file_atomically(target, bytes);
}

}  // namespace kin::data
