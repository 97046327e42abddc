#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace kin {
namespace fs = std::filesystem;
namespace {

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
  do {
    descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) return system_error(action, path, errno);
  return descriptor;
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

File::File(int descriptor, fs::path path, bool owned)
    : descriptor_(descriptor), owned_(owned), path_(std::move(path)) {}

File::File(File&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      owned_(other.owned_),
      path_(std::move(other.path_)) {}

File& File::operator=(File&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(owned_, other.owned_);
  std::swap(path_, other.path_);
  return *this;
}

File::~File() {
  if (owned_ && descriptor_ >= 0) ::close(descriptor_);
}

Result<File> File::open_to_read(const fs::path& path) {
  KIN_TRY(const int descriptor, open_descriptor(path, O_RDONLY, "open"));
  File file(descriptor, path, true);
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return system_error("open", path, errno);
  if (S_ISDIR(status.st_mode)) return system_error("read", path, EISDIR);
  return file;
}

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

Result<std::size_t> File::read(char* to, std::size_t capacity) {
  for (;;) {
    const ssize_t got = ::read(descriptor_, to, capacity);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) return system_error("read", path_, errno);
  }
}

Result<bool> File::wait_to_read(std::chrono::milliseconds timeout) const {
  pollfd wanted{.fd = descriptor_, .events = POLLIN, .revents = 0};
  const int ready = ::poll(&wanted, 1, static_cast<int>(timeout.count()));
  if (ready < 0 && errno != EINTR) return system_error("read", path_, errno);
  return ready > 0;
}

Status File::read_at(std::uint64_t offset, char* to, std::size_t count) const {
  while (count > 0) {
    const ssize_t got = ::pread(descriptor_, to, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read", path_, errno);
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
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return system_error("write", path_, errno);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return Done{};
}

Status File::write_at(std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put =
        ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return system_error("write", path_, errno);
    bytes.remove_prefix(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
  return Done{};
}

void File::begin_sync(std::uint64_t offset, std::uint64_t count) const {
  (void)::sync_file_range(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(count),
                          SYNC_FILE_RANGE_WRITE);
}

Status File::sync() {
  if (::fdatasync(descriptor_) != 0) return system_error("sync", path_, errno);
  return Done{};
}

Status File::truncate(std::uint64_t size) {
  if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0)
    return system_error("truncate", path_, errno);
  return Done{};
}

Result<std::uint64_t> File::size() const {
  struct stat status{};
  if (::fstat(descriptor_, &status) != 0) return system_error("read", path_, errno);
  return static_cast<std::uint64_t>(status.st_size);
}

Status File::lock() {
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return Done{};
  if (errno != EWOULDBLOCK) return system_error("lock", path_, errno);
  return Error{
      Code::kFailedPrecondition,
      fmt::format("{} is in use (wait for the other run, or choose another path)", path_.string())};
}

void File::drop_cache() const {
  (void)::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_DONTNEED);
}

Status File::close() {
  const int descriptor = std::exchange(descriptor_, -1);
  if (owned_ && descriptor >= 0 && ::close(descriptor) != 0)
    return system_error("close", path_, errno);
  return Done{};
}

fs::path temporary_name(const fs::path& target) {
  const std::string name = fmt::format(".{}.kindred-{}{}", target.stem().string(), ::getpid(),
                                       target.extension().string());
  return target.has_parent_path() ? target.parent_path() / name : fs::path(name);
}

Status sync_folder(const fs::path& path) {
  const fs::path folder = path.empty() ? fs::path(".") : path;
  KIN_TRY(const int descriptor, open_descriptor(folder, O_RDONLY | O_DIRECTORY, "open"));
  const int failure = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  if (failure != 0) return system_error("sync", folder, failure);
  return Done{};
}

Status rename_durably(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return system_error("rename to", to, errno);
  return sync_folder(to.parent_path());
}

AtomicFile::AtomicFile(File file, fs::path temporary, fs::path target)
    : file_(std::move(file)), temporary_(std::move(temporary)), target_(std::move(target)) {}

Result<AtomicFile> AtomicFile::create(const fs::path& path) {
  fs::path temporary = temporary_name(path);
  auto file = File::create(temporary);
  if (!file) {
    Error error = file.error();
    return Error{error.code, fmt::format("{} (while making {})", error.message, path.string())};
  }
  return AtomicFile(std::move(*file), std::move(temporary), path);
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Status AtomicFile::commit() {
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
  std::error_code ignored;  // a folder left behind harms nobody, and a destructor cannot report
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
  std::string bytes;
  bytes.resize(size);
  std::size_t filled = 0;
  for (;;) {
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
