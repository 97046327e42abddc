#include "dedup/scan/seen_ids.h"

#include <fmt/format.h>

#include <mutex>

#include "dedup/spill/budget.h"
#include "store/seen_parse.h"

namespace kin::dedup {
namespace {

using store::SeenOptions;
using store::SeenSet;

constexpr std::uint64_t kCommitEvery = 1 << 16;

SeenOptions set_options(const DedupOptions& options, Clock& clock, SeenOptions::Mode mode) {
  SeenOptions how;
  how.mode = mode;
  how.max_memory = seen_memory(options, options.max_memory);
  how.clock = &clock;
  return how;
}

}  // namespace

Result<std::unique_ptr<SeenIds>> SeenIds::open(const DedupOptions& options, Clock& clock) {
  using Mode = SeenOptions::Mode;
  std::unique_ptr<SeenIds> ids(new SeenIds(options));
  const Mode there = options.dry_run ? Mode::kRead : Mode::kOpen;
  auto set = SeenSet::open(*options.skip_seen, set_options(options, clock, there));
  if (!set && set.error().code == Code::kNotFound) {
    if (options.dry_run) return ids;
    SeenOptions how = set_options(options, clock, Mode::kOpenOrMake);
    how.kind = store::IdKind::kText;
    set = SeenSet::open(*options.skip_seen, how);
  }
  if (!set) return set.error();
  ids->set_ = std::move(*set);
  return ids;
}

std::uint64_t SeenIds::len() const {
  return set_ ? set_->len() : 0;
}

Status SeenIds::collect(const data::Batch& batch, std::size_t column,
                        std::vector<store::SeenId>& ids, std::vector<std::size_t>& places) const {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const auto text = batch.value(column, i);
    if (!text || text->empty()) continue;
    if (const auto id = store::parse_seen_id(*set_, *text)) {
      ids.push_back(*id);
      places.push_back(i);
    } else if (options_.on_error == data::OnError::kFail) {
      return Error{Code::kInvalidArgument,
                   fmt::format("{}: \"{}\" in column {} is not a whole number from 0 to "
                               "18446744073709551615, and {} is a set of numbers (use another --id "
                               "or --skip-seen, or --on-error skip)",
                               batch.where(i), text->substr(0, 60), *options_.id_column,
                               options_.skip_seen->string())};
    }
  }
  return Done{};
}

SeenIds::Lookup::Lookup(const SeenIds& ids, std::unique_ptr<store::SeenReader> reader)
    : ids_(ids), reader_(std::move(reader)) {}

SeenIds::Lookup SeenIds::lookup() const {
  return {*this, set_ ? set_->reader() : nullptr};
}

Result<std::span<const std::uint8_t>> SeenIds::Lookup::seen(const data::Batch& batch,
                                                            std::size_t column) {
  seen_.assign(batch.size(), 0);
  if (!reader_) return std::span<const std::uint8_t>(seen_);
  asked_.clear();
  places_.clear();
  KIN_RETURN_IF_ERROR(ids_.collect(batch, column, asked_, places_));
  found_.resize(asked_.size());
  KIN_RETURN_IF_ERROR(reader_->contains(asked_, found_));
  for (std::size_t i = 0; i < places_.size(); ++i) seen_[places_[i]] = found_[i];
  return std::span<const std::uint8_t>(seen_);
}

Status SeenIds::record(data::Dataset& dataset, Progress& progress) {
  data::ScanOptions how;
  how.columns = {*options_.id_column};
  how.optional_columns = 1;
  how.threads = options_.threads;
  how.on_error = options_.on_error;
  how.pause = [&progress] { return progress.stop.load(); };
  std::uint64_t bytes = 0;
  for (const data::Input& input : dataset.inputs()) bytes += input.bytes;
  progress.work.phase(bytes);
  std::mutex one_at_a_time;
  std::vector<store::SeenId> ids;
  std::vector<std::size_t> places;
  std::vector<std::uint8_t> was_new;
  std::uint64_t uncommitted = 0;
  KIN_TRY(const data::ScanEnd end, dataset.scan(how, [&](const data::Batch& batch, int) -> Status {
    const std::lock_guard lock(one_at_a_time);
    progress.work.add(batch.bytes());
    ids.clear();
    places.clear();
    KIN_RETURN_IF_ERROR(collect(batch, 0, ids, places));
    was_new.resize(ids.size());
    KIN_RETURN_IF_ERROR(set_->insert(ids, was_new));
    uncommitted += ids.size();
    if (uncommitted < kCommitEvery) return Done{};
    uncommitted = 0;
    const auto committed = set_->commit();
    return committed ? Status(Done{}) : Status(committed.error());
  }));
  KIN_RETURN_IF_ERROR(set_->commit());
  if (!end.finished) return Error{Code::kCancelled, "stopped"};
  return set_->close();
}

}  // namespace kin::dedup
