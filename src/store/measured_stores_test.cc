#include "store/measured_stores.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/testing/manual_clock.h"
#include "store/local_stores.h"
#include "store/testing/documents.h"

namespace kin::store {
namespace {

TEST(MeasuredStores, CountAndTimeTheirCallsAndPassTheAnswersOn) {
  const TemporaryFolder folder = *TemporaryFolder::create();
  ManualClock clock;
  LocalStoreOptions where{.folder = folder.path() / "store", .clock = &clock};
  const auto inner = *open_local_fingerprints(where, some_parameters());
  where.folder = folder.path() / "ledger";
  const auto inner_ledger = *open_local_ledger(where);
  StoreMeter meter(clock);
  const auto store = measured(*inner, meter);
  const auto ledger = measured(*inner_ledger, meter);

  const std::vector<Fingerprint> batch = {document("a"), document("b")};
  const auto found = *store->find(batch);
  const std::vector<std::size_t> chosen = {0, 1};
  ASSERT_TRUE(store->admit(batch, found, chosen, never()).ok());
  Fingerprint copy = document("c");
  copy.content = batch[0].content;
  EXPECT_EQ(store->find(std::span(&copy, 1))->candidates[0].size(), 1U);
  ASSERT_TRUE(ledger->was_processed(std::vector{batch[0].doc}).ok());
  meter
      .measure("admit", 7,
               [&]() -> Status {
                 clock.advance(std::chrono::milliseconds(50));
                 return Error{Code::kUnavailable, "down"};
               })
      .ok();

  const StoreFigures figures = meter.figures();
  EXPECT_EQ(figures.calls.at("find").calls, 2U);
  EXPECT_EQ(figures.calls.at("find").items, 3U);
  EXPECT_EQ(figures.documents_with_candidates, 1U);
  EXPECT_EQ(figures.hits.content, 1U);
  EXPECT_EQ(figures.hits.minhash, 0U);
  EXPECT_EQ(figures.hits.chunk, 0U);
  EXPECT_EQ(figures.calls.at("was_processed").items, 1U);
  const CallFigures& admit = figures.calls.at("admit");
  EXPECT_EQ(admit.calls, 2U);
  EXPECT_EQ(admit.failures, 1U);
  EXPECT_EQ(admit.items, 9U);
  EXPECT_DOUBLE_EQ(admit.seconds, 0.05);
  EXPECT_EQ(admit.by_seconds[0], 1U) << "no time passed";
  EXPECT_EQ(admit.by_seconds[3], 1U) << "up to 0.1 s";
}

}  // namespace
}  // namespace kin::store
