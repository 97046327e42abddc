#include "router/shard_log.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/format_head.h"
#include "router/log_bytes.h"
#include "router/log_reader.h"

namespace kin::router {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRoleName = "log.role";
constexpr const char* kWorkName = "snapshot.tmp";
constexpr FormatHead kHead{.name = "the part of a shard in its log"};
constexpr std::uint8_t kVersion = 1;

Error only_a_snapshot() {
  return {Code::kFailedPrecondition,
          "the copy cannot go on by the shard's log (restore it from a snapshot)"};
}

LogShipperOptions shipper_options(const ShardLogOptions& options) {
  LogShipperOptions shipper = options.shipper;
  shipper.clock = options.clock;
  return shipper;
}

}  // namespace

std::string encode(const LogRole& role) {
  std::string out(1, static_cast<char>(kVersion));
  append_le(out, role.term);
  append_hash(out, role.writer);
  append_le(out, role.next_term);
  append_hash(out, role.next_writer);
  append_le(out, static_cast<std::uint8_t>((role.clean ? 1 : 0) | (role.restored ? 2 : 0)));
  append_position(out, role.clean.value_or(LogPosition{}));
  append_le(out, checksum(out));
  return out;
}

Result<LogRole> decode_log_role(std::string_view bytes) {
  KIN_TRY(auto fields, read_format(kHead, {kVersion}, bytes));
  ByteReader& in = fields.in;
  LogRole role{.term = in.read<std::uint64_t>()};
  role.writer = read_hash(in);
  role.next_term = in.read<std::uint64_t>();
  role.next_writer = read_hash(in);
  const auto flags = in.read<std::uint8_t>();
  const LogPosition clean = read_position(in);
  if ((flags & 1) != 0) role.clean = clean;
  role.restored = (flags & 2) != 0;
  const bool one_spelling = role.clean || clean == LogPosition{};
  if (!in.ok() || !in.rest().empty() || flags > 3 || !one_spelling) return kHead.damaged();
  return role;
}

Result<std::optional<LogRole>> read_role(Disk& disk, const fs::path& folder) {
  KIN_TRY(const bool there, disk.exists(folder / kRoleName));
  if (!there) return std::optional<LogRole>();
  KIN_TRY(const std::string bytes, read_whole(disk, folder / kRoleName));
  KIN_TRY(LogRole role, decode_log_role(bytes));
  return std::optional(std::move(role));
}

Status write_role(Disk& disk, const fs::path& folder, const LogRole& role) {
  KIN_RETURN_IF_ERROR(disk.make_folder(folder));
  return replace_whole(disk, folder / kRoleName, encode(role));
}

constexpr std::string_view kShardsFolder = "shards/";

std::string logged_shard_name(std::string_view index, const Hash128& identity) {
  return fmt::format("{}{}/{}", kShardsFolder, index, identity_text(identity));
}

Result<std::vector<LoggedShard>> list_logged_shards(cloud::ObjectStore& all) {
  KIN_TRY(const auto names, cloud::list_all(all, std::string(kShardsFolder)));
  std::vector<LoggedShard> shards;
  for (const std::string& name : names) {
    const std::size_t slash = name.rfind('/');
    if (slash < kShardsFolder.size()) continue;
    const auto identity = parse_identity(std::string_view(name).substr(slash + 1));
    if (identity)
      shards.push_back({.index = name.substr(kShardsFolder.size(), slash - kShardsFolder.size()),
                        .identity = *identity});
  }
  return shards;
}

ShardLog::ShardLog(cloud::ObjectStore& all, const Hash128& identity, ShardLogOptions options)
    : options_(std::move(options)),
      identity_(identity),
      all_(all),
      objects_(cloud::objects_below(all, log_prefix(options_.index, identity))),
      shipper_(*objects_, shipper_options(options_)) {}

Result<bool> ShardLog::is_copy() const {
  KIN_TRY(const auto role, read_role(disk(), options_.folder));
  if (role && (role->term > 0 || role->restored)) return false;
  KIN_TRY(const LogEnd end, find_end(*objects_));
  return end.term > 0 && !(role && role->next_term == 1);
}

