#include "router/replica.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "router/log_snapshot.h"
#include "router/log_terms.h"
#include "router/shard_map.h"

namespace kin::router {
namespace {

using std::chrono::milliseconds;

// The copy that may write a term of the log. A copy takes a term once.
Hash128 writer_of(const LeaseHolder& self, std::uint64_t term) {
  std::string bytes;
  append_le(bytes, self.holder);
  append_le(bytes, term);
  return hash128(bytes);
}

}  // namespace

Replica::Replica(ShardHost& host, LogShipper& shipper, MetaStore& meta,
                 cloud::ObjectStore& objects, ReplicaOptions options)
    : host_(host),
      shipper_(shipper),
      meta_(meta),
      objects_(objects),
      options_(std::move(options)),
      lease_(meta, lease_key(options_.index, options_.identity), options_.self, options_.lease) {}

Result<StepOutcome> Replica::step_lease() {
  KIN_TRY(const StepOutcome outcome, lease_.step());
  const bool is_over = phase() == Phase::kLost || phase() == Phase::kLeft;
  if (lease_.is_lost() || is_over || !lease_.may_take()) return outcome;
  const auto& seen = lease_.seen();
  // The state of an owner is worth something as long as no other copy was the owner since. A copy
  // takes over what somebody else had, and only when it does not lag far behind.
  const bool others = seen && seen->holder != options_.self.holder;
  const bool takes =
      options_.was_owner ? !others && is_built_.load() : seen.has_value() && may_lead();
  if (options_.was_owner && others) return lose();
  if (!takes) return StepOutcome::not_before(now() + options_.lease.look);
  KIN_TRY([[maybe_unused]] const bool taken, lease_.take());
  return StepOutcome::worked();
}

bool Replica::may_lead() const {
  // A copy that cannot read the log cannot take over.
  return is_complete_.load() &&
         now() - complete_at_.load() <= options_.lease.length + options_.lease.margin;
}

Result<StepOutcome> Replica::step_log() {
  if (phase() == Phase::kLeft) return StepOutcome::idle();
  if (lease_.is_lost() || shipper_.is_deposed()) return lose();
  switch (phase()) {
    case Phase::kStarting: return start();
    case Phase::kFollowing: return follow();
    case Phase::kSealing: return seal();
    case Phase::kEntering: return enter_map();
    case Phase::kBeginning: return begin_term();
    case Phase::kOwning: return own();
    case Phase::kLost:
    case Phase::kLeft: return StepOutcome::idle();
  }
  KIN_UNREACHABLE();
}

std::optional<LogPosition> Replica::hand_over() {
  const bool owned = phase_.exchange(Phase::kLeft) == Phase::kOwning;
  if (!owned || lease_.is_lost() || shipper_.is_deposed()) return {};
  const auto last = shipper_.finish();
  // Where the meta store does not answer, the others wait for the end of the lease.
  if (last) [[maybe_unused]]
    const Status given_back = lease_.release();
  return last;
}

StepOutcome Replica::lose() {
  phase_ = Phase::kLost;
  return StepOutcome::idle();
}

Result<StepOutcome> Replica::start() {
  // Searches by nearness would miss what a restored shard's vector indexes do not have yet.
  if (!is_built_.load()) {
    KIN_TRY(const StepOutcome built, host_.step());
    if (built.did_work()) return built;
    is_built_ = true;
  }
  if (!options_.was_owner) {
    KIN_TRY(const auto applied, host_.shipped_position());
    LogPosition position = applied.value_or(LogPosition{});
    // A seal is read again, because it tells where the log goes on.
    KIN_TRY(const auto last, objects_.get(log_object_name(position)));
    if (last) {
      KIN_TRY(const LogObject object, decode_log_object(*last));
      if (object.kind == LogObject::Kind::kSeal) --position.number;
    }
    reader_.emplace(objects_, position);
    first_term_ = position.term;
    phase_ = Phase::kFollowing;
    return StepOutcome::worked();
  }
  if (!lease_.is_held()) return StepOutcome::not_before(now() + options_.poll);
  phase_ = Phase::kSealing;
  return StepOutcome::worked();
}

Result<StepOutcome> Replica::follow() {
  if (lease_.is_held()) {
    phase_ = Phase::kSealing;
    return StepOutcome::worked();
  }
  const SteadyTime asked = now();
  if (is_complete_.load() && asked - complete_at_.load() > options_.lease.length) reader_->doubt();
  KIN_TRY(const Read read, read_on());
  if (read == Read::kApplied) return StepOutcome::worked();
  complete_at_ = asked;
  is_complete_ = true;
  if (read == Read::kAtEnd) saw_end(asked);
  return StepOutcome::not_before(now() + options_.poll);
}

// Everything that was in the log when it was asked is here.
void Replica::saw_end(SteadyTime asked) {
  if (!is_proved()) return;
  current_at_ = asked;
  is_current_ = true;
}

// A copy may have been restored from a snapshot of a term that began without a base, and the
// snapshot may come too late: then its state is given up, though nobody acknowledged it. Not so if
// nobody had sealed the term when the snapshot was there, because whoever seals it later finds the
// snapshot. Only the holder of a later lease seals a term.
bool Replica::is_proved() {
  const std::uint64_t lease = lease_.term();  // read since the snapshot was
  const std::uint64_t term = reader_->position().term;
  is_proved_ = is_proved_ || term > first_term_ || (lease != 0 && lease <= term);
  return is_proved_;
}

Result<Replica::Read> Replica::read_on() {
  const auto object = reader_->next();
  if (!object.ok()) {
    if (!reader_->is_blocked()) return object.error();
    KIN_TRY(const bool leads_on, snapshot_leads_on(objects_, reader_->position()));
    if (leads_on) return object.error();
    return Read::kBlocked;
  }
  if (!*object) return Read::kAtEnd;
  KIN_RETURN_IF_ERROR(host_.apply_shipped(**object));
  return Read::kApplied;
}

Result<bool> Replica::seal_log() {
  KIN_TRY(const LogEnd end, find_end(objects_));
  is_sealed_ = end.term == 0;
  if (is_sealed_) return true;
  LogPosition after = end.last;
  if (end.seal) {
    const std::uint64_t next = end.seal->next_term;
    // The seal is there already, though the reply to its creation was lost.
    is_sealed_ = next == term_ && end.seal->writer == writer_;
    seal_at_ = end.last;
    if (is_sealed_) return true;
    if (end.dropped || next >= term_) return false;
    after = {next, 0};
  } else if (end.term >= term_) {
    return false;
  }
  KIN_TRY(const Sealed sealed,
          seal_term(objects_, after, term_, writer_, options_.lease.clock->now()));
  is_sealed_ = sealed.ours;
  seal_at_ = sealed.at;
  // Otherwise an earlier take-over came so far. Its term is sealed in its turn.
  return sealed.ours || (sealed.next_term != 0 && sealed.next_term < term_);
}

// A copy that was away for long may lack objects that are removed. And the term of an owner that
// began without a base, or had a gap, may have got its first snapshot until it was sealed. One that
// comes later proves nothing: its owner cannot create another object, and so acknowledges nothing.
Status Replica::check_end() {
  const Error lacks{
      Code::kFailedPrecondition,
      "the copy lacks objects of the log that are removed (restore it from a snapshot)"};
  if (reader_->awaited_term() != term_) return lacks;
  KIN_TRY(const bool leads_on, snapshot_leads_on(objects_, reader_->position()));
  if (leads_on)
    return Error{Code::kFailedPrecondition,
                 "the state of the shard is in a snapshot alone (restore the copy from it)"};
  return Done{};
}

Result<StepOutcome> Replica::seal() {
  term_ = lease_.term();
  writer_ = writer_of(options_.self, term_);
  if (reader_) {
    const SteadyTime asked = now();
    KIN_TRY(const Read read, read_on());
    if (read == Read::kApplied) return StepOutcome::worked();
    if (read == Read::kAtEnd) saw_end(asked);
  }
  if (!is_sealed_) {
    KIN_TRY(const bool ours, seal_log());
    return ours ? StepOutcome::worked() : lose();
  }
  // The log was read to its end after it was sealed.
  if (reader_) KIN_RETURN_IF_ERROR(check_end());
  phase_ = Phase::kEntering;
  return StepOutcome::worked();
}

Result<Replica::Entry> Replica::enter() {
  KIN_TRY(const auto value, meta_.get(map_key(options_.index)));
  if (!value) return Entry::kNotThere;
  KIN_TRY(const ShardMap map, decode_shard_map(value->bytes));
  const auto place = map.place_of(options_.identity);
  if (!place) return Entry::kNotThere;
  if (map.term_of(*place) > term_) return Entry::kOthers;
  const bool moved = map.shards[*place] != options_.self.address;
  if (map.term_of(*place) < term_ && (reader_ || moved)) {
    // What was written is read again: an error leaves open whether it was.
    KIN_TRY([[maybe_unused]] const auto written,
            meta_.swap(map_key(options_.index), value->revision,
                       encode(taken_over(map, *place, options_.self.address, term_))));
    return Entry::kTried;
  }
  assignment_ = map.assignment_of(*place);
  is_entered_ = true;
  return Entry::kDone;
}

Result<StepOutcome> Replica::enter_map() {
  KIN_TRY(const Entry entry, enter());
  if (entry == Entry::kOthers) return lose();
  if (entry != Entry::kTried) phase_ = Phase::kBeginning;
  return StepOutcome::worked();
}

// A shard that is not in the map yet may be entered with the address of an earlier owner.
Result<StepOutcome> Replica::own() {
  if (is_entered_) return shipper_.step();
  if (now() >= enters_at_) {
    enters_at_ = now() + options_.lease.renew;
    // A meta store that does not answer must not hold the log up: it is asked again.
    const auto entry = enter();
    if (entry.ok() && *entry == Entry::kOthers) return lose();
    if (entry.ok() && *entry == Entry::kTried) enters_at_ = now();
    if (is_entered_) KIN_RETURN_IF_ERROR(host_.assign(assignment_));
  }
  KIN_TRY(const StepOutcome shipped, shipper_.step());
  return is_entered_ ? shipped : combine(shipped, StepOutcome::not_before(enters_at_));
}

Result<StepOutcome> Replica::begin_term() {
  LogTerm term{.term = term_, .writer = writer_, .owner = options_.self.address};
  const LogPosition before{seal_at_.term, seal_at_.number - 1};
  if (reader_)
    term.base = reader_->position();
  else if (options_.clean && options_.clean == before)
    term.base = seal_at_;
  if (!begun_) {
    shipper_.set_copy(false);
    const Status begun = shipper_.begin(term);
    if (!begun.ok() && begun.error().code == Code::kFailedPrecondition) return lose();
    KIN_RETURN_IF_ERROR(begun);
    begun_ = true;
  }
  if (options_.keep_owner) KIN_RETURN_IF_ERROR(options_.keep_owner());
  if (reader_) KIN_RETURN_IF_ERROR(host_.become_owner());
  if (!assignment_.owners.empty()) KIN_RETURN_IF_ERROR(host_.assign(assignment_));
  phase_ = Phase::kOwning;
  return StepOutcome::worked();
}

Standing Replica::as_follower() const {
  return {.role = Standing::Role::kFollower,
          .behind = std::chrono::ceil<milliseconds>(now() - current_at_.load())};
}

Standing Replica::standing() const {
  using Role = Standing::Role;
  switch (phase()) {
    case Phase::kOwning:
      if (shipper_.is_deposed()) return {.role = Role::kNobody, .why = "another node took it over"};
      if (!lease_.is_valid()) return {.role = Role::kNobody, .why = "its lease is over"};
      return {};
    case Phase::kFollowing:
      if (!is_current_.load()) return {.role = Role::kNobody, .why = "its copy is not complete yet"};
      return as_follower();
    case Phase::kStarting: return {.role = Role::kNobody, .why = "it has just been started"};
    case Phase::kSealing:
    case Phase::kEntering:
    case Phase::kBeginning:
      // The rows of a former owner may have what nobody acknowledged, and those of a copy do not.
      if (is_current_.load()) return as_follower();
      return {.role = Role::kNobody, .why = "it is taking it over"};
    case Phase::kLost: return {.role = Role::kNobody, .why = "another node took it over"};
    case Phase::kLeft: return {.role = Role::kNobody, .why = "its node is being stopped"};
  }
  KIN_UNREACHABLE();
}

std::string_view name_of(Replica::Phase phase) {
  switch (phase) {
    case Replica::Phase::kStarting: return "starting";
    case Replica::Phase::kFollowing: return "following";
    case Replica::Phase::kSealing: return "sealing";
    case Replica::Phase::kEntering: return "entering";
    case Replica::Phase::kBeginning: return "beginning";
    case Replica::Phase::kOwning: return "owning";
    case Replica::Phase::kLost: return "lost";
    case Replica::Phase::kLeft: return "left";
  }
  KIN_UNREACHABLE();
}

}  // namespace kin::router
