#include "router/log_shipper.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kin::router {

LogShipper::LogShipper(cloud::ObjectStore& objects, const LogShipperOptions& options)
    : objects_(objects), options_(options) {}

kv::BatchObserver LogShipper::observer(LogStore store) {
  return [this, store](std::string bytes) { take(store, std::move(bytes)); };
}

void LogShipper::set_copy(bool copy) {
  const std::lock_guard lock(mutex_);
  phase_ = copy ? Phase::kCopy : Phase::kNotBegun;
}

void LogShipper::on_work(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
}

void LogShipper::take(LogStore store, std::string bytes) {
  std::function<void()> wake;
  {
    const std::lock_guard lock(mutex_);
    if (phase_ == Phase::kCopy || phase_ == Phase::kDeposed) return;
    ++position_;
    // The wall clock may jump back; the order of commits does not.
    last_time_ = std::max(last_time_, options_.clock->now());
    if (gap_wanted_) return;  // the snapshot after the gap has it
    queued_bytes_ += bytes.size();
    queue_.push_back({.batch = {.store = store, .time = last_time_, .bytes = std::move(bytes)},
                      .number = position_});
    if (queued_bytes_ > options_.most_queue_bytes) {
      // What is in flight stays.
      for (const Queued& one : queue_) queued_bytes_ -= one.batch.bytes.size();
      queue_.clear();
      gap_wanted_ = true;
    }
    wake = wake_;
  }
  if (wake) wake();
}

std::uint64_t LogShipper::position() const {
  const std::lock_guard lock(mutex_);
  return position_;
}

std::uint64_t LogShipper::durable() const {
  return uncovered_ ? std::min(before_gap_, shipped_) : shipped_;
}

LogShipper::Wait LogShipper::state(std::uint64_t position) const {
  const std::lock_guard lock(mutex_);
  // Also for batches that are in the log: a deposed owner does not know what came after them.
  if (phase_ == Phase::kDeposed) return Wait::kDeposed;
  if (phase_ == Phase::kShipping && !uncovered_ && position <= durable()) return Wait::kDurable;
  return Wait::kNotYet;
}

LogShipper::Wait LogShipper::wait(std::uint64_t position, SteadyTime deadline) const {
  for (;;) {
    const Wait now = state(position);
    if (now != Wait::kNotYet) return now;
    std::unique_lock lock(mutex_);
    const auto settled = [&] {
      return phase_ == Phase::kDeposed ||
             (phase_ == Phase::kShipping && !uncovered_ && position <= durable());
    };
    // A time that is far away overflows in some implementations of wait_until().
    const SteadyTime soon = std::chrono::steady_clock::now() + std::chrono::hours{1};
    if (!changed_.wait_until(lock, std::min(deadline, soon), settled) && deadline <= soon)
      return Wait::kNotYet;
  }
}

// Chooses what to create next, unless something is being created.
void LogShipper::prepare_object() {
  if (in_flight_) return;
  LogObject object{.position = {term_.term, next_},
                   .time = options_.clock->now(),
                   .writer = term_.writer};
  std::uint64_t after = shipped_;
  if (gap_wanted_) {
    object.kind = LogObject::Kind::kGap;
    gap_wanted_ = false;
    after = position_;
  } else {
    std::uint64_t bytes = 0;
    while (!queue_.empty() &&
           (bytes == 0 || bytes + queue_.front().batch.bytes.size() <= options_.most_object_bytes)) {
      bytes += queue_.front().batch.bytes.size();
      after = queue_.front().number;
      object.batches.push_back(std::move(queue_.front().batch));
      queue_.pop_front();
    }
    if (object.batches.empty() && !covering_) return;
    if (!object.batches.empty()) object.time = std::max(object.time, object.batches.back().time);
    in_flight_covers_ = std::exchange(covering_, std::nullopt);
  }
  in_flight_ = std::move(object);
  in_flight_batches_ = after;
}

