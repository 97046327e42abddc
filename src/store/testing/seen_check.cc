#include "store/testing/seen_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/hash.h"
#include "base/random.h"

namespace kin::store {
namespace {

constexpr std::uint64_t kMostInBatch = 8192;
constexpr std::uint64_t kRecent = 100'000;
constexpr std::uint64_t kProgressEvery = std::uint64_t{1} << 20;

// Sums of it distinguish two sets, whatever the order.
std::uint64_t digest_of_id(SeenId id) {
  return mix64(id.high + mix64(id.low + 1));
}

class SeenChecker {
 public:
  SeenChecker(const std::filesystem::path& folder, const SeenCheckOptions& options)
      : folder_(folder), options_(options), random_(options.seed), salt_(mix64(options.seed + 1)) {}

  Result<SeenCheckFigures> run(const std::function<Status(const SeenCheckFigures&)>& progress);

 private:
  // The n-th id, for any n; those of left_out(n) are never inserted.
  SeenId id(std::uint64_t n) const;
  bool left_out(std::uint64_t n) const { return mix64(n ^ salt_) % 8 == 0; }
  bool is_in(std::uint64_t n) const { return n < next_ && !left_out(n); }
  // One of the earlier ids; half of the time one of the last.
  std::uint64_t earlier();
  std::uint64_t fresh();

  Status open(SeenOptions::Mode mode);
  Status reopen();
  Status step();
  Status insert_one();
  Status insert_batch(std::uint64_t count);
  Status look_up(std::uint64_t count);
  void draw_insert();
  Status note_insert(std::size_t i, bool was_new);
  Status commit();
  void count_background();
  Status check_length() const;
  Status check_all();
  Error wrong(std::string_view what, std::uint64_t n) const;

  const std::filesystem::path& folder_;
  const SeenCheckOptions& options_;
  Random random_;
  std::uint64_t salt_;
  std::unique_ptr<SeenSet> set_;
  SeenCheckFigures figures_;
  std::uint64_t next_ = 0;    // every n below it that is not left out is in the set
  std::uint64_t digest_ = 0;  // of what is in the set
  std::uint64_t uncommitted_ = 0;
  std::uint64_t merges_before_ = 0;  // before the set was opened last
  std::uint64_t flushes_before_ = 0;
  std::vector<std::uint64_t> drawn_;
  std::vector<std::uint8_t> expected_;
  std::vector<SeenId> ids_;
  std::vector<std::uint8_t> answers_;
};

SeenId SeenChecker::id(std::uint64_t n) const {
  if (set_->kind() == IdKind::kText) return set_->id_of(fmt::format("id {}", n ^ salt_));
  return SeenId::number(unmix64(n) ^ salt_);
}

std::uint64_t SeenChecker::earlier() {
  for (;;) {
    const std::uint64_t n = random_.below(2) == 0
                                ? next_ - 1 - random_.below(std::min(next_, kRecent))
                                : random_.below(next_);
    if (!left_out(n)) return n;
  }
}

std::uint64_t SeenChecker::fresh() {
  while (left_out(next_)) ++next_;
  return next_++;
}

Error SeenChecker::wrong(std::string_view what, std::uint64_t n) const {
  return Error{Code::kInternal,
               fmt::format("wrong answer after {} right ones: {} (id {} of seed {})",
                           figures_.operations, what, n, options_.seed)};
}

Status SeenChecker::open(SeenOptions::Mode mode) {
  SeenOptions options = options_.set;
  options.mode = mode;
  KIN_TRY(set_, SeenSet::open(folder_, options));
  return check_length();
}

Status SeenChecker::check_length() const {
  if (set_->len() == figures_.added) return Done{};
  return wrong(fmt::format("it holds {} ids and says {}", figures_.added, set_->len()), next_);
}

void SeenChecker::count_background() {
  const SeenStats stats = set_->stats();
  figures_.merges = merges_before_ + stats.merges;
  figures_.flushes = flushes_before_ + stats.flushes;
}

Status SeenChecker::reopen() {
  count_background();
  KIN_RETURN_IF_ERROR(set_->close());
  merges_before_ = figures_.merges;
  flushes_before_ = figures_.flushes;
  set_.reset();
  ++figures_.reopens;
  uncommitted_ = 0;
  return open(SeenOptions::Mode::kOpen);
}

Status SeenChecker::commit() {
  uncommitted_ = 0;
  ++figures_.commits;
  KIN_TRY(const std::uint64_t number, set_->commit());
  if (number == figures_.added) return Done{};
  return wrong(fmt::format("commit number {} of {} ids", number, figures_.added), next_);
}

void SeenChecker::draw_insert() {
  const bool is_new = next_ < 2 || random_.below(5) != 0;
  drawn_.push_back(is_new ? fresh() : earlier());
  expected_.push_back(is_new ? 1 : 0);
  ids_.push_back(id(drawn_.back()));
  if (is_new) digest_ += digest_of_id(ids_.back());
}

Status SeenChecker::note_insert(std::size_t i, bool was_new) {
  if (was_new != (expected_[i] == 1))
    return wrong(was_new ? "an id that was there counted as new" : "a new id counted as there",
                 drawn_[i]);
  ++figures_.operations;
  ++(was_new ? figures_.added : figures_.repeated);
  return Done{};
}

Status SeenChecker::insert_one() {
  draw_insert();
  KIN_TRY(const bool was_new, set_->insert(ids_[0]));
  return note_insert(0, was_new);
}

Status SeenChecker::insert_batch(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) draw_insert();
  answers_.assign(count, 2);
  KIN_RETURN_IF_ERROR(set_->insert(ids_, answers_));
  for (std::size_t i = 0; i < count; ++i) KIN_RETURN_IF_ERROR(note_insert(i, answers_[i] == 1));
  return Done{};
}

Status SeenChecker::look_up(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    drawn_.push_back(random_.below(2) == 0 ? random_.below(next_ + 1)
                                           : next_ + random_.below(std::uint64_t{1} << 40));
    expected_.push_back(is_in(drawn_.back()) ? 1 : 0);
    ids_.push_back(id(drawn_.back()));
  }
  answers_.assign(count, 2);
  if (count == 1) {
    KIN_TRY(const bool found, set_->contains(ids_[0]));
    answers_[0] = found ? 1 : 0;
  } else {
    KIN_RETURN_IF_ERROR(set_->contains(ids_, answers_));
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (answers_[i] != expected_[i])
      return wrong(answers_[i] == 0 ? "an id was not found" : "an absent id was found", drawn_[i]);
    ++figures_.operations;
    ++(answers_[i] == 1 ? figures_.found : figures_.absent);
  }
  return Done{};
}