Result<std::uint64_t> ShardLog::next_term() const {
  KIN_TRY(const auto role, read_role(disk(), options_.folder));
  KIN_TRY(const LogEnd end, find_end(*objects_));
  const bool sealed_by_us = role && end.seal && end.seal->next_term == role->next_term &&
                            end.seal->writer == role->next_writer;
  if (sealed_by_us) return role->next_term;
  return std::max(end.term, end.seal ? end.seal->next_term : 0) + 1;
}

HostLog ShardLog::ties(bool is_copy) {
  shipper_.set_copy(is_copy);
  return {.truth = shipper_.observer(LogStore::kTruth),
          .directory = shipper_.observer(LogStore::kDirectory),
          .is_copy = is_copy};
}

// A term is noted before its seal is created, so a crash between the two does no harm.
Result<LogRole> ShardLog::check_role(const LogEnd& end) const {
  KIN_TRY(const auto kept, read_role(disk(), options_.folder));
  const LogRole role = kept.value_or(LogRole{});
  if (end.term == 0 || role.restored) return role;
  if (end.dropped)
    return Error{Code::kFailedPrecondition, "the shard of the log was dropped"};
  const auto is_ours = [&](std::uint64_t term, const Hash128& writer) {
    return (term == role.term && writer == role.writer) ||
           (term == role.next_term && writer == role.next_writer);
  };
  const bool ours = end.seal    ? is_ours(end.seal->next_term, end.seal->writer)
                    : end.begin ? is_ours(end.term, end.begin->writer)
                                : false;
  if (ours && kept) return role;
  return Error{
      Code::kFailedPrecondition,
      fmt::format("{}: another node has taken over the shard's log with term {}{} (move the folder "
                  "away; the node then restores the shard, or follows it)",
                  options_.folder.string(), end.seal ? end.seal->next_term : end.term,
                  end.begin ? fmt::format(" of {}", end.begin->owner) : "")};
}

Status ShardLog::own(ShardHost& host) {
  KIN_TRY(const LogEnd end, find_end(*objects_));
  KIN_TRY(role_, check_role(end));
  const std::optional<LogPosition> clean = role_.clean;
  const bool sealed_by_us = end.seal && end.seal->writer == role_.next_writer &&
                            end.seal->next_term == role_.next_term;
  if (!sealed_by_us) {
    role_.next_term = std::max({end.term, role_.term, end.seal ? end.seal->next_term : 0}) + 1;
    role_.next_writer = options_.draw();
  }
  // The shard is written from now on, also if this start does not come to its end.
  role_.clean.reset();
  KIN_RETURN_IF_ERROR(write_role(disk(), options_.folder, role_));
  std::optional<LogPosition> base;
  if (end.term > 0 && !sealed_by_us) {
    KIN_TRY(const Sealed sealed, seal_term(*objects_, end.last, role_.next_term,
                                           role_.next_writer, options_.clock->now()));
    if (!sealed.ours)
      return Error{Code::kFailedPrecondition,
                   fmt::format("another node took over the shard's log with term {}",
                               sealed.next_term)};
    const LogPosition before{sealed.at.term, sealed.at.number - 1};
    if (clean && *clean == before && !role_.restored) base = sealed.at;
  }
  return begin(host, role_.next_term, base);
}

Status ShardLog::take_over(ShardHost& host, std::uint64_t term) {
  KIN_TRY(const LogEnd end, find_end(*objects_));
  KIN_TRY(const auto kept, read_role(disk(), options_.folder));
  role_ = kept.value_or(LogRole{});
  if (role_.next_term != term) {
    role_.next_term = term;
    role_.next_writer = options_.draw();
    role_.clean.reset();
    KIN_RETURN_IF_ERROR(write_role(disk(), options_.folder, role_));
  }
  if (end.term >= term)
    return Error{Code::kFailedPrecondition,
                 fmt::format("the shard's log has term {} already", end.term)};
  // Before the seal: a copy that cannot go on by the log must not end the term of an owner that can.
  KIN_TRY([[maybe_unused]] const Reached before, catch_up(host));
  if (!end.seal || end.seal->next_term != term) {
    const std::uint64_t open = end.seal ? end.seal->next_term : end.term;
    const LogPosition after = end.seal ? LogPosition{open, 0} : end.last;
    KIN_TRY(const Sealed sealed,
            seal_term(*objects_, after, term, role_.next_writer, options_.clock->now()));
    if (!sealed.ours)
      return Error{Code::kFailedPrecondition,
                   fmt::format("term {} of the shard's log is taken by another node",
                               sealed.next_term)};
  } else if (end.seal->writer != role_.next_writer) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("term {} of the shard's log is taken by another node", term)};
  }
  KIN_TRY(const Reached reached, catch_up(host));
  if (reached.awaited != term)
    return Error{Code::kFailedPrecondition,
                 "the copy lacks objects of the shard's log that are removed (restore it from a "
                 "snapshot)"};
  return begin(host, term, reached.position);
}

