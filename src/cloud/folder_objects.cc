// Objects as files below a folder.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "base/file.h"
#include "cloud/object_store.h"

namespace kin::cloud {
namespace {

namespace fs = std::filesystem;

// Files that are being written. No object has a name in it: a segment "." is not one of a name.
constexpr const char* kUnfinished = ".unfinished";

Status check_name(const std::string& name) {
  std::size_t from = 0;
  while (from <= name.size()) {
    const std::size_t end = std::min(name.find('/', from), name.size());
    const std::string_view segment = std::string_view(name).substr(from, end - from);
    if (segment.empty() || segment.front() == '.')
      return Error{Code::kInvalidArgument, fmt::format("\"{}\" is not the name of an object", name)};
    from = end + 1;
  }
  return Done{};
}

Error failure(const fs::path& path, const std::error_code& problem) {
  return {Code::kUnavailable, fmt::format("{}: {}", path.string(), problem.message())};
}

class FolderObjects final : public ObjectStore {
 public:
  explicit FolderObjects(fs::path folder) : folder_(std::move(folder)) {}

  Result<std::optional<std::string>> get(const std::string& name) override {
    KIN_RETURN_IF_ERROR(check_name(name));
    KIN_TRY(const bool there, is_object(name));
    if (!there) return std::optional<std::string>();
    auto bytes = read_file(folder_ / name);
    // It was removed since.
    if (!bytes && bytes.error().code == Code::kNotFound) return std::optional<std::string>();
    if (!bytes) return bytes.error();
    return std::optional(std::move(*bytes));
  }
  Result<std::vector<std::string>> get_ranges(const std::string& name,
                                              std::span<const ByteRange> ranges) override;
  Result<bool> create(const std::string& name, std::string bytes) override;
  Status upload(const std::string& name, const ObjectSource& source) override;
  Result<std::vector<std::string>> list(const std::string& prefix, int most,
                                        std::string& next) override;
  Status remove(std::span<const std::string> names) override;

 private:
  Result<bool> is_object(const std::string& name) const {
    std::error_code problem;
    const auto status = fs::status(folder_ / name, problem);
    if (fs::is_regular_file(status)) return true;
    if (!problem || problem == std::errc::no_such_file_or_directory ||
        problem == std::errc::not_a_directory)
      return false;
    return failure(folder_ / name, problem);
  }
  // Makes the folders above a file, durably.
  Status make_folders(const fs::path& folder) const;
  // A file with the bytes of the source, on the device, under a name that nobody else uses.
  Result<fs::path> write_unfinished(const ObjectSource& source);

