#include "router/lease.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/format_head.h"
#include "base/sized_text.h"

namespace kin::router {
namespace {

constexpr FormatHead kHead{.name = "the lease of a shard", .magic = "KLEA"};
constexpr std::uint16_t kVersion = 1;

}  // namespace

Lease::Lease(MetaStore& meta, std::string key, LeaseHolder self, const LeaseOptions& options)
    : meta_(meta), key_(std::move(key)), self_(std::move(self)), options_(options) {}

Result<StepOutcome> Lease::step() {
  if (is_lost() || state_.load() == State::kReleased) return StepOutcome::idle();
  if (now() < next_) return StepOutcome::not_before(next_);
  auto outcome = is_held() ? renew() : look();
  if (!outcome.ok()) next_ = now() + options_.pause;
  return outcome;
}

Result<StepOutcome> Lease::renew() {
  if (unsure_) KIN_RETURN_IF_ERROR(read());
  if (is_lost()) return StepOutcome::idle();
  LeaseRecord record = *seen_;
  ++record.counter;
  const SteadyTime begun = now();
  KIN_TRY(const bool renewed, write(record));
  // Somebody else changed it, or an earlier renewal took effect late: it is read first.
  next_ = renewed ? begun + options_.renew : now();
  return StepOutcome::not_before(next_);
}

Result<StepOutcome> Lease::look() {
  KIN_RETURN_IF_ERROR(read());
  next_ = now() + options_.look;
  if (seen_) {
    // Not later than the moment from which on the lease may be taken.
    const SteadyTime free = *first_seen_ + options_.length + options_.margin;
    if (free > now()) next_ = std::min(next_, free);
  }
  return StepOutcome::not_before(next_);
}

Status Lease::read() {
  KIN_TRY(const auto value, meta_.get(key_));
  std::optional<LeaseRecord> record;
  if (value) {
    KIN_TRY(record, decode_lease(value->bytes));
  }
  unsure_ = false;
  learn(std::move(record), value ? value->revision : 0);
  return Done{};
}

void Lease::learn(std::optional<LeaseRecord> record, std::uint64_t revision) {
  // The clock is read after the reply came: the owner sent what made this revision before.
  if (!first_seen_ || revision != revision_) first_seen_ = now();
  revision_ = revision;
  seen_ = std::move(record);
  const bool ours = seen_ && seen_->holder == self_.holder;
  if (is_held() && (!ours || seen_->term < term_.load())) {
    valid_until_ = SteadyTime::min();
    state_ = State::kLost;
  }
  term_ = seen_ ? seen_->term : 0;
}

Result<bool> Lease::write(LeaseRecord record) {
  const SteadyTime sent = now();
  unsure_ = true;
  KIN_TRY(const auto written, meta_.swap(key_, revision_, encode(record)));
  if (!written) return false;
  unsure_ = false;
  learn(std::move(record), *written);
  valid_until_ = sent + options_.length;
  return true;
}

bool Lease::may_take() const {
  if (state_.load() != State::kWatching || !first_seen_) return false;
  if (!seen_ || seen_->holder == self_.holder) return true;
  if (seen_->counter == LeaseRecord::kReleased) return true;
  return now() >= *first_seen_ + options_.length + options_.margin;
}

Result<bool> Lease::take() {
  if (!may_take())
    return Error{Code::kFailedPrecondition, "the lease of the shard belongs to another process"};
  const LeaseRecord wanted{.term = std::max(term_.load(), options_.after_term) + 1,
                           .holder = self_.holder,
                           .counter = 0,
                           .address = self_.address};
  const SteadyTime begun = now();
  auto taken = write(wanted);
  if (!taken.ok() || !*taken) {
    // What is there now is not known. Until it is read, nothing is taken.
    first_seen_.reset();
    next_ = now() + options_.pause;
    return taken;
  }
  state_ = State::kHeld;
  next_ = begun + options_.renew;
  return true;
}

Status Lease::release() {
  if (!is_held()) return Done{};
  valid_until_ = SteadyTime::min();
  state_ = State::kReleased;
  if (unsure_) KIN_RETURN_IF_ERROR(read());
  // Somebody else has taken it since.
  if (!seen_ || seen_->holder != self_.holder) return Done{};
  LeaseRecord record = *seen_;
  record.counter = LeaseRecord::kReleased;
  KIN_TRY([[maybe_unused]] const auto written, meta_.swap(key_, revision_, encode(record)));
  return Done{};
}

bool Lease::is_valid() const {
  return is_held() && now() < valid_until_.load();
}

std::string encode(const LeaseRecord& record) {
  std::string out(kHead.magic);
  append_le(out, kVersion);
  append_le(out, record.term);
  append_le(out, record.holder);
  append_le(out, record.counter);
  append_sized(out, record.address);
  append_le(out, checksum(out));
  return out;
}

Result<LeaseRecord> decode_lease(std::string_view bytes) {
  KIN_TRY(auto fields, read_format(kHead, {kVersion}, bytes));
  ByteReader& in = fields.in;
  LeaseRecord record{.term = in.read<std::uint64_t>()};
  record.holder = in.read<std::uint64_t>();
  record.counter = in.read<std::uint64_t>();
  record.address = read_sized(in);
  if (!in.ok() || !in.rest().empty()) return kHead.damaged();
  return record;
}

std::string leases_prefix(std::string_view index) {
  return fmt::format("owner/{}/", index);
}

std::string lease_key(std::string_view index, const Hash128& identity) {
  return fmt::format("{}{:016x}{:016x}", leases_prefix(index), identity.high, identity.low);
}

}  // namespace kin::router