Result<ShardLog::Reached> ShardLog::catch_up(ShardHost& host) {
  KIN_TRY(const auto from, host.shipped_position());
  if (!from) return Error{Code::kFailedPrecondition, "the shard does not follow a log"};
  LogReader reader(*objects_, *from);
  for (;;) {
    const auto next = reader.next();
    if (!next && !reader.is_blocked()) return next.error();
    if (!next || !*next) {
      // Also where terms were passed whose state is in no object: a snapshot may have it.
      KIN_TRY(const bool leads_on, snapshot_leads_on(*objects_, reader.position()));
      if (leads_on) return only_a_snapshot();
      return Reached{.position = reader.position(), .awaited = reader.awaited_term()};
    }
    if (!(*next)->batches.empty()) KIN_RETURN_IF_ERROR(host.apply_shipped(**next));
  }
}

Status ShardLog::begin(ShardHost& host, std::uint64_t term,
                       const std::optional<LogPosition>& base) {
  KIN_RETURN_IF_ERROR(shipper_.begin(
      {.term = term, .writer = role_.next_writer, .owner = options_.owner, .base = base}));
  role_ = {.term = term, .writer = role_.next_writer};
  KIN_RETURN_IF_ERROR(write_role(disk(), options_.folder, role_));
  KIN_RETURN_IF_ERROR(host.become_owner());
  SnapshotOptions snapshots = options_.snapshots;
  snapshots.index = options_.index;
  snapshots.settings = options_.settings;
  snapshots.identity = identity_;
  snapshots.owner = options_.owner;
  snapshots.work_folder = options_.folder / kWorkName;
  snapshots.disk = options_.disk;
  snapshots.clock = options_.clock;
  const std::string name = logged_shard_name(options_.index, identity_);
  KIN_TRY([[maybe_unused]] const bool listed, all_.create(name, ""));
  const std::lock_guard lock(snapshots_mutex_);
  snapshots_.emplace(*objects_, shipper_,
                     [&host](const fs::path& folder) { return host.copy_rows(folder); },
                     std::move(snapshots));
  return Done{};
}

Result<StepOutcome> ShardLog::step_snapshots(bool force) {
  const std::lock_guard lock(snapshots_mutex_);
  if (!snapshots_) return StepOutcome::idle();
  auto outcome = snapshots_->step(force);
  const std::lock_guard stats(stats_mutex_);
  snapshot_stats_ = snapshots_->stats();
  return outcome;
}

SnapshotStats ShardLog::snapshot_stats() const {
  const std::lock_guard lock(stats_mutex_);
  return snapshot_stats_;
}

Status ShardLog::close() {
  const auto last = shipper_.finish();
  if (!last) return Done{};  // the next start takes a snapshot
  role_.clean = last;
  return write_role(disk(), options_.folder, role_);
}

// The seal stops an owner that does not know; the object that lists the shard goes first.
Status ShardLog::remove_all() {
  KIN_TRY(const LogEnd end, find_end(*objects_));
  if (end.term == 0) return Done{};
  if (!end.dropped) {
    KIN_TRY([[maybe_unused]] const Sealed sealed,
            seal_term(*objects_, end.last, 0, options_.draw(), options_.clock->now()));
  }
  const std::string name = logged_shard_name(options_.index, identity_);
  KIN_RETURN_IF_ERROR(all_.remove({&name, 1}));
  for (const std::string_view folder : {kSnapshotFolder, kFileFolder, kLogFolder}) {
    KIN_TRY(const auto names, cloud::list_all(*objects_, std::string(folder)));
    KIN_RETURN_IF_ERROR(objects_->remove(names));
  }
  return Done{};
}

}  // namespace kin::router
