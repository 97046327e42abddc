// The contract of every ledger. A test includes this and instantiates LedgerContract with its kinds
// of ledger.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/testing/manual_clock.h"
#include "store/ledger.h"

namespace kin::store {

inline constexpr WallTime kStart{std::chrono::milliseconds(1'000'000'000)};

// A place for one ledger. Opening it again opens the existing ledger.
class LedgerPlace {
 public:
  virtual ~LedgerPlace() = default;
  virtual Result<std::unique_ptr<Ledger>> open(std::optional<std::chrono::days> retention,
                                               Clock& clock) = 0;
};
struct LedgerKind {
  std::string name;
  std::function<std::unique_ptr<LedgerPlace>()> make;
  friend void PrintTo(const LedgerKind& kind, std::ostream* out) { *out << kind.name; }
};

class LedgerContract : public testing::TestWithParam<LedgerKind> {
 protected:
  void SetUp() override { open({}); }
  void open(std::optional<std::chrono::days> retention) {
    ledger_.reset();
    ledger_ = std::move(*place_->open(retention, clock_));
  }
  LedgerEntry entry(const std::string& key, const std::string& source, const std::string& run) {
    LedgerEntry made;
    made.doc = doc_id_of(source, key);
    made.key = key;
    made.source = source;
    made.run = run;
    made.worker = "worker 1";
    made.at = clock_.now();
    made.version = "v1-00000000";
    return made;
  }
  std::optional<LedgerEntry> find(const DocId& doc) {
    return (*ledger_->was_processed(std::span(&doc, 1)))[0];
  }

  std::unique_ptr<LedgerPlace> place_ = GetParam().make();
  ManualClock clock_{kStart};
  std::unique_ptr<Ledger> ledger_;
};

TEST_P(LedgerContract, KnowsWhatWasProcessedAlsoWhenOpenedAgain) {
  LedgerEntry rejected = entry("b", "afp", "monday");
  rejected.outcome = Outcome::kRejected;
  rejected.reason = "minhash 0.91 of afp/a";
  rejected.duplicate_of = doc_id_of("afp", "a");
  const std::vector<LedgerEntry> entries = {entry("a", "afp", "monday"), rejected};
  EXPECT_THAT(*ledger_->record_processed(entries),
              testing::ElementsAre(std::nullopt, std::nullopt));
  open({});
  EXPECT_EQ(find(entries[0].doc), entries[0]);
  EXPECT_EQ(find(rejected.doc), rejected);
  EXPECT_EQ(find(doc_id_of("afp", "c")), std::nullopt);
}

TEST_P(LedgerContract, TheFirstEntryOfADocumentStays) {
  const LedgerEntry first = entry("a", "afp", "monday");
  ASSERT_TRUE(ledger_->record_processed(std::span(&first, 1)).ok());
  clock_.advance(std::chrono::hours(1));
  const LedgerEntry second = entry("a", "afp", "tuesday");
  EXPECT_THAT(*ledger_->record_processed(std::span(&second, 1)), testing::ElementsAre(first));
  EXPECT_EQ(find(first.doc), first);
  EXPECT_THAT(ledger_->list_by_run("tuesday", {})->entries, testing::IsEmpty());
}

TEST_P(LedgerContract, ARejectionGivesWayToAnAcceptanceAndNotTheReverse) {
  LedgerEntry rejected = entry("a", "afp", "monday");
  rejected.outcome = Outcome::kRejected;
  ASSERT_TRUE(ledger_->record_processed(std::span(&rejected, 1)).ok());
  LedgerEntry accepted = entry("a", "afp", "monday");
  accepted.worker = "worker 2";
  EXPECT_THAT(*ledger_->record_processed(std::span(&accepted, 1)),
              testing::ElementsAre(std::nullopt));
  EXPECT_EQ(find(accepted.doc), accepted);
  EXPECT_THAT(*ledger_->record_processed(std::span(&rejected, 1)), testing::ElementsAre(accepted));
  EXPECT_THAT(ledger_->list_by_run("monday", {})->entries, testing::ElementsAre(accepted));
}

TEST_P(LedgerContract, ListsBySourceAndRunInTheOrderOfTime) {
  std::vector<LedgerEntry> entries;
  for (int i = 0; i < 6; ++i) {
    clock_.advance(std::chrono::seconds(1));
    entries.push_back(entry(std::to_string(i), i % 2 == 0 ? "afp" : "afp2", "monday"));
    if (i >= 4) entries.back().outcome = Outcome::kRejected;
  }
  ASSERT_TRUE(ledger_->record_processed(entries).ok());
  EXPECT_THAT(ledger_->list_by_source("afp", {})->entries,
              testing::ElementsAre(entries[0], entries[2], entries[4]));
  EXPECT_THAT(ledger_->list_by_run("monday", {})->entries, testing::ElementsAreArray(entries));
  EXPECT_THAT(ledger_->list_by_run("monday", {.outcome = Outcome::kRejected})->entries,
              testing::ElementsAre(entries[4], entries[5]));
  EXPECT_THAT(ledger_->list_by_run("mon", {})->entries, testing::IsEmpty());
}

TEST_P(LedgerContract, PagesGiveEveryEntryOnce) {
  std::vector<LedgerEntry> entries;
  for (int i = 0; i < 25; ++i) entries.push_back(entry(std::to_string(i), "afp", "monday"));
  ASSERT_TRUE(ledger_->record_processed(entries).ok());
  std::vector<LedgerEntry> listed;
  ListRequest request{.limit = 10};
  int pages = 0;
  do {
    const LedgerPage page = *ledger_->list_by_source("afp", request);
    listed.insert(listed.end(), page.entries.begin(), page.entries.end());
    request.after = page.next;
    ++pages;
  } while (request.after);
  EXPECT_EQ(pages, 3);
  EXPECT_THAT(listed, testing::UnorderedElementsAreArray(entries));
}

TEST_P(LedgerContract, PagesOfARunGiveItsEntriesOfAnOutcomeInOrder) {
  std::vector<LedgerEntry> entries;
  std::vector<LedgerEntry> rejected;
  for (int i = 0; i < 23; ++i) {
    clock_.advance(std::chrono::seconds(1));
    entries.push_back(entry(std::to_string(i), i % 3 == 0 ? "afp" : "dpa", "monday"));
    if (i % 4 != 0) continue;
    entries.back().outcome = Outcome::kRejected;
    rejected.push_back(entries.back());
  }
  entries.push_back(entry("other", "afp", "tuesday"));
  ASSERT_TRUE(ledger_->record_processed(entries).ok());
  std::vector<LedgerEntry> listed;
  ListRequest request{.outcome = Outcome::kRejected, .limit = 5};
  do {
    const LedgerPage page = *ledger_->list_by_run("monday", request);
    EXPECT_LE(page.entries.size(), 5U);
    listed.insert(listed.end(), page.entries.begin(), page.entries.end());
    request.after = page.next;
  } while (request.after);
  EXPECT_THAT(listed, testing::ElementsAreArray(rejected));
}

TEST_P(LedgerContract, VisitsEveryEntryOnce) {
  std::map<DocId, LedgerEntry> recorded;
  std::vector<LedgerEntry> entries;
  for (int i = 0; i < 40; ++i) {
    entries.push_back(entry(std::to_string(i), i % 2 == 0 ? "even" : "odd", "run"));
    recorded.emplace(entries.back().doc, entries.back());
  }
  ASSERT_TRUE(ledger_->record_processed(entries).ok());
  std::map<DocId, LedgerEntry> visited;
  std::size_t visits = 0;
  ASSERT_TRUE(ledger_
                  ->each([&](const LedgerEntry& one) -> Status {
                    visited.emplace(one.doc, one);
                    ++visits;
                    return Done{};
                  })
                  .ok());
  EXPECT_EQ(visited, recorded);
  EXPECT_EQ(visits, 40U);
  const auto stopped =
      ledger_->each([](const LedgerEntry&) -> Status { return Error{Code::kCancelled, "enough"}; });
  EXPECT_EQ(stopped.error().code, Code::kCancelled);
}

TEST_P(LedgerContract, AnEntryThatIsTooOldCountsAsMissingAndCanBeReplaced) {
  open(std::chrono::days(1));
  const LedgerEntry old = entry("a", "afp", "monday");
  ASSERT_TRUE(ledger_->record_processed(std::span(&old, 1)).ok());
  clock_.advance(std::chrono::hours(24));
  EXPECT_EQ(find(old.doc), std::nullopt);
  EXPECT_THAT(ledger_->list_by_run("monday", {})->entries, testing::IsEmpty());
  const LedgerEntry again = entry("a", "afp", "tuesday");
  EXPECT_THAT(*ledger_->record_processed(std::span(&again, 1)), testing::ElementsAre(std::nullopt));
  EXPECT_EQ(find(old.doc), again);
  EXPECT_THAT(ledger_->list_by_source("afp", {})->entries, testing::ElementsAre(again));
}

TEST_P(LedgerContract, NamesMayHoldAnyBytes) {
  const std::string odd("a\0b\n\xff", 5);
  const LedgerEntry made = entry("k", odd, odd);
  ASSERT_TRUE(ledger_->record_processed(std::span(&made, 1)).ok());
  EXPECT_THAT(ledger_->list_by_source(odd, {})->entries, testing::ElementsAre(made));
  EXPECT_THAT(ledger_->list_by_run(odd, {})->entries, testing::ElementsAre(made));
  EXPECT_THAT(ledger_->list_by_source("a", {})->entries, testing::IsEmpty());
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LedgerContract);

}  // namespace kin::store
