#include "router/log_snapshot.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/format_head.h"
#include "base/sized_text.h"
#include "router/log_bytes.h"
#include "router/log_terms.h"
#include "router/node/directory.h"

namespace kin::router {
namespace {

namespace fs = std::filesystem;

constexpr FormatHead kHead{.name = "the manifest of a snapshot", .magic = "KINSNAP1"};
constexpr std::uint32_t kVersion = 1;
constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;

// Paths of a manifest must not lead out of the folder of the shard.
bool is_path(std::string_view path) {
  const std::size_t slash = path.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == path.size()) return false;
  const std::string_view file = path.substr(slash + 1);
  const std::string_view folder = path.substr(0, slash);
  return (folder == index::kTruthFolder || folder == kDirectoryFolder) &&
         file.find('/') == std::string_view::npos && file != "." && file != "..";
}

// Removes the files that a checkpoint in `folder` left.
Status remove_checkpoint(Disk& disk, const fs::path& folder) {
  for (const char* name : {index::kTruthFolder, kDirectoryFolder}) {
    KIN_TRY(const bool there, disk.exists(folder / name));
    if (!there) continue;
    KIN_TRY(const auto files, disk.list(folder / name));
    for (const std::string& file : files)
      KIN_RETURN_IF_ERROR(disk.remove(folder / name / file));
  }
  return Done{};
}

}  // namespace

std::uint64_t LogSnapshot::bytes() const {
  std::uint64_t all = 0;
  for (const SnapshotFile& file : files) all += file.size;
  return all;
}

std::string encode(const LogSnapshot& snapshot) {
  std::string out(kHead.magic);
  append_le(out, kVersion);
  append_sized(out, snapshot.index);
  append_hash(out, snapshot.identity);
  append_sized(out, snapshot.settings);
  append_sized(out, snapshot.owner);
  append_position(out, snapshot.from);
  append_position(out, snapshot.consistent);
  append_time(out, snapshot.time);
  append_le(out, static_cast<std::uint32_t>(snapshot.files.size()));
  for (const SnapshotFile& file : snapshot.files) {
    append_sized(out, file.path);
    append_le(out, file.size);
    append_hash(out, file.hash);
    append_sized(out, file.object);
  }
  append_le(out, checksum(out));
  return out;
}

Result<LogSnapshot> decode_log_snapshot(std::string_view bytes) {
  KIN_TRY(auto fields, read_format(kHead, {kVersion}, bytes));
  ByteReader& in = fields.in;
  LogSnapshot snapshot{.index = read_sized(in)};
  snapshot.identity = read_hash(in);
  snapshot.settings = read_sized(in);
  snapshot.owner = read_sized(in);
  snapshot.from = read_position(in);
  snapshot.consistent = read_position(in);
  snapshot.time = read_time(in);
  const auto count = in.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    SnapshotFile file{.path = read_sized(in)};
    file.size = in.read<std::uint64_t>();
    file.hash = read_hash(in);
    file.object = read_sized(in);
    if (!is_path(file.path)) return kHead.damaged();
    snapshot.files.push_back(std::move(file));
  }
  if (!in.ok() || !in.rest().empty()) return kHead.damaged();
  return snapshot;
}

Result<Hash128> content_hash(const DiskFile& file) {
  KIN_TRY(const std::uint64_t size, file.size());
  std::string hashes;
  std::string piece;
  for (std::uint64_t at = 0; at < size; at += piece.size()) {
    piece.resize(std::min(kPiece, size - at));
    KIN_RETURN_IF_ERROR(file.read_at(at, piece.data(), piece.size()));
    append_hash(hashes, hash128(piece));
  }
  return hash128(hashes);
}

Result<std::vector<LogSnapshot>> list_snapshots(cloud::ObjectStore& objects) {
  KIN_TRY(const auto names, cloud::list_all(objects, std::string(kSnapshotFolder)));
  std::vector<LogSnapshot> snapshots;
  if (names.empty()) return snapshots;
  KIN_TRY(const LogChain chain,
          LogChain::read(objects, position_in(names.front()).value_or(LogPosition{})));
  for (const std::string& name : names) {
    const auto position = position_in(name);
    if (!position || !chain.has(*position)) continue;
    KIN_TRY(const auto bytes, objects.get(name));
    if (!bytes) continue;
    auto snapshot = decode_log_snapshot(*bytes);
    if (snapshot.ok() && snapshot_name(snapshot->consistent) == name)
      snapshots.push_back(std::move(*snapshot));
  }
  return snapshots;
}

