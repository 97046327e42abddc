#include "base/disk.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/file.h"

namespace kin {
namespace fs = std::filesystem;
namespace {

class SystemFile final : public DiskFile {
 public:
  SystemFile(File file, std::uint64_t end) : file_(std::move(file)), end_(end) {}

  Status read_at(std::uint64_t offset, char* to, std::size_t count) const override {
    return file_.read_at(offset, to, count);
  }
  Status append(std::string_view bytes) override { return write_at(end_, bytes); }
  Status write_at(std::uint64_t offset, std::string_view bytes) override;
  Status sync() override { return file_.sync(); }
  Status truncate(std::uint64_t size) override;
  Result<std::uint64_t> size() const override { return file_.size(); }
  Status lock() override { return file_.lock(); }

 private:
  File file_;
  // Where append() writes. O_APPEND would do that too, but on Linux it makes pwrite() append.
  std::uint64_t end_;
};

Status SystemFile::write_at(std::uint64_t offset, std::string_view bytes) {
  Status written = file_.write_at(offset, bytes);
  if (written.ok()) {
    end_ = std::max<std::uint64_t>(end_, offset + bytes.size());
  } else if (const auto size = file_.size(); size.ok()) {
    // A part of `bytes` may have been written. The next append() goes behind it.
    end_ = *size;
  }
  return written;
}

Status SystemFile::truncate(std::uint64_t size) {
  KIN_RETURN_IF_ERROR(file_.truncate(size));
  end_ = size;
  return Done{};
}

// The size is asked for in every case: it is 0 for a new file, and append() begins there.
Result<std::unique_ptr<DiskFile>> opened(Result<File> file) {
  if (!file) return file.error();
  KIN_TRY(const std::uint64_t size, file->size());
  return std::unique_ptr<DiskFile>(std::make_unique<SystemFile>(std::move(*file), size));
}

class SystemDisk final : public Disk {
 public:
  Result<std::unique_ptr<DiskFile>> open_to_read(const fs::path& path) override {
    return opened(File::open_to_read(path));
  }
  Result<std::unique_ptr<DiskFile>> create(const fs::path& path) override {
    return opened(File::create(path));
  }
  Result<std::unique_ptr<DiskFile>> open_to_write(const fs::path& path) override {
    return opened(File::open_to_update(path));
  }
  Result<std::unique_ptr<DiskFile>> create_temporary(
      const std::optional<fs::path>& folder) override {
    return opened(File::create_temporary(folder));
  }
  Status rename(const fs::path& from, const fs::path& to) override {
    return system_status(::rename(from.c_str(), to.c_str()), "rename to", to);
  }
  Status remove(const fs::path& path) override {
    return system_status(::unlink(path.c_str()), "remove", path);
  }
  Result<bool> exists(const fs::path& path) override { return file_exists(path); }
  Status make_folder(const fs::path& folder) override;
  Status sync_folder(const fs::path& folder) override { return kin::sync_folder(folder); }
  Result<std::vector<std::string>> list(const fs::path& folder) override;
};

Status SystemDisk::make_folder(const fs::path& folder) {
  // The parent of a relative name: the current folder, which exists.
  if (folder.empty()) return Done{};
  KIN_TRY(const bool there, file_exists(folder));
  if (there) return Done{};
  KIN_RETURN_IF_ERROR(make_folder(folder.parent_path()));
  std::error_code failure;
  fs::create_directory(folder, failure);
  if (failure) return system_error("make the folder", folder, failure.value());
  // A new folder is an entry of its parent, so the parent is what has to be synced.
  return kin::sync_folder(folder.parent_path());
}

Result<std::vector<std::string>> SystemDisk::list(const fs::path& folder) {
  std::error_code failure;
  std::vector<std::string> names;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    names.push_back(entry->path().filename().string());
  }
  if (failure) return system_error("list", folder, failure.value());
  // The order of a directory differs from one file system to the next.
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

Disk& system_disk() {
  static SystemDisk disk;
  return disk;
}

Result<std::string> read_whole(Disk& disk, const fs::path& path) {
  KIN_TRY(const auto file, disk.open_to_read(path));
  KIN_TRY(const std::uint64_t size, file->size());
  std::string bytes(size, '\0');
  KIN_RETURN_IF_ERROR(file->read_at(0, bytes.data(), bytes.size()));
  return bytes;
}

Status replace_file(Disk& disk, const fs::path& path,
                    const std::function<Status(DiskFile&)>& write) {
  const fs::path temporary = temporary_name(path);
  const auto put = [&]() -> Status {
    // Synced and closed before the rename: the device may write the name before the bytes, and the
    // name would stand for an empty file after a power cut.
    {
      KIN_TRY(const auto file, disk.create(temporary));
      KIN_RETURN_IF_ERROR(write(*file));
      KIN_RETURN_IF_ERROR(file->sync());
    }
    return disk.rename(temporary, path);
  };
  if (Status done = put(); !done.ok()) {
    (void)disk.remove(temporary);  // it may not exist, and the first failure is the one to report
    return done;
  }
  return disk.sync_folder(path.parent_path());
}

Status replace_whole(Disk& disk, const fs::path& path, std::string_view bytes) {
  return replace_file(disk, path, [&](DiskFile& file) { return file.append(bytes); });
}

}  // namespace kin
