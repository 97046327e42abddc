// Seeds of simulated clusters. KIN_SEEDS says how many are run, KIN_FIRST_SEED where they begin:
//
//   KIN_SEEDS=10000 build/dev/kin_router_test --gtest_filter='ClusterRun.NothingIsLost*'
//   KIN_SEEDS=1 KIN_FIRST_SEED=4711 build/dev/kin_router_test --gtest_filter='ClusterRun.Nothing*'
#include "router/testing/cluster_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "router/testing/shrink.h"

namespace kin::router {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kSeeds = 20;
#else
constexpr std::uint64_t kSeeds = 300;
#endif

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

// The failing run as it is, and as little of it as fails, too.
std::string tell(const RunOptions& options, const RunReport& report) {
  const Shrunk small = shrink(options, report);
  std::string text =
      fmt::format("seed {}: {}\n{} of its {} parts are enough: {}\nwhat happens:\n", options.seed,
                  *report.violation, small.parts, report.parts, *small.report.violation);
  for (const std::string& note : small.report.notes) text += note + "\n";
  return text;
}

TEST(ClusterRun, NothingIsLostAndNothingReturnsWhateverBreaks) {
  const std::uint64_t first = setting("KIN_FIRST_SEED", 1);
  const std::uint64_t seeds = setting("KIN_SEEDS", kSeeds);
  std::size_t checked = 0, unknown = 0, failed = 0;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    const RunOptions options{.seed = seed};
    const RunReport report = run_cluster(options);
    checked += report.checked;
    unknown += report.unknown;
    failed += report.failed;
    if (!report.violation) continue;
    FAIL() << tell(options, report);
  }
  RecordProperty("operations", static_cast<int>(checked));
  RecordProperty("unknown_writes", static_cast<int>(unknown));
  RecordProperty("failed_reads", static_cast<int>(failed));
  EXPECT_GT(checked, seeds * 100);
}

TEST(ClusterRun, ASeedIsTheSameRunEveryTime) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const RunReport one = run_cluster({.seed = seed});
    const RunReport again = run_cluster({.seed = seed});
    EXPECT_EQ(one.digest, again.digest);
    EXPECT_EQ(one.notes, again.notes);
  }
}

// The mistakes that the design avoids are found, each within a few seeds.
class SabotagedCluster : public testing::TestWithParam<Sabotage> {
 protected:
  // A person can follow what is left of the run, and it fails every time.
  static void expect_small(const RunOptions& options, const RunReport& report) {
    const Shrunk small = shrink(options, report);
    RecordProperty("parts", static_cast<int>(report.parts));
    RecordProperty("parts_left", static_cast<int>(small.parts));
    RecordProperty("runs", static_cast<int>(small.runs));
    EXPECT_LE(small.parts, report.parts / 3);
    EXPECT_LT(small.report.notes.size(), report.notes.size() / 2);
    const RunReport again = run_cluster(small.options);
    EXPECT_EQ(again.violation, small.report.violation);
    EXPECT_EQ(again.notes, small.report.notes);
  }
};

TEST_P(SabotagedCluster, IsFoundOut) {
  const std::uint64_t most = kSeeds;
  for (std::uint64_t seed = 1; seed <= most; ++seed) {
    const RunOptions options{.seed = seed, .sabotage = GetParam()};
    const RunReport report = run_cluster(options);
    if (!report.violation) continue;
    RecordProperty("seeds", static_cast<int>(seed));
    return expect_small(options, report);
  }
  FAIL() << "no seed up to " << most << " shows it";
}

INSTANTIATE_TEST_SUITE_P(Mistakes, SabotagedCluster,
                         testing::Values(Sabotage::kAppliesTwice, Sabotage::kAnswersEarly,
                                         Sabotage::kForgetsClaims),
                         [](const testing::TestParamInfo<Sabotage>& mistake) -> std::string {
                           switch (mistake.param) {
                             case Sabotage::kNone: return "None";
                             case Sabotage::kAppliesTwice: return "RequestsAreAppliedTwice";
                             case Sabotage::kAnswersEarly: return "WritesAreAnsweredEarly";
                             case Sabotage::kForgetsClaims: return "ClaimsAreForgotten";
                           }
                           return "";
                         });

}  // namespace
}  // namespace kin::router
