#include "router/mover.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "router/moves/move_step.h"
#include "router/moves/repartition_step.h"

namespace kin::router {
namespace {

constexpr int kFencedPieces = 2;  // verifying and handing over

bool may_pass(const Error& error) {
  return error.code == Code::kUnavailable || error.code == Code::kCancelled ||
         error.code == Code::kResourceExhausted;
}

}  // namespace

Result<StepOutcome> Mover::step() {
  KIN_TRY(const StepOutcome moved, step_moves());
  KIN_TRY(const StepOutcome divided, step_repartition());
  return combine(moved, divided);
}

Result<StepOutcome> Mover::step_repartition() {
  KIN_TRY(const auto stored, read_repartition(meta_, index_));
  if (!stored || rule_of(stored->repartition.phase).over) {
    divided_ = {};
    return StepOutcome::idle();
  }
  if (divided_.id != stored->repartition.id) divided_ = {.id = stored->repartition.id};
  // Read after the record: its phase tells how old the map may be.
  KIN_TRY(const auto map, meta_.get(map_key(index_)));
  if (!map) return StepOutcome::idle();
  RepartitionStep step(*this, *stored, map->revision);
  KIN_RETURN_IF_ERROR(step.read(*map));
  auto outcome = step.run();
  divided_.problem = outcome.ok() ? "" : outcome.error().message;
  return outcome.ok() ? outcome : after_error(*stored, outcome.error());
}

Result<StepOutcome> Mover::after_error(const StoredRepartition& stored, const Error& error) {
  const StepOutcome later = StepOutcome::not_before(options_.clock->steady_now() + options_.pause);
  if (!rule_of(stored.repartition.phase).can_abort || may_pass(error)) return later;
  Repartition after = stored.repartition;
  after.phase = RepartitionPhase::kAborting;
  after.reason = error.message;
  KIN_TRY([[maybe_unused]] const bool written, swap_repartition(meta_, index_, stored, after));
  return StepOutcome::worked();
}

std::optional<RepartitionStatus> Mover::repartition() const {
  if (divided_.id == 0) return {};
  return RepartitionStatus{.repartition = divided_.id,
                           .divided = divided_.progress,
                           .placed = divided_.placed,
                           .problem = divided_.problem};
}

Result<StepOutcome> Mover::step_moves() {
  KIN_TRY(std::vector<StoredMove> moves, read_stored_moves(meta_, index_));
  std::erase_if(moves, [](const StoredMove& one) { return rule_of(one.move.phase).over; });
  std::erase_if(seen_, [&](const auto& seen) {
    return std::ranges::none_of(moves, [&](const auto& one) { return one.move.id == seen.first; });
  });
  if (moves.empty()) return StepOutcome::idle();
  // Those that began first, come first; new ones have no id yet.
  std::ranges::stable_sort(moves, {}, [](const StoredMove& one) { return one.move.id - 1; });
  if (moves.size() > options_.most) moves.resize(options_.most);
  StepOutcome all = StepOutcome::idle();
  for (const StoredMove& one : moves) {
    // Read after the move, and for each: its phase tells how old the map may be.
    KIN_TRY(const auto map, meta_.get(map_key(index_)));
    if (!map) return StepOutcome::idle();
    KIN_TRY(StepOutcome outcome, step_one(one, *map));
    if (outcome.did_work() && !options_.one_piece) {
      KIN_TRY(outcome, pass_fence(one.move.partition));
    }
    all = combine(all, outcome);
  }
  return all;
}

// Nobody serves a partition behind its fence, so what is left there is not done by turns.
Result<StepOutcome> Mover::pass_fence(index::PartitionId partition) {
  StepOutcome outcome = StepOutcome::worked();
  for (int pieces = 0; pieces < kFencedPieces && outcome.did_work(); ++pieces) {
    KIN_TRY(const auto moves, read_stored_moves(meta_, index_));
    const auto one = std::ranges::find(
        moves, partition, [](const StoredMove& stored) { return stored.move.partition; });
    if (one == moves.end() || !rule_of(one->move.phase).fenced) return outcome;
    KIN_TRY(const auto map, meta_.get(map_key(index_)));
    if (!map) return StepOutcome::idle();
    KIN_TRY(outcome, step_one(*one, *map));
  }
  return outcome;
}

ShardClient& Mover::client(const std::string& address) {
  auto& known = clients_[address];
  if (known == nullptr) known = connect_(address);
  return *known;
}

std::vector<MoveStatus> Mover::statuses() const {
  std::vector<MoveStatus> all;
  const SteadyTime now = options_.clock->steady_now();
  for (const auto& [id, seen] : seen_) {
    MoveStatus status{.move = id,
                      .entities = seen.progress.entities,
                      .of = seen.of,
                      .bytes = seen.progress.bytes,
                      .problem = seen.problem};
    if (seen.first_seen) {
      const std::chrono::duration<double> taken = now - *seen.first_seen;
      const auto entities = static_cast<double>(seen.progress.entities - seen.first.entities);
      if (taken.count() > 0)
        status.bytes_per_second =
            static_cast<double>(seen.progress.bytes - seen.first.bytes) / taken.count();
      if (entities > 0 && seen.of && !seen.progress.copied)
        status.left = std::chrono::seconds(std::lround(
            taken.count() * static_cast<double>(*seen.of - std::min(*seen.of, status.entities)) /
            entities));
    }
    all.push_back(std::move(status));
  }
  return all;
}

bool Mover::yields(const StoredMove& stored) {
  const SteadyTime now = options_.clock->steady_now();
  Seen& seen = seen_[stored.move.id];
  // A move that nobody has begun is begun by everybody.
  if (std::exchange(seen.wrote, false) || stored.move.id == 0) {
    seen.revision = stored.revision;
    seen.yields_until.reset();
  } else if (seen.revision != stored.revision) {
    seen.revision = stored.revision;
    // Nobody serves a partition behind its fence.
    const bool fenced = rule_of(stored.move.phase).fenced;
    seen.yields_until = now + (fenced ? options_.yield / 4 : options_.yield);
  }
  // An abort is asked for by people, too, and then nobody has begun it.
  if (stored.move.phase == MovePhase::kAborting) seen.yields_until.reset();
  return seen.yields_until && now < *seen.yields_until;
}

Result<StepOutcome> Mover::step_one(const StoredMove& stored, const MetaValue& map) {
  if (yields(stored)) return StepOutcome::not_before(*seen_[stored.move.id].yields_until);
  MoveStep step(*this, stored, map.revision);
  KIN_RETURN_IF_ERROR(step.read(map));
  auto outcome = step.run();
  Seen& seen = seen_[stored.move.id];
  seen.problem = outcome.ok() ? "" : outcome.error().message;
  if (outcome.ok()) return outcome;
  seen.ahead.reset();
  return after_error(stored, outcome.error());
}

Result<StepOutcome> Mover::after_error(const StoredMove& stored, const Error& error) {
  const SteadyTime now = options_.clock->steady_now();
  const StepOutcome later = StepOutcome::not_before(now + options_.pause);
  const PhaseRule rule = rule_of(stored.move.phase);
  const Seen& seen = seen_[stored.move.id];
  const bool too_long = rule.fenced && seen.fenced && now - *seen.fenced > options_.patience;
  if (!rule.can_abort || (may_pass(error) && !too_long)) return later;
  Move after = stored.move;
  after.phase = MovePhase::kAborting;
  after.reason = error.message;
  KIN_TRY(seen_[stored.move.id].wrote, swap_move(meta_, index_, stored, after));
  return StepOutcome::worked();
}

}  // namespace kin::router