Status SeenChecker::step() {
  drawn_.clear();
  expected_.clear();
  ids_.clear();
  const std::uint64_t left = options_.operations - figures_.operations;
  const std::uint64_t count =
      random_.below(4) == 0 ? 1 : std::min(left, 1 + random_.below(kMostInBatch));
  if (random_.below(3) == 0) return look_up(count);
  KIN_RETURN_IF_ERROR(count == 1 ? insert_one() : insert_batch(count));
  uncommitted_ += count;
  if (uncommitted_ >= options_.commit_every) KIN_RETURN_IF_ERROR(commit());
  if (random_.below(2000) == 0) KIN_RETURN_IF_ERROR(set_->flush());
  return check_length();
}

Status SeenChecker::check_all() {
  std::uint64_t count = 0;
  std::uint64_t digest = 0;
  KIN_RETURN_IF_ERROR(set_->for_each([&](SeenId found) -> Status {
    ++count;
    digest += digest_of_id(found);
    return Done{};
  }));
  if (count != figures_.added || digest != digest_)
    return wrong(fmt::format("for_each gave {} ids, not the {} that are in", count, figures_.added),
                 next_);
  return set_->verify();
}

Result<SeenCheckFigures> SeenChecker::run(
    const std::function<Status(const SeenCheckFigures&)>& progress) {
  KIN_RETURN_IF_ERROR(open(SeenOptions::Mode::kFresh));
  const std::uint64_t reopen_every = options_.operations / (options_.reopens + 1) + 1;
  std::uint64_t next_reopen = reopen_every;
  std::uint64_t next_progress = kProgressEvery;
  while (figures_.operations < options_.operations) {
    KIN_RETURN_IF_ERROR(step());
    if (figures_.operations >= next_reopen) {
      next_reopen += reopen_every;
      KIN_RETURN_IF_ERROR(reopen());
    }
    if (figures_.operations < next_progress) continue;
    next_progress += kProgressEvery;
    count_background();
    if (progress) KIN_RETURN_IF_ERROR(progress(figures_));
  }
  KIN_RETURN_IF_ERROR(commit());
  KIN_RETURN_IF_ERROR(check_all());
  KIN_RETURN_IF_ERROR(reopen());
  KIN_RETURN_IF_ERROR(check_all());
  count_background();
  KIN_RETURN_IF_ERROR(set_->close());
  return figures_;
}

}  // namespace

Result<SeenCheckFigures> check_seen_set(
    const std::filesystem::path& folder, const SeenCheckOptions& options,
    const std::function<Status(const SeenCheckFigures&)>& progress) {
  return SeenChecker(folder, options).run(progress);
}

}  // namespace kin::store