  const fs::path folder_;
  std::atomic<std::uint64_t> written_{0};
};

Status FolderObjects::make_folders(const fs::path& folder) const {
  std::error_code problem;
  if (fs::is_directory(folder, problem)) return Done{};
  if (folder.has_parent_path()) KIN_RETURN_IF_ERROR(make_folders(folder.parent_path()));
  fs::create_directory(folder, problem);
  if (problem) return failure(folder, problem);
  return sync_folder(folder.parent_path());
}

Result<fs::path> FolderObjects::write_unfinished(const ObjectSource& source) {
  const fs::path folder = folder_ / kUnfinished;
  KIN_RETURN_IF_ERROR(make_folders(folder));
  // O_EXCL: processes of several machines may have the same number.
  fs::path path;
  int made = -1;
  do {
    path = folder / fmt::format("{}-{}", ::getpid(), written_.fetch_add(1));
    made = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
  } while (made < 0 && errno == EEXIST);
  if (made < 0) return system_error("create", path, errno);
  ::close(made);
  const auto fill = [&]() -> Status {
    KIN_TRY(File file, File::create(path));
    std::string buffer(std::size_t{1} << 20, '\0');
    for (;;) {
      KIN_TRY(const std::size_t count, source(buffer));
      if (count == 0) break;
      KIN_RETURN_IF_ERROR(file.write(std::string_view(buffer).substr(0, count)));
    }
    KIN_RETURN_IF_ERROR(file.sync());
    return file.close();
  };
  const Status filled = fill();
  if (filled.ok()) return path;
  ::unlink(path.c_str());
  return filled.error();
}

Result<bool> FolderObjects::create(const std::string& name, std::string bytes) {
  KIN_RETURN_IF_ERROR(check_name(name));
  const fs::path target = folder_ / name;
  KIN_RETURN_IF_ERROR(make_folders(target.parent_path()));
  KIN_TRY(const bool there, is_object(name));
  bool created = false;
  if (!there) {
    KIN_TRY(const fs::path unfinished, write_unfinished(source_of(bytes)));
    const int linked = ::link(unfinished.c_str(), target.c_str());
    const int problem = errno;
    ::unlink(unfinished.c_str());
    if (linked != 0 && problem != EEXIST) return system_error("create", target, problem);
    created = linked == 0;
  }
  // Also if another writer was faster: the caller relies on that object, too.
  KIN_RETURN_IF_ERROR(sync_folder(target.parent_path()));
  return created;
}

Status FolderObjects::upload(const std::string& name, const ObjectSource& source) {
  KIN_RETURN_IF_ERROR(check_name(name));
  const fs::path target = folder_ / name;
  KIN_RETURN_IF_ERROR(make_folders(target.parent_path()));
  KIN_TRY(const fs::path unfinished, write_unfinished(source));
  return rename_durably(unfinished, target);
}

Result<std::vector<std::string>> FolderObjects::get_ranges(const std::string& name,
                                                           std::span<const ByteRange> ranges) {
  KIN_RETURN_IF_ERROR(check_name(name));
  KIN_TRY(const bool there, is_object(name));
  if (!there)
    return Error{Code::kNotFound, fmt::format("there is no {}", (folder_ / name).string())};
  KIN_TRY(const File file, File::open_to_read(folder_ / name));
  KIN_TRY(const std::uint64_t size, file.size());
  std::vector<std::string> parts;
  for (const ByteRange& range : ranges) {
    if (range.size == 0 || range.offset > size || range.size > size - range.offset)
      return Error{Code::kInvalidArgument,
                   fmt::format("a range does not lie within {}", (folder_ / name).string())};
    parts.emplace_back(range.size, '\0');
    KIN_RETURN_IF_ERROR(file.read_at(range.offset, parts.back().data(), range.size));
  }
  return parts;
}

Result<std::vector<std::string>> FolderObjects::list(const std::string& prefix, int most,
                                                     std::string& next) {
  const std::size_t end = prefix.rfind('/');
  const fs::path below = end == std::string::npos ? folder_ : folder_ / prefix.substr(0, end);
  std::vector<std::string> names;
  std::error_code problem;
  for (fs::recursive_directory_iterator at(below, problem), last; !problem && at != last;
       at.increment(problem)) {
    if (at->path().filename().native().front() == '.') {
      at.disable_recursion_pending();
      continue;
    }
    std::error_code vanished;
    if (!at->is_regular_file(vanished)) continue;
    std::string name = at->path().lexically_relative(folder_).generic_string();
    if (name.starts_with(prefix) && name > next) names.push_back(std::move(name));
  }
  if (problem && problem != std::errc::no_such_file_or_directory &&
      problem != std::errc::not_a_directory)
    return failure(below, problem);
  std::sort(names.begin(), names.end());
  const bool more = names.size() > static_cast<std::size_t>(most);
  if (more) names.resize(static_cast<std::size_t>(most));
  next = more ? names.back() : "";
  return names;
}

Status FolderObjects::remove(std::span<const std::string> names) {
  for (const std::string& name : names) {
    KIN_RETURN_IF_ERROR(check_name(name));
    std::error_code problem;
    fs::remove(folder_ / name, problem);
    if (problem && problem != std::errc::not_a_directory) return failure(folder_ / name, problem);
  }
  return Done{};
}

}  // namespace

std::unique_ptr<ObjectStore> open_folder_objects(fs::path folder) {
  return std::make_unique<FolderObjects>(std::move(folder));
}

}  // namespace kin::cloud
