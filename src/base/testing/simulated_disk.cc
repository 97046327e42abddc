#include "base/testing/simulated_disk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/file.h"

namespace kin {
namespace fs = std::filesystem;
namespace {

fs::path plain(const fs::path& path) {
  // "a/b/" and "a/./b" are the same name as "a/b".
  fs::path normal = path.lexically_normal();
  if (normal.has_relative_path() && !normal.has_filename()) normal = normal.parent_path();
  return normal.empty() ? fs::path(".") : normal;
}

fs::path folder_of(const fs::path& path) {
  return plain(path.parent_path());
}

}  // namespace

class SimulatedDisk::OpenFile final : public DiskFile {
 public:
  enum class Access { kRead, kWrite };

  OpenFile(SimulatedDisk& disk, fs::path path, NodePointer node, Access access)
      : disk_(disk), path_(std::move(path)), node_(std::move(node)), access_(access) {}
  ~OpenFile() override {
    const std::lock_guard lock(disk_.mutex_);
    if (node_->locked_by == this) node_->locked_by = nullptr;
  }

  Status read_at(std::uint64_t offset, char* to, std::size_t count) const override {
    const std::lock_guard lock(disk_.mutex_);
    KIN_RETURN_IF_ERROR(disk_.try_to(Operation::kRead, "read", path_));
    const std::string& bytes = node_->contents.bytes();
    // Reading nothing succeeds at any offset, as pread() does.
    if (count == 0) return Done{};
    if (offset > bytes.size() || count > bytes.size() - offset) {
      return Error{Code::kDataLoss,
                   fmt::format("{} is shorter than it should be: it ends at byte {}",
                               path_.string(), bytes.size())};
    }
    std::memcpy(to, bytes.data() + offset, count);
    return Done{};
  }

  Status append(std::string_view bytes) override {
    return write(Operation::kAppend, std::nullopt, bytes);
  }
  Status write_at(std::uint64_t offset, std::string_view bytes) override {
    return write(Operation::kWriteAt, offset, bytes);
  }

  Status sync() override {
    disk_.announce(Operation::kSync, path_);
    const std::lock_guard lock(disk_.mutex_);
    const Status synced = disk_.try_to(Operation::kSync, "sync", path_);
    // A failed sync drops the bytes, as Linux does: the pages are marked clean.
    synced.ok() ? node_->contents.sync() : node_->contents.fail_sync();
    return synced;
  }

  Status truncate(std::uint64_t size) override {
    if (access_ == Access::kRead) return system_error("truncate", path_, EINVAL);
    disk_.announce(Operation::kTruncate, path_);
    const std::lock_guard lock(disk_.mutex_);
    KIN_RETURN_IF_ERROR(disk_.try_to(Operation::kTruncate, "truncate", path_));
    node_->contents.truncate(size);
    return Done{};
  }

  Result<std::uint64_t> size() const override {
    const std::lock_guard lock(disk_.mutex_);
    return node_->contents.bytes().size();
  }

  Status lock() override {
    const std::lock_guard lock(disk_.mutex_);
    if (node_->locked_by != nullptr && node_->locked_by != this) {
      return Error{Code::kFailedPrecondition,
                   fmt::format("{} is in use (wait for the other run, or choose another path)",
                               path_.string())};
    }
    node_->locked_by = this;
    return Done{};
  }

 private:
  // At `offset`, or at the end.
  Status write(Operation operation, std::optional<std::uint64_t> offset, std::string_view bytes) {
    if (access_ == Access::kRead) return system_error("write", path_, EBADF);
    disk_.announce(operation, path_);
    const std::lock_guard lock(disk_.mutex_);
    const auto fault = disk_.strike(operation);
    const std::uint64_t at = offset.value_or(node_->contents.bytes().size());
    // A failing write leaves a prefix, as a full disk does.
    node_->contents.write_at(at, fault ? bytes.substr(0, fault->write_prefix) : bytes);
    if (fault) return system_error("write", path_, fault->error_number);
    return Done{};
  }

  SimulatedDisk& disk_;
  fs::path path_;
  NodePointer node_;
  Access access_;
};

void SimulatedDisk::NameChange::apply(Names& names) const {
  // The name may stand for another file where a power cut lost an earlier change.
  const auto old = names.find(removed);
  if (old != names.end() && old->second == node) names.erase(old);
  if (!added.empty()) names[added] = node;
}

bool SimulatedDisk::NameChange::touches(const fs::path& folder) const {
  return (!removed.empty() && folder_of(removed) == folder) ||
         (!added.empty() && folder_of(added) == folder);
}

void SimulatedDisk::fail(const std::optional<Fault>& fault) {
  const std::lock_guard lock(mutex_);
  fault_ = fault;
}

std::uint64_t SimulatedDisk::failures() const {
  const std::lock_guard lock(mutex_);
  return failures_;
}

std::uint64_t SimulatedDisk::steps() const {
  const std::lock_guard lock(mutex_);
  return steps_;
}

void SimulatedDisk::announce(Operation operation, const fs::path& path) {
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = ++steps_;
  }
  // Without the lock, so that the observer can cut the power.
  if (observer_) observer_({number, operation, path});
}