Result<bool> snapshot_leads_on(cloud::ObjectStore& objects, const LogPosition& position) {
  KIN_TRY(const auto names, cloud::list_all(objects, std::string(kSnapshotFolder)));
  const auto last = names.empty() ? std::nullopt : position_in(names.back());
  if (!last || *last <= position) return false;
  KIN_TRY(const auto snapshots, list_snapshots(objects));
  return !snapshots.empty() && snapshots.back().consistent > position;
}

LogSnapshots::LogSnapshots(cloud::ObjectStore& objects, LogShipper& shipper, CopyRows copy,
                           SnapshotOptions options)
    : objects_(objects),
      shipper_(shipper),
      copy_(std::move(copy)),
      options_(std::move(options)),
      disk_(options_.disk != nullptr ? *options_.disk : system_disk()) {}

Result<bool> LogSnapshots::is_due() {
  if (!looked_) {
    KIN_TRY(auto snapshots, list_snapshots(objects_));
    if (!snapshots.empty()) newest_ = std::move(snapshots.back());
    looked_ = true;
    if (newest_) {
      stats_.position = newest_->consistent;
      stats_.bytes = newest_->bytes();
    }
  }
  if (shipper_.wants_snapshot() || !newest_) return true;
  const std::uint64_t since = shipper_.shipped().bytes - bytes_then_;
  return since > std::max(options_.least_log_bytes,
                          static_cast<std::uint64_t>(options_.log_share *
                                                     static_cast<double>(newest_->bytes())));
}

// The checkpoint has every batch that was committed before it, and the log after `from` has every
// other. What is in both is applied twice, which does no harm.
Status LogSnapshots::begin() {
  const LogShipper::Shipped shipped = shipper_.shipped();
  making_ = {.index = options_.index,
             .identity = options_.identity,
             .settings = options_.settings,
             .owner = options_.owner,
             .from = shipped.object};
  bytes_making_ = shipped.bytes;
  KIN_RETURN_IF_ERROR(remove_checkpoint(disk_, options_.work_folder));
  KIN_RETURN_IF_ERROR(disk_.make_folder(options_.work_folder));
  KIN_RETURN_IF_ERROR(copy_(options_.work_folder));
  batches_ = shipper_.position();
  making_.time = options_.clock->now();
  KIN_RETURN_IF_ERROR(find_files());
  uploaded_ = 0;
  phase_ = Phase::kUploading;
  return Done{};
}

Status LogSnapshots::find_files() {
  for (const char* folder : {index::kTruthFolder, kDirectoryFolder}) {
    KIN_TRY(const auto names, disk_.list(options_.work_folder / folder));
    for (const std::string& name : names) {
      KIN_TRY(const auto file, disk_.open_to_read(options_.work_folder / folder / name));
      SnapshotFile found{.path = fmt::format("{}/{}", folder, name)};
      KIN_TRY(found.size, file->size());
      KIN_TRY(found.hash, content_hash(*file));
      found.object = fmt::format("{}{:020}/{}", kFileFolder, making_.from.term,
                                 identity_text(found.hash));
      making_.files.push_back(std::move(found));
    }
  }
  return Done{};
}

Status LogSnapshots::upload_one() {
  SnapshotFile& file = making_.files[uploaded_];
  // Only files of the newest snapshot are taken over: whoever removes old ones keeps these.
  const auto same = [&](const SnapshotFile& other) {
    return other.hash == file.hash && other.size == file.size;
  };
  const auto known = newest_ ? std::ranges::find_if(newest_->files, same) : newest_->files.end();
  if (newest_ && known != newest_->files.end()) {
    file.object = known->object;
  } else {
    KIN_TRY(const auto from, disk_.open_to_read(options_.work_folder / file.path));
    std::uint64_t at = 0;
    KIN_RETURN_IF_ERROR(
        objects_.upload(file.object, [&](std::span<char> into) -> Result<std::size_t> {
          const auto count =
              static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), file.size - at));
          KIN_RETURN_IF_ERROR(from->read_at(at, into.data(), count));
          at += count;
          return count;
        }));
    stats_.sent_bytes += file.size;
  }
  ++uploaded_;
  return Done{};
}

