// A disk in memory that fails, loses power and rots when it is told to, for tests of stores that
// must survive crashes.
#pragma once

#include <cerrno>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "base/disk.h"
#include "base/hash.h"
#include "base/testing/simulated_contents.h"

namespace kin {

// The fate of names that were made, changed or removed in a folder that was not synced since. A
// rename is lost or kept as a whole, as in a journal.
enum class UnsyncedNames { kLost, kKept, kAny };  // kAny: each change by itself

struct PowerCut {
  UnsyncedBytes bytes = UnsyncedBytes::kAny;
  UnsyncedNames names = UnsyncedNames::kAny;
  std::uint64_t seed = 0;
};

// Thread-safe. Files must not outlive it.
class SimulatedDisk final : public Disk {
 public:
  enum class Operation {
    kCreate,
    kAppend,
    kWriteAt,
    kSync,
    kTruncate,
    kRename,
    kRemove,
    kMakeFolder,
    kSyncFolder,
    kRead,  // changes nothing: neither observed nor counted, and fails only when asked for
  };
  static constexpr Operation kChanges[] = {
      Operation::kCreate, Operation::kAppend,     Operation::kWriteAt,
      Operation::kSync,   Operation::kTruncate,   Operation::kRename,
      Operation::kRemove, Operation::kMakeFolder, Operation::kSyncFolder};

  // The `nth` operation from now on, counted from 1, fails and changes nothing, except that a
  // write (append or write_at) writes `write_prefix` bytes first and a sync drops what it should
  // have written.
  struct Fault {
    std::uint64_t nth = 1;
    std::optional<Operation> only = std::nullopt;  // count and fail these; otherwise every change
    int error_number = EIO;
    std::uint64_t write_prefix = 0;
    bool for_good = false;  // and so does each such operation after it
  };

  // One change, about to happen.
  struct Step {
    std::uint64_t number;  // counted from 1 since the disk was made
    Operation operation;
    std::filesystem::path path;
  };
  using Observer = std::function<void(const Step&)>;

  SimulatedDisk() = default;
  SimulatedDisk(const SimulatedDisk&) = delete;
  SimulatedDisk& operator=(const SimulatedDisk&) = delete;

  // Replaces the fault that was set before; an empty one removes it.
  void fail(const std::optional<Fault>& fault);
  // How many operations have failed because of fail().
  std::uint64_t failures() const;
  // How many changes were asked for.
  std::uint64_t steps() const;
  // Called before each change, on the thread that makes it; may read the disk and cut the power,
  // and must not change it. Set it while nothing else happens.
  void observe(Observer observer) { observer_ = std::move(observer); }

  // A copy of this disk as a machine might find it after a power cut now. Synced bytes and names
  // are always there. This disk is not changed.
  std::unique_ptr<SimulatedDisk> power_cut(const PowerCut& cut) const;

  // Hash of the names of folders and files and of the bytes that programs read in them.
  Hash128 digest() const;

  // Every file, sorted.
  std::vector<std::filesystem::path> files() const;
  // Changes a file on the device and for every open file. The file must exist; bits count from the
  // lowest of the first byte.
  void flip_bit(const std::filesystem::path& path, std::uint64_t bit);
  void replace(const std::filesystem::path& path, std::string_view bytes);

  Result<std::unique_ptr<DiskFile>> open_to_read(const std::filesystem::path& path) override;
  Result<std::unique_ptr<DiskFile>> create(const std::filesystem::path& path) override;
  Result<std::unique_ptr<DiskFile>> open_to_write(const std::filesystem::path& path) override;
  Result<std::unique_ptr<DiskFile>> create_temporary(
      const std::optional<std::filesystem::path>& folder) override;
  Status rename(const std::filesystem::path& from, const std::filesystem::path& to) override;
  Status remove(const std::filesystem::path& path) override;
  Result<bool> exists(const std::filesystem::path& path) override;
  Status make_folder(const std::filesystem::path& folder) override;
  Status sync_folder(const std::filesystem::path& folder) override;
  Result<std::vector<std::string>> list(const std::filesystem::path& folder) override;

 private:
  class OpenFile;
  struct Node {
    SimulatedContents contents;
    const OpenFile* locked_by = nullptr;
  };
  using NodePointer = std::shared_ptr<Node>;
  using Names = std::map<std::filesystem::path, NodePointer>;
  // `node` lost the name `removed` and got the name `added`; either may be empty.
  struct NameChange {
    std::filesystem::path removed;
    std::filesystem::path added;
    NodePointer node;

    void apply(Names& names) const;
    bool touches(const std::filesystem::path& folder) const;
  };

  void announce(Operation operation, const std::filesystem::path& path);
  // The fault that strikes this operation, if one does.
  std::optional<Fault> strike(Operation operation);
  // The same as an error: "cannot ACTION PATH: ...".
  Status try_to(Operation operation, std::string_view action, const std::filesystem::path& path);
  Node& node_at(const std::filesystem::path& path);
  Result<NodePointer> make(const std::filesystem::path& path);
  void change(NameChange change);
  bool is_folder(const std::filesystem::path& path) const;

  mutable std::mutex mutex_;
  Observer observer_;
  std::optional<Fault> fault_;
  std::uint64_t failures_ = 0;
  std::uint64_t steps_ = 0;
  std::set<std::filesystem::path> folders_;
  Names names_;
  Names device_names_;
  std::vector<NameChange> unsynced_names_;
};

}  // namespace kin