std::optional<SimulatedDisk::Fault> SimulatedDisk::strike(Operation operation) {
  if (!fault_) return std::nullopt;
  const bool counts = fault_->only ? *fault_->only == operation : operation != Operation::kRead;
  if (!counts) return std::nullopt;
  // Counts down to the operation that is to fail.
  if (fault_->nth > 1) {
    --fault_->nth;
    return std::nullopt;
  }
  const Fault fault = *fault_;
  if (!fault.for_good) fault_.reset();
  ++failures_;
  return fault;
}

Status SimulatedDisk::try_to(Operation operation, std::string_view action, const fs::path& path) {
  if (const auto fault = strike(operation)) return system_error(action, path, fault->error_number);
  return Done{};
}

void SimulatedDisk::change(NameChange change) {
  change.apply(names_);
  unsynced_names_.push_back(std::move(change));
}

bool SimulatedDisk::is_folder(const fs::path& path) const {
  return path == "." || path == "/" || folders_.contains(path);
}

std::unique_ptr<SimulatedDisk> SimulatedDisk::power_cut(const PowerCut& cut) const {
  const std::lock_guard lock(mutex_);
  Random random(cut.seed);
  Names names = device_names_;
  // In order, so that of two kept changes of one name the later one wins.
  for (const NameChange& change : unsynced_names_) {
    const bool kept =
        cut.names == UnsyncedNames::kAny ? random.below(2) == 0 : cut.names == UnsyncedNames::kKept;
    if (kept) change.apply(names);
  }
  auto disk = std::make_unique<SimulatedDisk>();
  disk->folders_ = folders_;
  for (const auto& [path, node] : names) {
    disk->names_[path] = std::make_shared<Node>(
        Node{SimulatedContents(node->contents.after_power_cut(cut.bytes, random))});
  }
  // After the restart everything that is there is on the device.
  disk->device_names_ = disk->names_;
  return disk;
}

Hash128 SimulatedDisk::digest() const {
  const std::lock_guard lock(mutex_);
  std::string all;
  for (const fs::path& folder : folders_) all += folder.string() + '\0';
  for (const auto& [path, node] : names_) {
    const Hash128 bytes = hash128(node->contents.bytes());
    all += path.string() + '\0';
    append_le(all, bytes.low);
    append_le(all, bytes.high);
  }
  return hash128(all);
}

std::vector<fs::path> SimulatedDisk::files() const {
  const std::lock_guard lock(mutex_);
  std::vector<fs::path> paths;
  for (const auto& [path, node] : names_) paths.push_back(path);
  return paths;
}

SimulatedDisk::Node& SimulatedDisk::node_at(const fs::path& path) {
  const auto found = names_.find(plain(path));
  KIN_CHECK(found != names_.end(), "only a file that exists can be damaged");
  return *found->second;
}

void SimulatedDisk::flip_bit(const fs::path& path, std::uint64_t bit) {
  const std::lock_guard lock(mutex_);
  Node& node = node_at(path);
  std::string bytes = node.contents.bytes();
  KIN_CHECK(bit / 8 < bytes.size(), "flip_bit behind the end of a file");
  bytes[bit / 8] = static_cast<char>(static_cast<unsigned char>(bytes[bit / 8]) ^ (1U << bit % 8));
  node.contents = SimulatedContents(std::move(bytes));
}

void SimulatedDisk::replace(const fs::path& path, std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  node_at(path).contents = SimulatedContents(std::string(bytes));
}

Result<std::unique_ptr<DiskFile>> SimulatedDisk::open_to_read(const fs::path& given) {
  const fs::path path = plain(given);
  const std::lock_guard lock(mutex_);
  if (is_folder(path)) return system_error("read", path, EISDIR);
  const auto found = names_.find(path);
  if (found == names_.end()) return system_error("open", path, ENOENT);
  return std::unique_ptr<DiskFile>(
      std::make_unique<OpenFile>(*this, path, found->second, OpenFile::Access::kRead));
}

Result<SimulatedDisk::NodePointer> SimulatedDisk::make(const fs::path& path) {
  KIN_RETURN_IF_ERROR(try_to(Operation::kCreate, "create", path));
  if (is_folder(path)) return system_error("create", path, EISDIR);
  if (!is_folder(folder_of(path))) return system_error("create", path, ENOENT);
  const auto found = names_.find(path);
  if (found != names_.end()) return found->second;
  auto node = std::make_shared<Node>();
  change({{}, path, node});
  return node;
}

