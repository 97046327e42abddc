// Restoring a shard from its shipped log, and backups of it.
#include <fmt/format.h>

#include <algorithm>

#include "kv/shipped_batch.h"
#include "router/log_reader.h"
#include "router/log_snapshot.h"
#include "router/node/directory.h"

namespace kin::router {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kPiece = std::uint64_t{4} << 20;
constexpr std::size_t kPieces = 4;  // fetched at once

Disk& disk_of(const index::TruthOptions& files) {
  return files.disk != nullptr ? *files.disk : system_disk();
}

Status fetch_file(cloud::ObjectStore& objects, const SnapshotFile& file, Disk& disk,
                  const fs::path& path) {
  KIN_TRY(const auto to, disk.create(path));
  for (std::uint64_t at = 0; at < file.size;) {
    std::vector<cloud::ByteRange> ranges;
    for (; at < file.size && ranges.size() < kPieces; at += ranges.back().size)
      ranges.push_back({.offset = at, .size = std::min(kPiece, file.size - at)});
    KIN_TRY(const auto parts, objects.get_ranges(file.object, ranges));
    for (const std::string& part : parts) KIN_RETURN_IF_ERROR(to->append(part));
  }
  KIN_RETURN_IF_ERROR(to->sync());
  KIN_TRY(const Hash128 hash, content_hash(*to));
  if (hash == file.hash) return Done{};
  return Error{Code::kDataLoss, fmt::format("{} of the log has other bytes than were written",
                                            file.object)};
}

// The stores of a shard without the shard, for batches whose order is all that matters.
class Stores {
 public:
  static Result<Stores> open(const fs::path& folder, const index::TruthOptions& files) {
    Stores stores;
    KIN_TRY(stores.truth_, kv::KeyValueStore::open(folder / index::kTruthFolder,
                                                   index::truth_store_options(files)));
    KIN_TRY(stores.directory_, kv::KeyValueStore::open(folder / kDirectoryFolder,
                                                       directory_store_options(files)));
    return stores;
  }

  // Without a sync: what is restored is worth nothing before close().
  Status apply(const LogObject& object) {
    for (const LogStore store : {LogStore::kDirectory, LogStore::kTruth}) {
      kv::KeyValueStore& to = store == LogStore::kTruth ? *truth_ : *directory_;
      kv::Batch batch(to);
      for (const LogBatch& one : object.batches) {
        if (one.store == store) KIN_RETURN_IF_ERROR(kv::add_shipped(one.bytes, to, batch));
      }
      batch.put(index::kShippedKey, encode(object.position));
      KIN_RETURN_IF_ERROR(to.write(batch, {.sync = false}));
    }
    return Done{};
  }

  Status close() {
    for (kv::KeyValueStore* store : {truth_.get(), directory_.get()}) {
      KIN_RETURN_IF_ERROR(store->flush());
      KIN_RETURN_IF_ERROR(store->close());
    }
    return Done{};
  }

 private:
  Stores() = default;
  std::unique_ptr<kv::KeyValueStore> truth_;
  std::unique_ptr<kv::KeyValueStore> directory_;
};

// Where the log cannot be followed any more, it ends for whoever restores.
bool is_end(const Error& error) {
  return error.code == Code::kFailedPrecondition || error.code == Code::kNotFound;
}

Status follow_log(cloud::ObjectStore& objects, const RestoreOptions& options, Stores& stores,
                  RestoredShard& restored) {
  LogReader reader(objects, restored.snapshot.from);
  for (;;) {
    auto next = reader.next();
    if (!next && is_end(next.error())) return Done{};
    if (!next) return next.error();
    if (!*next) return Done{};
    LogObject& object = **next;
    const std::size_t all = object.batches.size();
    if (options.at)
      std::erase_if(object.batches, [&](const LogBatch& one) { return one.time > *options.at; });
    if (!object.batches.empty()) {
      KIN_RETURN_IF_ERROR(stores.apply(object));
      restored.time = std::max(restored.time, object.batches.back().time);
    }
    if (object.batches.size() < all) {
      restored.whole = false;
      return Done{};
    }
    restored.position = object.position;
  }
}

Status restore_from(cloud::ObjectStore& objects, const fs::path& folder,
                    const RestoreOptions& options, RestoredShard& restored) {
  Disk& disk = disk_of(options.files);
  const LogSnapshot& snapshot = restored.snapshot;
  for (const char* name : {index::kTruthFolder, kDirectoryFolder})
    KIN_RETURN_IF_ERROR(disk.make_folder(folder / name));
  std::uint64_t done = 0;
  for (const SnapshotFile& file : snapshot.files) {
    KIN_RETURN_IF_ERROR(fetch_file(objects, file, disk, folder / file.path));
    done += file.size;
    if (options.progress)
      options.progress(static_cast<double>(done) /
                       static_cast<double>(std::max<std::uint64_t>(1, snapshot.bytes())));
  }
  for (const char* name : {index::kTruthFolder, kDirectoryFolder})
    KIN_RETURN_IF_ERROR(disk.sync_folder(folder / name));
  KIN_TRY(Stores stores, Stores::open(folder, options.files));
  // So that the stores have a position also if no batch follows.
  KIN_RETURN_IF_ERROR(stores.apply({.position = snapshot.from}));
  restored.position = snapshot.from;
  restored.time = snapshot.time;
  KIN_RETURN_IF_ERROR(follow_log(objects, options, stores, restored));
  return stores.close();
}

}  // namespace

