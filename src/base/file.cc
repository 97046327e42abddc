#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace kin {
namespace fs = std::filesystem;
namespace {

// kFailedPrecondition is for what the user can change; whatever is not listed may pass when it is
// tried again.
Code code_of(int error_number) {
  switch (error_number) {
    case ENOENT: return Code::kNotFound;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ENOMEM: return Code::kResourceExhausted;
    case EACCES:
    case EPERM:
    case EROFS:
    case EISDIR:
    case ENOTDIR:
    case EEXIST: return Code::kFailedPrecondition;
    default: return Code::kUnavailable;
  }
}

const char* remedy_of(int error_number) {
  switch (error_number) {
    case ENOENT: return " (check the path)";
    case ENOSPC:
    case EDQUOT: return " (free some space, or point the output or --temp at another disk)";
    case EMFILE:
    case ENFILE: return " (raise the limit with ulimit -n)";
    case EACCES:
    case EPERM: return " (check the permissions)";
    default: return "";
  }
}

Result<int> open_descriptor(const fs::path& path, int flags, std::string_view action) {
  int descriptor = -1;
  // A signal may interrupt open() on a slow device. O_CLOEXEC keeps the descriptor from programs
  // that we start.
  do {
    descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) return system_error(action, path, errno);
  return descriptor;
}

// Calls `write` with the rest until nothing is left: a write may take a part of the bytes, and a
// signal may interrupt it.
template <typename Write>
Status write_all(std::string_view rest, const fs::path& path, const Write& write) {
  while (!rest.empty()) {
    const ssize_t put = write(rest);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return system_error("write", path, errno);
    rest.remove_prefix(static_cast<std::size_t>(put));
  }
  return Done{};
}

// A path as mkdtemp() and mkostemp() want it.
Result<std::string> temporary_pattern(const std::optional<fs::path>& parent) {
  std::error_code failure;
  const fs::path under = parent ? *parent : fs::temp_directory_path(failure);
  if (failure)
    return system_error("use", "the folder for temporary files, TMPDIR", failure.value());
  return (under / "kindred-XXXXXX").string();
}

}  // namespace

Error system_error(std::string_view action, const fs::path& path, int error_number) {
  return Error{code_of(error_number),
               fmt::format("cannot {} {}: {}{}", action, path.string(), std::strerror(error_number),
                           remedy_of(error_number))};
}

Status system_status(int returned, std::string_view action, const fs::path& path) {
  if (returned != 0) return system_error(action, path, errno);
  return Done{};
}

File::File(int descriptor, fs::path path, bool owned)
    : descriptor_(descriptor), owned_(owned), path_(std::move(path)) {}

File::File(File&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      owned_(other.owned_),
      contents_(std::move(other.contents_)),
      position_(other.position_),
      path_(std::move(other.path_)) {}

// The other object closes the file that was open here when it is destroyed.
File& File::operator=(File&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(owned_, other.owned_);
  std::swap(contents_, other.contents_);
  std::swap(position_, other.position_);
  std::swap(path_, other.path_);
  return *this;
}

File::~File() {
  if (owned_ && descriptor_ >= 0) ::close(descriptor_);
}

Result<File> File::open_to_read(const fs::path& path) {
  KIN_TRY(const int descriptor, open_descriptor(path, O_RDONLY, "open"));
  File file(descriptor, path, true);
  // A folder can be opened like a file. The error comes here and not at the first read().
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return system_error("open", path, errno);
  if (S_ISDIR(status.st_mode)) return system_error("read", path, EISDIR);
  return file;
}

File File::reading(std::shared_ptr<FileContents> contents, fs::path path) {
  File file(-1, std::move(path), false);
  file.contents_ = std::move(contents);
  return file;
}

// O_RDWR, not O_WRONLY: some callers read back what they wrote.
Result<File> File::create(const fs::path& path) {
  KIN_TRY(const int descriptor, open_descriptor(path, O_RDWR | O_CREAT | O_TRUNC, "create"));
  return File(descriptor, path, true);
}

Result<File> File::open_to_update(const fs::path& path) {
  KIN_TRY(const int descriptor, open_descriptor(path, O_RDWR | O_CREAT, "open"));
  return File(descriptor, path, true);
}

Result<File> File::create_temporary(const std::optional<fs::path>& folder) {
  KIN_TRY(std::string pattern, temporary_pattern(folder));
  // O_TMPFILE would spare the name, but not every file system has it.
  const int descriptor = ::mkostemp(pattern.data(), O_CLOEXEC);
  if (descriptor < 0) return system_error("make a file in", fs::path(pattern).parent_path(), errno);
  File file(descriptor, pattern, true);
  if (::unlink(pattern.c_str()) != 0) return system_error("remove", pattern, errno);
  return file;
}

File File::standard_input() {
  return File(STDIN_FILENO, "standard input", false);
}
File File::standard_output() {
  return File(STDOUT_FILENO, "standard output", false);
}

// Gives what there is: pipes and terminals return less than was asked for.
Result<std::size_t> File::read(char* to, std::size_t capacity) {
  if (contents_ != nullptr) {
    const std::size_t count = std::min<std::uint64_t>(capacity, contents_->size() - position_);
    KIN_RETURN_IF_ERROR(contents_->read_at(position_, to, count));
    position_ += count;
    return count;
  }
  for (;;) {
    const ssize_t got = ::read(descriptor_, to, capacity);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) return system_error("read", path_, errno);
  }
}