Result<std::unique_ptr<DiskFile>> SimulatedDisk::create(const fs::path& given) {
  const fs::path path = plain(given);
  announce(Operation::kCreate, path);
  const std::lock_guard lock(mutex_);
  KIN_TRY(NodePointer node, make(path));
  // Emptying a file is a change of its contents, which a power cut may undo.
  if (!node->contents.bytes().empty()) node->contents.truncate(0);
  return std::unique_ptr<DiskFile>(
      std::make_unique<OpenFile>(*this, path, std::move(node), OpenFile::Access::kWrite));
}

Result<std::unique_ptr<DiskFile>> SimulatedDisk::open_to_write(const fs::path& given) {
  const fs::path path = plain(given);
  KIN_TRY(const bool there, exists(path));
  if (!there) announce(Operation::kCreate, path);
  const std::lock_guard lock(mutex_);
  const auto found = names_.find(path);
  NodePointer node = found == names_.end() ? nullptr : found->second;
  if (node == nullptr) {
    KIN_TRY(node, make(path));
  }
  return std::unique_ptr<DiskFile>(
      std::make_unique<OpenFile>(*this, path, std::move(node), OpenFile::Access::kWrite));
}

Result<std::unique_ptr<DiskFile>> SimulatedDisk::create_temporary(
    const std::optional<fs::path>& folder) {
  const fs::path path = folder.value_or("/") / "temporary";
  announce(Operation::kCreate, path);
  const std::lock_guard lock(mutex_);
  KIN_RETURN_IF_ERROR(try_to(Operation::kCreate, "make a file in", path.parent_path()));
  return std::unique_ptr<DiskFile>(
      std::make_unique<OpenFile>(*this, path, std::make_shared<Node>(), OpenFile::Access::kWrite));
}

Status SimulatedDisk::rename(const fs::path& given_from, const fs::path& given_to) {
  const fs::path from = plain(given_from);
  const fs::path to = plain(given_to);
  announce(Operation::kRename, to);
  const std::lock_guard lock(mutex_);
  KIN_RETURN_IF_ERROR(try_to(Operation::kRename, "rename to", to));
  if (is_folder(to)) return system_error("rename to", to, EISDIR);
  const auto found = names_.find(from);
  if (found == names_.end() || !is_folder(folder_of(to)))
    return system_error("rename to", to, ENOENT);
  if (from != to) change({from, to, found->second});
  return Done{};
}

Status SimulatedDisk::remove(const fs::path& given) {
  const fs::path path = plain(given);
  announce(Operation::kRemove, path);
  const std::lock_guard lock(mutex_);
  KIN_RETURN_IF_ERROR(try_to(Operation::kRemove, "remove", path));
  const auto found = names_.find(path);
  if (found == names_.end()) return system_error("remove", path, is_folder(path) ? EISDIR : ENOENT);
  change({path, {}, found->second});
  return Done{};
}

Result<bool> SimulatedDisk::exists(const fs::path& given) {
  const fs::path path = plain(given);
  const std::lock_guard lock(mutex_);
  return names_.contains(path) || is_folder(path);
}

Status SimulatedDisk::make_folder(const fs::path& given) {
  const fs::path folder = plain(given);
  announce(Operation::kMakeFolder, folder);
  const std::lock_guard lock(mutex_);
  KIN_RETURN_IF_ERROR(try_to(Operation::kMakeFolder, "make the folder", folder));
  // First look, then make: a failure must not leave half of the folders.
  for (fs::path path = folder; !is_folder(path); path = folder_of(path)) {
    if (names_.contains(path)) return system_error("make the folder", path, ENOTDIR);
  }
  for (fs::path path = folder; !is_folder(path); path = folder_of(path)) folders_.insert(path);
  return Done{};
}

Status SimulatedDisk::sync_folder(const fs::path& given) {
  const fs::path folder = plain(given);
  announce(Operation::kSyncFolder, folder);
  const std::lock_guard lock(mutex_);
  // Names go through a journal: after a failed sync they may still be written by the next.
  KIN_RETURN_IF_ERROR(try_to(Operation::kSyncFolder, "sync", folder));
  if (!is_folder(folder)) return system_error("open", folder, ENOENT);
  std::vector<NameChange> others;
  for (NameChange& change : unsynced_names_) {
    if (change.touches(folder))
      change.apply(device_names_);
    else
      others.push_back(std::move(change));
  }
  unsynced_names_ = std::move(others);
  return Done{};
}

Result<std::vector<std::string>> SimulatedDisk::list(const fs::path& given) {
  const fs::path folder = plain(given);
  const std::lock_guard lock(mutex_);
  if (!is_folder(folder)) return system_error("list", folder, ENOENT);
  std::vector<std::string> names;
  for (const auto& [path, node] : names_) {
    if (folder_of(path) == folder) names.push_back(path.filename().string());
  }
  for (const fs::path& path : folders_) {
    if (folder_of(path) == folder) names.push_back(path.filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace kin
