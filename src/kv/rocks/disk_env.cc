#include "kv/rocks/disk_env.h"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/system_clock.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

namespace kin::kv {
namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

// The kinds of failure that RocksDB tells apart.
IOStatus failure(const std::string& path, const Error& error) {
  if (error.code == Code::kNotFound) return IOStatus::PathNotFound(path, error.message);
  if (error.code == Code::kResourceExhausted) return IOStatus::NoSpace(path, error.message);
  return IOStatus::IOError(path, error.message);
}

IOStatus outcome(const std::string& path, const Status& status) {
  return status.ok() ? IOStatus::OK() : failure(path, status.error());
}

// Up to `count` bytes: RocksDB reads past the end, a DiskFile does not.
IOStatus read_up_to(const DiskFile& file, const std::string& path, std::uint64_t offset,
                    std::size_t count, Slice* result, char* scratch) {
  *result = Slice(scratch, 0);
  const auto size = file.size();
  if (!size.ok()) return failure(path, size.error());
  const std::uint64_t there = offset < *size ? std::min<std::uint64_t>(count, *size - offset) : 0;
  const Status read = file.read_at(offset, scratch, there);
  if (read.ok()) *result = Slice(scratch, there);
  return outcome(path, read);
}

class SequentialFile final : public rocksdb::FSSequentialFile {
 public:
  SequentialFile(std::unique_ptr<DiskFile> file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}

  IOStatus Read(std::size_t count, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) override {
    IOStatus read = read_up_to(*file_, path_, position_, count, result, scratch);
    position_ += result->size();
    return read;
  }
  // Skipping past the end is not an error: the next read gives nothing.
  IOStatus Skip(std::uint64_t count) override {
    position_ += count;
    return IOStatus::OK();
  }

 private:
  std::unique_ptr<DiskFile> file_;
  std::string path_;
  std::uint64_t position_ = 0;
};

class RandomAccessFile final : public rocksdb::FSRandomAccessFile {
 public:
  RandomAccessFile(std::unique_ptr<DiskFile> file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}

  IOStatus Read(std::uint64_t offset, std::size_t count, const IOOptions&, Slice* result,
                char* scratch, IODebugContext*) const override {
    return read_up_to(*file_, path_, offset, count, result, scratch);
  }

 private:
  std::unique_ptr<DiskFile> file_;
  std::string path_;
};

class WritableFile final : public rocksdb::FSWritableFile {
 public:
  WritableFile(std::unique_ptr<DiskFile> file, std::string path, const FileOptions& options)
      : rocksdb::FSWritableFile(options), file_(std::move(file)), path_(std::move(path)) {}

  using rocksdb::FSWritableFile::Append;
  IOStatus Append(const Slice& bytes, const IOOptions&, IODebugContext*) override {
    return outcome(path_, file_->append({bytes.data(), bytes.size()}));
  }
  IOStatus Truncate(std::uint64_t size, const IOOptions&, IODebugContext*) override {
    return outcome(path_, file_->truncate(size));
  }
  IOStatus Sync(const IOOptions&, IODebugContext*) override {
    return outcome(path_, file_->sync());
  }
  // append() buffers nothing, so there is nothing to flush before a sync.
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  std::uint64_t GetFileSize(const IOOptions&, IODebugContext*) override {
    const auto size = file_->size();
    return size.ok() ? *size : 0;
  }

 private:
  std::unique_ptr<DiskFile> file_;
  std::string path_;
};

class Directory final : public rocksdb::FSDirectory {
 public:
  Directory(Disk& disk, std::string path) : disk_(disk), path_(std::move(path)) {}

  IOStatus Fsync(const IOOptions&, IODebugContext*) override {
    return outcome(path_, disk_.sync_folder(path_));
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }

 private:
  Disk& disk_;
  std::string path_;
};

class Lock final : public rocksdb::FileLock {
 public:
  explicit Lock(std::unique_ptr<DiskFile> file) : file_(std::move(file)) {}

 private:
  std::unique_ptr<DiskFile> file_;  // locked until it is closed
};

class DiskFileSystem final : public rocksdb::FileSystem {
 public:
  explicit DiskFileSystem(Disk& disk) : disk_(disk) {}
  const char* Name() const override { return "kindred disk"; }

