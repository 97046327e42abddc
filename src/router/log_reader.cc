#include "router/log_reader.h"

#include <fmt/format.h>

namespace kin::router {
namespace {

// A missing object may have been removed. Asked when one is missing, and then now and again.
constexpr std::uint64_t kAskAgain = 64;

Error must_be_restored(std::string_view why) {
  return {Code::kFailedPrecondition,
          fmt::format("the copy cannot go on by the log: {} (restore it from a snapshot)", why)};
}

}  // namespace

Result<std::optional<LogObject>> LogReader::read(const LogPosition& position) {
  KIN_TRY(const auto bytes, objects_.get(log_object_name(position)));
  if (!bytes) return std::optional<LogObject>();
  KIN_TRY(LogObject object, decode_log_object(*bytes));
  if (object.position != position)
    return Error{Code::kDataLoss, fmt::format("{} is another object of the log",
                                              log_object_name(position))};
  return std::optional(std::move(object));
}

Status LogReader::check_removed() {
  if (absent_++ % kAskAgain != 0) return Done{};
  std::string next;
  KIN_TRY(const auto names, objects_.list(std::string(kLogFolder), 1, next));
  const auto first = names.empty() ? std::nullopt : position_in(names.front());
  if (first && *first > LogPosition{position_.term, position_.number + 1})
    return must_be_restored("its next object is removed");
  return Done{};
}

Error LogReader::blocked(std::string_view why) {
  is_blocked_ = true;
  return must_be_restored(why);
}

Result<std::optional<std::uint64_t>> LogReader::sealed_for(std::uint64_t term) {
  KIN_TRY(const auto names, cloud::list_all(objects_, log_term_prefix(term)));
  const auto last = names.empty() ? std::nullopt : position_in(names.back());
  if (!last) return std::optional<std::uint64_t>();
  KIN_TRY(const auto seal, read(*last));
  if (!seal || seal->kind != LogObject::Kind::kSeal) return std::optional<std::uint64_t>();
  return std::optional(seal->next_term);
}

Result<std::optional<LogObject>> LogReader::next() {
  is_blocked_ = false;
  awaited_.reset();
  if (next_term_) return cross(*next_term_);
  KIN_TRY(auto object, read({position_.term, position_.number + 1}));
  if (!object) {
    KIN_RETURN_IF_ERROR(check_removed());
    return std::optional<LogObject>();
  }
  absent_ = 0;
  if (object->kind == LogObject::Kind::kGap) {
    // A term after this one may begin with the state before the gap.
    KIN_TRY(const auto next_term, sealed_for(position_.term));
    if (!next_term) return blocked("batches are missing in it");
    return cross(*next_term);
  }
  position_ = object->position;
  if (object->kind == LogObject::Kind::kSeal) next_term_ = object->next_term;
  return object;
}

// To a term that begins with the state here. Terms between them may not have begun, or had a state
// that no object has and that nobody built upon; they were sealed in their turn.
Result<std::optional<LogObject>> LogReader::cross(std::uint64_t next_term) {
  for (std::uint64_t term = next_term;;) {
    if (term == 0) return Error{Code::kNotFound, "the shard of the log was dropped"};
    KIN_TRY(auto first, read({term, 1}));
    if (!first) {
      KIN_RETURN_IF_ERROR(check_removed());
      awaited_ = term;
      return std::optional<LogObject>();
    }
    absent_ = 0;
    if (first->kind == LogObject::Kind::kSeal) {
      term = first->next_term;
      continue;
    }
    if (first->base == position_) {
      position_ = first->position;
      next_term_.reset();
      return first;
    }
    // What that term acknowledged is in the log: nobody may go on from here.
    if (first->base) return must_be_restored("its next term began with another state");
    KIN_TRY(const auto sealed, sealed_for(term));
    if (!sealed) return blocked("its next term began with a state that is in no object");
    term = *sealed;
  }
}

}  // namespace kin::router