Status LogSnapshots::publish() {
  making_.consistent = shipper_.shipped().object;
  if (shipper_.has_gap_after(making_.from)) {
    phase_ = Phase::kIdle;  // the log does not lead from its beginning to its end
    return Done{};
  }
  KIN_RETURN_IF_ERROR(remove_checkpoint(disk_, options_.work_folder));
  const std::string name = snapshot_name(making_.consistent);
  KIN_TRY(const bool created, objects_.create(name, encode(making_)));
  if (!created) {
    // An earlier try, or a snapshot of the same state: both lead to the same rows.
    KIN_TRY(const auto there, objects_.get(name));
    if (!there) return Error{Code::kUnavailable, "a manifest vanished"};
    KIN_TRY(making_, decode_log_snapshot(*there));
  }
  shipper_.covered(making_.from);
  stats_.position = making_.consistent;
  stats_.bytes = making_.bytes();
  ++stats_.taken;
  bytes_then_ = bytes_making_;
  newest_ = std::move(making_);
  phase_ = Phase::kCleaning;
  return Done{};
}

// Manifests go first, so that none names objects that are removed.
Status LogSnapshots::clean() {
  if (shipper_.is_deposed()) return Done{};
  KIN_TRY(const auto snapshots, list_snapshots(objects_));
  const WallTime oldest_time = options_.clock->now() - options_.retention;
  // The last one before that time is still needed to restore the time itself.
  std::size_t kept = 0;
  while (kept + 1 < snapshots.size() && snapshots[kept + 1].time <= oldest_time) ++kept;
  if (kept == 0) return Done{};
  // Also those of states that were given up.
  std::vector<std::string> gone;
  KIN_TRY(const auto manifests, cloud::list_all(objects_, std::string(kSnapshotFolder)));
  for (const std::string& name : manifests) {
    if (name < snapshot_name(snapshots[kept].consistent)) gone.push_back(name);
  }
  KIN_RETURN_IF_ERROR(objects_.remove(gone));
  std::set<std::string> needed;
  LogPosition from = snapshots[kept].from;
  for (std::size_t i = kept; i < snapshots.size(); ++i) {
    from = std::min(from, snapshots[i].from);
    for (const SnapshotFile& file : snapshots[i].files) needed.insert(file.object);
  }
  const std::uint64_t term = shipper_.shipped().object.term;
  gone.clear();
  KIN_TRY(const auto objects, cloud::list_all(objects_, std::string(kLogFolder)));
  for (const std::string& name : objects) {
    const auto position = position_in(name);
    // The first object of a term says who owns the shard.
    if (position && *position <= from && !(position->term == term && position->number == 1))
      gone.push_back(name);
  }
  KIN_TRY(const auto files, cloud::list_all(objects_, std::string(kFileFolder)));
  const std::string end = fmt::format("{}{:020}/", kFileFolder, term + 1);
  for (const std::string& name : files) {
    // Files of later terms belong to a new owner, whose manifest may not be there yet.
    if (name < end && !needed.contains(name)) gone.push_back(name);
  }
  return objects_.remove(gone);
}

Result<StepOutcome> LogSnapshots::advance(bool force) {
  switch (phase_) {
    case Phase::kIdle: {
      if (shipper_.is_deposed() || shipper_.shipped().object.number == 0)
        return StepOutcome::idle();
      KIN_TRY(const bool due, is_due());
      if (!due && !force) return StepOutcome::idle();
      KIN_RETURN_IF_ERROR(begin());
      return StepOutcome::worked();
    }
    case Phase::kUploading:
      if (uploaded_ < making_.files.size()) {
        KIN_RETURN_IF_ERROR(upload_one());
      } else {
        phase_ = Phase::kWaiting;
      }
      return StepOutcome::worked();
    case Phase::kWaiting:
      if (shipper_.is_deposed()) {
        phase_ = Phase::kIdle;
        return StepOutcome::idle();
      }
      // The checkpoint must contain nothing that the log lacks.
      if (shipper_.shipped().batches < batches_) return StepOutcome::idle();
      KIN_RETURN_IF_ERROR(publish());
      return StepOutcome::worked();
    case Phase::kCleaning:
      // An owner that was deposed meanwhile removes nothing.
      if (shipper_.is_confirming()) return StepOutcome::idle();
      KIN_RETURN_IF_ERROR(clean());
      phase_ = Phase::kIdle;
      return StepOutcome::worked();
  }
  KIN_UNREACHABLE();
}

Result<StepOutcome> LogSnapshots::step(bool force) {
  const SteadyTime now = options_.clock->steady_now();
  if (not_before_ && now < *not_before_) return StepOutcome::not_before(*not_before_);
  auto outcome = advance(force);
  if (outcome.ok()) return outcome;
  ++stats_.failures;
  not_before_ = now + options_.retry;
  // A shard that cannot be copied is an error; an object store that does not answer is asked again.
  if (outcome.error().code != Code::kUnavailable) return outcome;
  return StepOutcome::not_before(*not_before_);
}

}  // namespace kin::router
