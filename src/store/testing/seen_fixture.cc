#include "store/testing/seen_fixture.h"

namespace kin::store {

std::vector<SeenId> first_ids(const SeenSet& set, std::uint64_t count) {
  std::vector<SeenId> ids;
  for (std::uint64_t n = 0; n < count; ++n) ids.push_back(nth_id(set, n));
  return ids;
}

void SeenHistory::acknowledge() {
  for (const std::uint64_t n : pending_) acknowledged_[n] = true;
  pending_.clear();
}

Status SeenHistory::commit(SeenSet& set) {
  KIN_TRY(const std::uint64_t number, set.commit());
  EXPECT_EQ(number, set.len());
  acknowledge();
  return Done{};
}

Status SeenHistory::flush(SeenSet& set) {
  KIN_RETURN_IF_ERROR(set.flush());
  acknowledge();
  return Done{};
}

Status SeenHistory::close(SeenSet& set) {
  KIN_RETURN_IF_ERROR(set.close());
  acknowledge();
  return Done{};
}

Status SeenHistory::insert(SeenSet& set, const std::vector<std::uint64_t>& numbers) {
  std::vector<SeenId> ids;
  std::vector<int> expected;  // -1: unknown after a crash
  for (const std::uint64_t n : numbers) {
    const bool fresh = n >= attempted();
    const bool there = !fresh && (acknowledged_[n] || pending_.contains(n));
    if (fresh) acknowledged_.resize(n + 1);
    pending_.insert(n);
    expected.push_back(there ? 0 : fresh ? 1 : -1);
    ids.push_back(nth_id(set, n));
  }
  std::vector<std::uint8_t> was_new(ids.size(), 2);
  if (ids.size() == 1) {
    KIN_TRY(const bool is_new, set.insert(ids[0]));
    was_new[0] = is_new ? 1 : 0;
  } else {
    KIN_RETURN_IF_ERROR(set.insert(ids, was_new));
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (expected[i] < 0) continue;
    EXPECT_EQ(was_new[i], expected[i]) << "id " << numbers[i];
  }
  return Done{};
}

Status SeenHistory::write_on(SeenSet& set, std::uint64_t count) {
  static constexpr std::uint64_t kSizes[] = {1, 7, 1, 3, 19, 2, 11};
  std::vector<std::uint64_t> open;
  for (std::uint64_t n = 0; n < attempted(); ++n) {
    if (!acknowledged_[n] && !pending_.contains(n)) open.push_back(n);
  }
  if (!open.empty()) KIN_RETURN_IF_ERROR(insert(set, open));
  const std::uint64_t end = attempted() + count;
  while (attempted() < end) {
    ++round_;
    const std::uint64_t size = std::min(kSizes[round_ % std::size(kSizes)], end - attempted());
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t i = 0; i < size; ++i) numbers.push_back(attempted() + i);
    if (size > 1) numbers.push_back(mix64(round_) % numbers.back());
    KIN_RETURN_IF_ERROR(insert(set, numbers));
    if (round_ % 3 == 0) KIN_RETURN_IF_ERROR(commit(set));
    if (round_ % 13 == 0) KIN_RETURN_IF_ERROR(flush(set));
  }
  return commit(set);
}

Hash128 SeenHistory::expected() const {
  return hash128(std::string(acknowledged_.begin(), acknowledged_.end()));
}

void SeenHistory::expect_kept(SeenSet& set) const {
  constexpr std::uint64_t kStrangers = 20;
  const std::vector<SeenId> ids = first_ids(set, attempted() + kStrangers);
  std::vector<std::uint8_t> found(ids.size(), 2);
  const Status looked = set.contains(ids, found);
  ASSERT_TRUE(looked.ok()) << looked.error().message;
  std::set<SeenId> there;
  for (std::uint64_t n = 0; n < ids.size(); ++n) {
    ASSERT_LE(found[n], 1);
    const bool inserted = n < attempted();
    ASSERT_TRUE(inserted || found[n] == 0) << "id " << n << " was never inserted";
    ASSERT_TRUE(!inserted || !acknowledged_[n] || found[n] == 1) << "id " << n << " is lost";
    if (found[n] == 1) there.insert(ids[n]);
  }
  ASSERT_EQ(set.len(), there.size());
  std::set<SeenId> visited;
  const Status each = set.for_each([&](SeenId id) -> Status {
    EXPECT_TRUE(visited.insert(id).second) << "an id was visited twice";
    return Done{};
  });
  ASSERT_TRUE(each.ok()) << each.error().message;
  ASSERT_EQ(visited, there);
  const Status verified = set.verify();
  ASSERT_TRUE(verified.ok()) << verified.error().message;
}

// Readers that open before the writer find everything too.
Status SeenUnderTest::open(SimulatedDisk& disk) {
  const SeenOptions options = small_set(disk, kind_);
  if (history_.acknowledged_count() > 0) {
    KIN_TRY(const auto reading,
            SeenSet::open(kSetFolder, with_mode(options, SeenOptions::Mode::kRead)));
    history_.expect_kept(*reading);
  }
  KIN_TRY(set_, SeenSet::open(kSetFolder, options));
  return Done{};
}

Status SeenUnderTest::close() {
  KIN_RETURN_IF_ERROR(set_->settle());
  KIN_RETURN_IF_ERROR(history_.flush(*set_));
  KIN_RETURN_IF_ERROR(history_.close(*set_));
  set_.reset();
  return Done{};
}

// No later write succeeds, and the error says why; look-ups still work.
void SeenUnderTest::expect_after(const Error& error) {
  const char* cause =
      error.code == Code::kResourceExhausted ? "No space left" : "Input/output error";
  for (int again = 0; again < 2; ++again) {
    const auto inserted = set_->insert(nth_id(*set_, 1'000'000));
    const auto committed = set_->commit();
    const auto flushed = set_->flush();
    ASSERT_FALSE(inserted.ok());
    ASSERT_FALSE(committed.ok());
    ASSERT_FALSE(flushed.ok());
    for (const Error& refusal : {inserted.error(), committed.error(), flushed.error()}) {
      EXPECT_THAT(refusal.message, testing::HasSubstr("refuses writes since an earlier failure"));
      EXPECT_THAT(refusal.message, testing::HasSubstr(cause));
    }
  }
  for (std::uint64_t n = 0; n < history_.attempted(); ++n) {
    if (!history_.acknowledged(n)) continue;
    const auto found = set_->contains(nth_id(*set_, n));
    ASSERT_TRUE(found.ok()) << found.error().message;
    ASSERT_TRUE(*found);
  }
}

void SeenUnderTest::expect_varied() {
  EXPECT_TRUE(set_->settle().ok());
  EXPECT_GT(set_->stats().merges, 2U) << "the run is too small to merge";
  EXPECT_GT(set_->stats().flushes, 5U) << "the run is too small to write runs out";
}

std::unique_ptr<StoreUnderTest> SeenUnderTest::after_crash() const {
  SeenHistory history = history_;
  history.crash();
  return std::make_unique<SeenUnderTest>(kind_, std::move(history));
}

}  // namespace kin::store
