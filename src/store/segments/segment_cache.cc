#include "store/segments/segment_cache.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <tuple>
#include <vector>

namespace kin::store {
namespace {

constexpr std::string_view kPart = ".part";

}  // namespace

SegmentCache::SegmentCache(Disk& disk, std::filesystem::path folder, std::uint64_t most_bytes)
    : disk_(disk), folder_(std::move(folder)), most_bytes_(most_bytes) {
  count(disk_.make_folder(folder_));
  // Removes unfinished files of killed processes. A process that is still writing keeps its open
  // file, and finds that it cannot be renamed.
  if (const auto names = disk_.list(folder_)) {
    for (const std::string& name : *names) {
      if (name.ends_with(kPart)) count(disk_.remove(folder_ / name));
    }
  }
}

std::filesystem::path SegmentCache::path_of(const std::string& name) const {
  // A segment's name begins with a folder of the bucket.
  return folder_ / std::filesystem::path(name).filename();
}

void SegmentCache::count(const Status& status) {
  if (!status.ok()) ++failures_;
}

std::shared_ptr<DiskFile> SegmentCache::find(const SegmentInfo& segment) {
  const std::filesystem::path path = path_of(segment.name);
  {
    const std::scoped_lock lock(mutex_);
    last_use_[path.filename().string()] = ++uses_;
  }
  const auto there = disk_.exists(path);
  if (!there || !*there) return nullptr;
  auto file = disk_.open_to_read(path);
  if (!file) return nullptr;
  const auto size = (*file)->size();
  if (!size || *size != segment.bytes) {
    forget(segment.name);
    return nullptr;
  }
  return std::move(*file);
}

Result<std::shared_ptr<DiskFile>> SegmentCache::add(const std::string& name, const Fill& fill) {
  const std::filesystem::path path = path_of(name);
  std::filesystem::path part;
  {
    const std::scoped_lock lock(mutex_);
    last_use_[path.filename().string()] = ++uses_;
    part = path;
    part += fmt::format(".{}-{}{}", ::getpid(), uses_, kPart);
  }
  auto file = disk_.create(part);
  if (!file) {
    ++failures_;
    return file.error();
  }
  const Status filled = fill(**file);
  if (!filled.ok()) {
    count(disk_.remove(part));
    return filled.error();
  }
  KIN_TRY(const std::uint64_t bytes, (*file)->size());
  if (takes(bytes)) {
    make_room(bytes);
    count(disk_.rename(part, path));
  } else {
    count(disk_.remove(part));  // the open file stays usable
  }
  return std::shared_ptr<DiskFile>(std::move(*file));
}

void SegmentCache::forget(const std::string& name) {
  const std::filesystem::path path = path_of(name);
  const auto there = disk_.exists(path);
  if (there && *there) count(disk_.remove(path));
}

void SegmentCache::make_room(std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  const auto names = disk_.list(folder_);
  if (!names) {
    ++failures_;
    return;
  }
  // Least recently used by this process first; unused files by age, the oldest first.
  std::vector<std::tuple<std::uint64_t, std::string, std::uint64_t>> files;
  std::uint64_t total = bytes;
  for (const std::string& name : *names) {
    if (name.ends_with(kPart)) continue;
    const auto file = disk_.open_to_read(folder_ / name);
    if (!file) continue;  // another process removed it
    const auto size = (*file)->size();
    if (!size) continue;
    const auto used = last_use_.find(name);
    files.emplace_back(used == last_use_.end() ? 0 : used->second, name, *size);
    total += *size;
  }
  std::sort(files.begin(), files.end());
  for (const auto& [used, name, size] : files) {
    if (total <= most_bytes_) break;
    count(disk_.remove(folder_ / name));
    last_use_.erase(name);
    total -= size;
  }
}

}  // namespace kin::store