Result<bool> File::wait_to_read(std::chrono::milliseconds timeout) const {
  // poll() and not select(), which cannot wait for descriptors above 1023.
  pollfd wanted{.fd = descriptor_, .events = POLLIN, .revents = 0};
  const int ready = ::poll(&wanted, 1, static_cast<int>(timeout.count()));
  if (ready < 0 && errno != EINTR) return system_error("read", path_, errno);
  return ready > 0;
}

Status File::read_at(std::uint64_t offset, char* to, std::size_t count) const {
  if (contents_ != nullptr) return contents_->read_at(offset, to, count);
  while (count > 0) {
    const ssize_t got = ::pread(descriptor_, to, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read", path_, errno);
    // The end of the file. Asking again would return 0 for ever.
    if (got == 0) {
      return Error{Code::kDataLoss,
                   fmt::format("{} is shorter than it should be: it ends at byte {}",
                               path_.string(), offset)};
    }
    to += got;
    offset += static_cast<std::uint64_t>(got);
    count -= static_cast<std::size_t>(got);
  }
  return Done{};
}

Status File::write(std::string_view bytes) {
  return write_all(bytes, path_, [&](std::string_view rest) {
    return ::write(descriptor_, rest.data(), rest.size());
  });
}

Status File::write_at(std::uint64_t offset, std::string_view bytes) {
  const std::uint64_t end = offset + bytes.size();
  return write_all(bytes, path_, [&](std::string_view rest) {
    return ::pwrite(descriptor_, rest.data(), rest.size(), static_cast<off_t>(end - rest.size()));
  });
}

void File::begin_sync(std::uint64_t offset, std::uint64_t count) const {
  // A hint: if it fails, sync() has more to do, and reports the error.
  (void)::sync_file_range(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(count),
                          SYNC_FILE_RANGE_WRITE);
}

fs::path File::path_of_descriptor() const {
  return fmt::format("/proc/self/fd/{}", descriptor_);
}

Status File::sync() {
  // fdatasync() also writes the file's size if that is needed to read the data, but not its times,
  // which would cost a second write.
  return system_status(::fdatasync(descriptor_), "sync", path_);
}

Status File::truncate(std::uint64_t size) {
  return system_status(::ftruncate(descriptor_, static_cast<off_t>(size)), "truncate", path_);
}

Result<std::uint64_t> File::size() const {
  if (contents_ != nullptr) return contents_->size();
  struct stat status{};
  if (::fstat(descriptor_, &status) != 0) return system_error("read", path_, errno);
  return static_cast<std::uint64_t>(status.st_size);
}

Status File::lock() {
  // flock() and not fcntl(): the lock belongs to the open file, so another open file of the same
  // process is refused too, and closing an unrelated one does not release it.
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return Done{};
  if (errno != EWOULDBLOCK) return system_error("lock", path_, errno);
  return Error{
      Code::kFailedPrecondition,
      fmt::format("{} is in use (wait for the other run, or choose another path)", path_.string())};
}

Status File::close() {
  // The descriptor is gone even if close() fails: Linux releases it first, and closing it again
  // could hit a file that was opened meanwhile.
  const int descriptor = std::exchange(descriptor_, -1);
  if (!owned_ || descriptor < 0) return Done{};
  return system_status(::close(descriptor), "close", path_);
}

fs::path temporary_name(const fs::path& target) {
  // The process id keeps two processes that write the same target apart.
  const std::string name = fmt::format(".{}.kindred-{}{}", target.stem().string(), ::getpid(),
                                       target.extension().string());
  return target.has_parent_path() ? target.parent_path() / name : fs::path(name);
}

Status sync_folder(const fs::path& path) {
  // open("") fails, and the parent of a name without a folder is empty.
  const fs::path folder = path.empty() ? fs::path(".") : path;
  KIN_TRY(const int descriptor, open_descriptor(folder, O_RDONLY | O_DIRECTORY, "open"));
  const Status synced = system_status(::fsync(descriptor), "sync", folder);
  ::close(descriptor);
  return synced;
}

Status rename_durably(const fs::path& from, const fs::path& to) {
  KIN_RETURN_IF_ERROR(system_status(::rename(from.c_str(), to.c_str()), "rename to", to));
  return sync_folder(to.parent_path());
}

AtomicFile::AtomicFile(File file, fs::path temporary, fs::path target)
    : file_(std::move(file)), temporary_(std::move(temporary)), target_(std::move(target)) {}

Result<AtomicFile> AtomicFile::create(const fs::path& path) {
  fs::path temporary = temporary_name(path);
  auto file = File::create(temporary);
  if (file) return AtomicFile(std::move(*file), std::move(temporary), path);
  const auto& [code, message] = file.error();
  return Error{code, fmt::format("{} (while making {})", message, path.string())};
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Status AtomicFile::commit() {
  // The bytes are on the device before the name is: after a power cut the target is the old file or
  // the whole new one.
  KIN_RETURN_IF_ERROR(file_.sync());
  KIN_RETURN_IF_ERROR(file_.close());
  KIN_RETURN_IF_ERROR(rename_durably(temporary_, target_));
  temporary_.clear();
  return Done{};
}

Result<TemporaryFolder> TemporaryFolder::create(const std::optional<fs::path>& parent) {
  KIN_TRY(std::string pattern, temporary_pattern(parent));
  if (::mkdtemp(pattern.data()) == nullptr)
    return system_error("make a folder in", fs::path(pattern).parent_path(), errno);
  return TemporaryFolder(fs::path(pattern));
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;  // a leftover folder is harmless, and a destructor cannot report
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

Result<bool> file_exists(const std::filesystem::path& path) {
  std::error_code failure;
  const bool there = std::filesystem::exists(path, failure);
  if (failure) return system_error("look at", path, failure.value());
  return there;
}

Result<std::string> read_file(const fs::path& path) {
  KIN_TRY(File file, File::open_to_read(path));
  KIN_TRY(const std::uint64_t size, file.size());
  std::string bytes(size, '\0');
  std::size_t filled = 0;
  for (;;) {
    // The size is only a first guess: files of /proc have a size of 0, and others may grow while
    // they are read.
    if (filled == bytes.size()) bytes.resize(bytes.size() + 4096);
    KIN_TRY(const std::size_t got, file.read(bytes.data() + filled, bytes.size() - filled));
    if (got == 0) break;
    filled += got;
  }
  bytes.resize(filled);
  return bytes;
}

Status write_file_atomically(const fs::path& path, std::string_view bytes) {
  KIN_TRY(AtomicFile file, AtomicFile::create(path));
  KIN_RETURN_IF_ERROR(file.write(bytes));
  return file.commit();
}

}  // namespace kin
