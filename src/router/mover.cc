#include "router/mover.h"

#include <algorithm>

#include "router/moves/move_step.h"

namespace kin::router {
namespace {

bool may_pass(const Error& error) {
  return error.code == Code::kUnavailable || error.code == Code::kCancelled ||
         error.code == Code::kResourceExhausted;
}

}  // namespace

Result<StepOutcome> Mover::step() {
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
    KIN_TRY(const StepOutcome outcome, step_one(one, *map));
    all = combine(all, outcome);
  }
  return all;
}

ShardClient& Mover::client(const std::string& address) {
  auto& known = clients_[address];
  if (known == nullptr) known = connect_(address);
  return *known;
}

Result<StepOutcome> Mover::step_one(const StoredMove& stored, const MetaValue& map) {
  MoveStep step(*this, stored, map.revision);
  KIN_RETURN_IF_ERROR(step.read(map));
  auto outcome = step.run();
  if (outcome.ok()) return outcome;
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
  KIN_TRY([[maybe_unused]] const bool aborted, swap_move(meta_, index_, stored, after));
  return StepOutcome::worked();
}

}  // namespace kin::router