  IOStatus NewSequentialFile(const std::string& path, const FileOptions&,
                             std::unique_ptr<rocksdb::FSSequentialFile>* result,
                             IODebugContext*) override {
    return give<SequentialFile>(disk_.open_to_read(path), result, path);
  }
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions&,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
                               IODebugContext*) override {
    return give<RandomAccessFile>(disk_.open_to_read(path), result, path);
  }
  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* result,
                           IODebugContext*) override {
    return give<WritableFile>(disk_.create(path), result, path, options);
  }
  // Keeps the contents; RocksDB appends.
  IOStatus ReopenWritableFile(const std::string& path, const FileOptions& options,
                              std::unique_ptr<rocksdb::FSWritableFile>* result,
                              IODebugContext*) override {
    return give<WritableFile>(disk_.open_to_write(path), result, path, options);
  }
  IOStatus NewDirectory(const std::string& path, const IOOptions&,
                        std::unique_ptr<rocksdb::FSDirectory>* result, IODebugContext*) override {
    // A Disk has no handles of folders; listing shows that the folder is there.
    const auto there = disk_.list(path);
    if (!there.ok()) return failure(path, there.error());
    *result = std::make_unique<Directory>(disk_, path);
    return IOStatus::OK();
  }

  IOStatus FileExists(const std::string& path, const IOOptions&, IODebugContext*) override {
    const auto there = disk_.exists(path);
    if (!there.ok()) return failure(path, there.error());
    return *there ? IOStatus::OK() : IOStatus::NotFound(path);
  }
  IOStatus GetChildren(const std::string& path, const IOOptions&, std::vector<std::string>* result,
                       IODebugContext*) override {
    result->clear();
    // As in RocksDB's own file system, a missing folder is NotFound; PathNotFound is an I/O error.
    auto names = disk_.list(path);
    if (!names.ok() && names.error().code == Code::kNotFound) return IOStatus::NotFound(path);
    if (!names.ok()) return failure(path, names.error());
    *result = std::move(*names);
    return IOStatus::OK();
  }
  IOStatus IsDirectory(const std::string& path, const IOOptions&, bool* is_directory,
                       IODebugContext*) override {
    // Only folders can be listed.
    *is_directory = disk_.list(path).ok();
    return *is_directory ? IOStatus::OK() : FileExists(path, {}, nullptr);
  }
  IOStatus GetFileSize(const std::string& path, const IOOptions&, std::uint64_t* result,
                       IODebugContext*) override {
    const auto file = disk_.open_to_read(path);
    if (!file.ok()) return failure(path, file.error());
    const auto size = (*file)->size();
    if (size.ok()) *result = *size;
    return size.ok() ? IOStatus::OK() : failure(path, size.error());
  }
  // A Disk keeps no times. RocksDB asks for them to delete old archived logs, which are switched
  // off.
  IOStatus GetFileModificationTime(const std::string&, const IOOptions&, std::uint64_t* result,
                                   IODebugContext*) override {
    *result = 0;
    return IOStatus::OK();
  }

  IOStatus Truncate(const std::string& path, std::size_t size, const IOOptions&,
                    IODebugContext*) override {
    const auto file = disk_.open_to_write(path);
    return file.ok() ? outcome(path, (*file)->truncate(size)) : failure(path, file.error());
  }
  IOStatus DeleteFile(const std::string& path, const IOOptions&, IODebugContext*) override {
    return outcome(path, disk_.remove(path));
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions&,
                      IODebugContext*) override {
    return outcome(to, disk_.rename(from, to));
  }
  IOStatus CreateDir(const std::string& path, const IOOptions&, IODebugContext*) override {
    return outcome(path, disk_.make_folder(path));
  }
  IOStatus CreateDirIfMissing(const std::string& path, const IOOptions&, IODebugContext*) override {
    return outcome(path, disk_.make_folder(path));
  }
  // An empty folder that stays behind does no harm.
  IOStatus DeleteDir(const std::string&, const IOOptions&, IODebugContext*) override {
    return IOStatus::NotSupported("folders are not removed");
  }

  IOStatus LockFile(const std::string& path, const IOOptions&, rocksdb::FileLock** result,
                    IODebugContext*) override {
    *result = nullptr;
    // The contexts are those of RocksDB's own file system: an engine distinguishes failures by
    // them.
    auto file = disk_.open_to_write(path);
    if (!file.ok()) return failure("While open a file for lock: " + path, file.error());
    const Status locked = (*file)->lock();
    if (!locked.ok()) return failure("While lock file: " + path, locked.error());
    *result = new Lock(std::move(*file));  // RocksDB owns it until UnlockFile()
    return IOStatus::OK();
  }
  IOStatus UnlockFile(rocksdb::FileLock* lock, const IOOptions&, IODebugContext*) override {
    delete lock;
    return IOStatus::OK();
  }

  IOStatus GetTestDirectory(const IOOptions&, std::string*, IODebugContext*) override {
    return IOStatus::NotSupported("there is no folder for tests");
  }
  IOStatus GetAbsolutePath(const std::string& path, const IOOptions&, std::string* result,
                           IODebugContext*) override {
    *result = path;
    return IOStatus::OK();
  }

 private:
  template <typename Made, typename Base, typename... More>
  static IOStatus give(Result<std::unique_ptr<DiskFile>> file, std::unique_ptr<Base>* result,
                       const std::string& path, const More&... more) {
    if (!file.ok()) return failure(path, file.error());
    *result = std::make_unique<Made>(std::move(*file), path, more...);
    return IOStatus::OK();
  }

  Disk& disk_;
};

// Per thread, because RocksDB deletes the table of a failed ingestion on the thread that ingests.
thread_local bool keep_tables = false;

class LogFile;

// The log that a database writes to.
struct NewestLog {
  std::mutex mutex;
  LogFile* file = nullptr;  // null: none yet, or RocksDB has closed it
};