Result<RestoredShard> restore_shard(cloud::ObjectStore& objects, const fs::path& folder,
                                    const RestoreOptions& options) {
  KIN_TRY(const auto snapshots, list_snapshots(objects));
  const auto fits = [&](const LogSnapshot& one) { return !options.at || one.time <= *options.at; };
  const auto newest = std::find_if(snapshots.rbegin(), snapshots.rend(), fits);
  if (newest == snapshots.rend())
    return Error{Code::kNotFound, snapshots.empty()
                                      ? "the log of the shard has no snapshot"
                                      : "the log of the shard begins after that time"};
  Disk& disk = disk_of(options.files);
  KIN_TRY(const bool there, disk.exists(folder));
  if (there) {
    KIN_TRY(const auto names, disk.list(folder));
    if (!names.empty())
      return Error{Code::kFailedPrecondition,
                   fmt::format("{} is not empty (choose another folder)", folder.string())};
  }
  RestoredShard restored{.snapshot = *newest};
  KIN_RETURN_IF_ERROR(restore_from(objects, folder, options, restored));
  if (restored.whole && restored.position < restored.snapshot.consistent)
    return Error{Code::kDataLoss,
                 fmt::format("objects of the shard's log after {} are missing",
                             log_object_name(restored.position))};
  return restored;
}

namespace {

// Copies an object unless it is there. The number of its bytes.
Result<std::uint64_t> copy_object(cloud::ObjectStore& from, cloud::ObjectStore& to,
                                  const std::string& name, const std::set<std::string>& there) {
  if (there.contains(name)) return std::uint64_t{0};
  KIN_TRY(auto bytes, from.get(name));
  if (!bytes)
    return Error{Code::kUnavailable,
                 fmt::format("{} was removed while it was copied (try again)", name)};
  const std::uint64_t size = bytes->size();
  KIN_TRY([[maybe_unused]] const bool created, to.create(name, std::move(*bytes)));
  return size;
}

}  // namespace

// The manifest goes last: a backup without it does not count.
Result<BackupReport> back_up_shard(cloud::ObjectStore& from, cloud::ObjectStore& to) {
  KIN_TRY(const auto snapshots, list_snapshots(from));
  if (snapshots.empty())
    return Error{Code::kNotFound, "the log of the shard has no snapshot yet (wait for the first)"};
  const LogSnapshot& snapshot = snapshots.back();
  BackupReport report{.snapshot = snapshot.consistent,
                      .last = snapshot.from,
                      .from = snapshot.time,
                      .until = snapshot.time};
  KIN_TRY(const auto names, cloud::list_all(to, ""));
  const std::set<std::string> there(names.begin(), names.end());
  for (const SnapshotFile& file : snapshot.files) {
    KIN_TRY(const std::uint64_t bytes, copy_object(from, to, file.object, there));
    report.bytes += bytes;
  }
  LogReader reader(from, snapshot.from);
  for (;;) {
    auto next = reader.next();
    if (!next && !is_end(next.error())) return next.error();
    if (!next || !*next) break;
    KIN_TRY(const std::uint64_t bytes,
            copy_object(from, to, log_object_name((*next)->position), there));
    report.bytes += bytes;
    report.last = (*next)->position;
    if (!(*next)->batches.empty())
      report.until = std::max(report.until, (*next)->batches.back().time);
  }
  if (report.last < snapshot.consistent)
    return Error{Code::kDataLoss, "objects of the shard's log are missing"};
  KIN_TRY(const std::uint64_t bytes,
          copy_object(from, to, snapshot_name(snapshot.consistent), there));
  report.bytes += bytes;
  return report;
}

}  // namespace kin::router
