#include "app/seen/filter.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/print.h"
#include "store/seen_parse.h"

namespace kin::app {
namespace {

// A line that is not an id may be anything, so a message shows little of it.
std::string_view shortened(std::string_view text) {
  constexpr std::size_t kShown = 60;
  return text.substr(0, kShown);
}

}  // namespace

SeenFilter::SeenFilter(store::SeenSet& set, SeenFilterOptions options)
    : set_(set), options_(std::move(options)) {}

Status SeenFilter::understand(const IdBatch& batch) {
  ids_.clear();
  texts_.clear();
  for (std::size_t i = 0; i < batch.ids.size(); ++i) {
    const std::string_view text = batch.ids[i];
    if (const auto id = store::parse_seen_id(set_, text)) {
      ids_.push_back(*id);
      texts_.push_back(text);
    } else if (options_.on_error == data::OnError::kSkip) {
      ++counts_.skipped;
    } else {
      return Error{Code::kInvalidArgument,
                   fmt::format("{}: \"{}\" is not a whole number from 0 to 18446744073709551615, "
                               "and {} is a set of numbers (use --on-error skip to leave it out)",
                               batch.where(i), shortened(text), options_.name)};
    }
  }
  return Done{};
}

Status SeenFilter::take(const IdBatch& batch) {
  // Ids before a bad one are added and printed, then the error is reported.
  Status understood = understand(batch);
  for (std::size_t begin = 0; begin < ids_.size();) {
    const auto end =
        std::min<std::uint64_t>(ids_.size(), begin + options_.commit_every - uncommitted_);
    KIN_RETURN_IF_ERROR(put_through(begin, end));
    uncommitted_ += end - begin;
    begin = end;
    if (uncommitted_ == options_.commit_every) KIN_RETURN_IF_ERROR(finish());
  }
  // The writer of the pipe may wait for these answers before it sends more.
  if (!batch.more_is_ready) KIN_RETURN_IF_ERROR(finish());
  return understood;
}

Status SeenFilter::put_through(std::size_t begin, std::size_t end) {
  using Print = SeenFilterOptions::Print;
  const auto ids = std::span(ids_).subspan(begin, end - begin);
  answers_.resize(ids.size());
  KIN_RETURN_IF_ERROR(options_.insert ? set_.insert(ids, answers_) : set_.contains(ids, answers_));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    // insert() answers 1 for a new id, contains() 1 for a known one.
    const bool fresh = (answers_[i] != 0) == options_.insert;
    ++(fresh ? counts_.fresh : counts_.seen);
    if (options_.print != (fresh ? Print::kNew : Print::kSeen)) continue;
    to_print_.append(texts_[begin + i]).push_back('\n');
  }
  return Done{};
}

Status SeenFilter::finish() {
  // Ids are durable before they are printed: a reader that acted on them must not get them again.
  if (options_.insert && uncommitted_ > 0) KIN_RETURN_IF_ERROR(set_.commit());
  uncommitted_ = 0;
  if (to_print_.empty()) return Done{};
  const Status printed = print(to_print_);
  reader_has_gone_ = !printed.ok() && printed.error().code == Code::kCancelled;
  to_print_.clear();
  return printed;
}

}  // namespace kin::app