// A log that is synced before the next one is made. RocksDB 7.8 does that later, on whatever thread
// is first, a writer's or a flush's. If it fails, the other thread tries it again and stops the
// process by an assertion; and until then a power cut may lose the end of a log and keep changes
// that came after it.
class LogFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  LogFile(std::unique_ptr<rocksdb::FSWritableFile> file, std::shared_ptr<NewestLog> newest)
      : FSWritableFileOwnerWrapper(std::move(file)), newest_(std::move(newest)) {
    const std::lock_guard lock(newest_->mutex);
    newest_->file = this;
  }
  ~LogFile() override {
    const std::lock_guard lock(newest_->mutex);
    if (newest_->file == this) newest_->file = nullptr;
  }

  IOStatus Append(const Slice& bytes, const IOOptions& options, IODebugContext* debug) override {
    synced_ = false;
    return FSWritableFileWrapper::Append(bytes, options, debug);
  }
  IOStatus Append(const Slice& bytes, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& sums, IODebugContext* debug) override {
    synced_ = false;
    return FSWritableFileWrapper::Append(bytes, options, sums, debug);
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return synced_ ? IOStatus::OK() : FSWritableFileWrapper::Sync(options, debug);
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return synced_ ? IOStatus::OK() : FSWritableFileWrapper::Fsync(options, debug);
  }
  // Nothing is appended meanwhile: writers wait until the next log is there.
  IOStatus sync_at_end(const IOOptions& options, IODebugContext* debug) {
    IOStatus synced = FSWritableFileWrapper::Sync(options, debug);
    synced_ = synced.ok();
    return synced;
  }

 private:
  std::shared_ptr<NewestLog> newest_;
  std::atomic<bool> synced_ = false;  // by sync_at_end(), all of it
};

// Makes up for gaps in how RocksDB 7.8 orders its changes to a folder, and treats failures.
class CarefulFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  using rocksdb::FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "kindred"; }

  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* result,
                           IODebugContext* debug) override {
    if (!path.ends_with(".log")) return target()->NewWritableFile(path, options, result, debug);
    IOStatus made = sync_newest_log(options.io_options, debug);
    if (made.ok()) made = target()->NewWritableFile(path, options, result, debug);
    if (made.ok()) *result = std::make_unique<LogFile>(std::move(*result), newest_log_);
    return made;
  }

  IOStatus DeleteFile(const std::string& path, const IOOptions& options,
                      IODebugContext* debug) override {
    // Opening deletes tables that no manifest names, so a kept one costs space for a while.
    if (keep_tables && path.ends_with(".sst")) return IOStatus::OK();
    return target()->DeleteFile(path, options, debug);
  }

  // CURRENT gets its name after the manifest in it has, in whatever order the file system writes
  // the names of a folder.
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* debug) override {
    if (to.ends_with("/CURRENT")) {
      std::unique_ptr<rocksdb::FSDirectory> folder;
      IOStatus synced =
          target()->NewDirectory(to.substr(0, to.rfind('/')), options, &folder, debug);
      if (synced.ok()) synced = folder->Fsync(options, debug);
      if (!synced.ok()) return synced;
    }
    return target()->RenameFile(from, to, options, debug);
  }

 private:
  IOStatus sync_newest_log(const IOOptions& options, IODebugContext* debug) {
    const std::lock_guard lock(newest_log_->mutex);
    return newest_log_->file ? newest_log_->file->sync_at_end(options, debug) : IOStatus::OK();
  }

  std::shared_ptr<NewestLog> newest_log_ = std::make_shared<NewestLog>();
};

class SleepClock final : public rocksdb::SystemClockWrapper {
 public:
  explicit SleepClock(Clock& clock)
      : SystemClockWrapper(rocksdb::SystemClock::Default()), clock_(clock) {}
  const char* Name() const override { return "kindred"; }
  void SleepForMicroseconds(int micros) override {
    clock_.sleep_for(std::chrono::microseconds{micros});
  }

 private:
  Clock& clock_;
};

class SleepEnv final : public rocksdb::EnvWrapper {
 public:
  SleepEnv(std::unique_ptr<rocksdb::Env> env, Clock& clock) : EnvWrapper(std::move(env)) {
    system_clock_ = std::make_shared<SleepClock>(clock);
  }
  const char* Name() const override { return "kindred"; }
  void SleepForMicroseconds(int micros) override { system_clock_->SleepForMicroseconds(micros); }
};

}  // namespace

KeepTables::KeepTables() {
  keep_tables = true;
}

KeepTables::~KeepTables() {
  keep_tables = false;
}

std::unique_ptr<rocksdb::Env> env_on(Disk& disk, Clock& clock) {
  std::shared_ptr<rocksdb::FileSystem> files = rocksdb::FileSystem::Default();
  if (&disk != &system_disk()) files = std::make_shared<DiskFileSystem>(disk);
  auto env = rocksdb::NewCompositeEnv(std::make_shared<CarefulFileSystem>(files));
  return std::make_unique<SleepEnv>(std::move(env), clock);
}

}  // namespace kin::kv