Result<bool> LogShipper::create_object() {
  // Nobody else changes it while creating_ is held.
  const LogObject& object = *in_flight_;
  const std::string name = log_object_name(object.position);
  const std::string bytes = encode(object);
  KIN_TRY(bool ours, objects_.create(name, bytes));
  if (!ours) {
    // An earlier try may have created it.
    KIN_TRY(const auto there, objects_.get(name));
    ours = there && *there == bytes;
  }
  const std::lock_guard lock(mutex_);
  if (!ours) {
    phase_ = Phase::kDeposed;
    queue_.clear();
    queued_bytes_ = 0;
    stats_.deposed = true;
  } else {
    for (const LogBatch& batch : object.batches) queued_bytes_ -= batch.bytes.size();
    const bool gap = object.kind == LogObject::Kind::kGap;
    if (gap || (object.kind == LogObject::Kind::kBegin && !object.base)) {
      if (!uncovered_) before_gap_ = shipped_;
      uncovered_ = object.position;
    }
    if (gap) ++stats_.gaps;
    if (in_flight_covers_ && uncovered_ && *in_flight_covers_ >= *uncovered_) uncovered_.reset();
    ++stats_.objects;
    stats_.bytes += bytes.size();
    shipped_ = in_flight_batches_;
    next_ = object.position.number + 1;
  }
  in_flight_.reset();
  in_flight_covers_.reset();
  changed_.notify_all();
  return ours;
}

Status LogShipper::begin(const LogTerm& term) {
  const std::lock_guard creating(creating_);
  {
    const std::lock_guard lock(mutex_);
    KIN_CHECK(phase_ != Phase::kShipping, "a term begins once");
    if (!in_flight_ || term_.writer != term.writer) {
      term_ = term;
      next_ = 1;
      in_flight_ = LogObject{.kind = LogObject::Kind::kBegin,
                             .position = {term.term, 1},
                             .time = options_.clock->now(),
                             .writer = term.writer,
                             .owner = term.owner,
                             .base = term.base};
      in_flight_batches_ = shipped_;
    }
  }
  KIN_TRY(const bool ours, create_object());
  const std::lock_guard lock(mutex_);
  if (!ours)
    return Error{Code::kFailedPrecondition,
                 fmt::format("term {} of the shard's log belongs to another node", term.term)};
  phase_ = Phase::kShipping;
  stats_.term = term.term;
  changed_.notify_all();
  return Done{};
}

Result<StepOutcome> LogShipper::step() {
  const std::lock_guard creating(creating_);
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::kShipping) return StepOutcome::idle();
    if (not_before_ && options_.clock->steady_now() < *not_before_)
      return StepOutcome::not_before(*not_before_);
    prepare_object();
    if (!in_flight_) return StepOutcome::idle();
  }
  const auto created = create_object();
  if (created.ok()) return StepOutcome::worked();
  const std::lock_guard lock(mutex_);
  ++stats_.failures;
  not_before_ = options_.clock->steady_now() + options_.retry;
  return StepOutcome::not_before(*not_before_);
}

bool LogShipper::is_deposed() const {
  const std::lock_guard lock(mutex_);
  return phase_ == Phase::kDeposed;
}

bool LogShipper::wants_snapshot() const {
  const std::lock_guard lock(mutex_);
  return phase_ == Phase::kShipping && uncovered_ && !gap_wanted_ && !covering_ &&
         !in_flight_covers_;
}

LogShipper::Shipped LogShipper::shipped() const {
  const std::lock_guard lock(mutex_);
  return {.object = {term_.term, next_ - 1}, .batches = shipped_, .bytes = stats_.bytes};
}

bool LogShipper::has_gap_after(const LogPosition& object) const {
  const std::lock_guard lock(mutex_);
  return uncovered_ && *uncovered_ > object;
}

void LogShipper::covered(const LogPosition& from) {
  std::function<void()> wake;
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::kShipping || !uncovered_ || from < *uncovered_) return;
    covering_ = from;
    wake = wake_;
  }
  if (wake) wake();
}

bool LogShipper::is_confirming() const {
  const std::lock_guard lock(mutex_);
  return phase_ == Phase::kShipping && (covering_ || in_flight_covers_);
}

std::optional<LogPosition> LogShipper::finish() {
  for (;;) {
    const auto outcome = step();
    if (!outcome.ok() || outcome->next(SteadyTime{}).value_or(SteadyTime{}) != SteadyTime{})
      return {};
    if (!outcome->did_work()) break;
  }
  const std::lock_guard lock(mutex_);
  if (phase_ != Phase::kShipping || uncovered_ || shipped_ != position_) return {};
  return LogPosition{term_.term, next_ - 1};
}

LogShipperStats LogShipper::stats() const {
  const std::lock_guard lock(mutex_);
  LogShipperStats stats = stats_;
  stats.position = position_;
  stats.durable = durable();
  stats.queued_bytes = queued_bytes_;
  const LogBatch* oldest = in_flight_ && !in_flight_->batches.empty() ? &in_flight_->batches.front()
                           : queue_.empty()                           ? nullptr
                                                                      : &queue_.front().batch;
  if (oldest != nullptr)
    stats.lag = std::max(std::chrono::milliseconds{0}, options_.clock->now() - oldest->time);
  return stats;
}

}  // namespace kin::router
