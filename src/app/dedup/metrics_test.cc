#include "app/dedup/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "data/json_value.h"

namespace kin::app {
namespace {

using testing::HasSubstr;

dedup::IngestReport some_report() {
  dedup::IngestReport report;
  report.run = "a \"run\"";
  report.documents = 10;
  report.decided = {5, 3, 1, 1};
  report.cross_source = 2;
  report.stores.requests = {.requests = 12, .retries = 2, .throttles = 1};
  store::CallFigures find;
  find.calls = 3;
  find.seconds = 0.75;
  find.by_seconds[0] = 2;
  find.by_seconds.back() = 1;
  report.stores.calls.emplace("find", find);
  return report;
}

TEST(Metrics, PrometheusHasGaugesAndHistogramsThatAddUp) {
  const std::string text = to_prometheus(some_report());
  for (const char* line : {
           "# TYPE kindred_run_kept gauge\nkindred_run_kept{run=\"a \\\"run\\\"\"} 6\n",
           "kindred_run_duplication_rate{run=\"a \\\"run\\\"\"} 0.3333333333333333\n",
           "kindred_run_throttles{run=\"a \\\"run\\\"\"} 1\n",
           "{run=\"a \\\"run\\\"\",call=\"find\",le=\"0.001\"} 2\n",
           "{run=\"a \\\"run\\\"\",call=\"find\",le=\"60\"} 2\n",
           "{run=\"a \\\"run\\\"\",call=\"find\",le=\"+Inf\"} 3\n",
           "kindred_store_call_seconds_count{run=\"a \\\"run\\\"\",call=\"find\"} 3\n",
       })
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(Metrics, EmbeddedMetricsNameEveryValue) {
  const auto line = data::parse_json(
      to_embedded_metrics(some_report(), WallTime(std::chrono::milliseconds(1'700'000'000'000))));
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(*(*line)["_aws"]["Timestamp"].number(), 1'700'000'000'000);
  const auto& about = (*line)["_aws"]["CloudWatchMetrics"].items().front();
  EXPECT_EQ(about["Namespace"].text(), "Kindred");
  EXPECT_EQ(about["Dimensions"].items().front().items().front().text(), "run");
  EXPECT_GT(about["Metrics"].items().size(), 15U);
  for (const auto& metric : about["Metrics"].items())
    EXPECT_TRUE((*line)[metric["Name"].text()].number()) << metric["Name"].text();
  EXPECT_EQ(*(*line)["find_seconds"].number(), 0.75);
}

TEST(Metrics, TheExtensionSaysWhichFormat) {
  const TemporaryFolder folder = *TemporaryFolder::create();
  ASSERT_TRUE(write_metrics(folder.path() / "a.json", some_report(), {}).ok());
  ASSERT_TRUE(write_metrics(folder.path() / "a.prom", some_report(), {}).ok());
  EXPECT_THAT(*read_file(folder.path() / "a.json"), testing::StartsWith("{\"_aws\""));
  EXPECT_THAT(*read_file(folder.path() / "a.prom"), testing::StartsWith("# HELP"));
}

}  // namespace
}  // namespace kin::app
