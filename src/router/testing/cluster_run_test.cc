// Seeds of simulated clusters. KIN_SEEDS says how many are run, KIN_FIRST_SEED where they begin:
//
//   KIN_SEEDS=10000 build/dev/kin_router_test --gtest_filter='ClusterRun.NothingIsLost*'
//   KIN_SEEDS=1 KIN_FIRST_SEED=4711 build/dev/kin_router_test --gtest_filter='ClusterRun.Nothing*'
#include "router/testing/cluster_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace kin::router {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kSeeds = 20;
#else
constexpr std::uint64_t kSeeds = 100;
#endif

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

std::string tell(const RunReport& report, std::uint64_t seed) {
  std::string text = fmt::format("seed {}: {}\nwhat happened:\n", seed, *report.violation);
  for (const std::string& note : report.notes) text += note + "\n";
  return text;
}

TEST(ClusterRun, NothingIsLostAndNothingReturnsWhateverBreaks) {
  const std::uint64_t first = setting("KIN_FIRST_SEED", 1);
  const std::uint64_t seeds = setting("KIN_SEEDS", kSeeds);
  std::size_t checked = 0, unknown = 0, failed = 0;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    const RunReport report = run_cluster({.seed = seed});
    checked += report.checked;
    unknown += report.unknown;
    failed += report.failed;
    if (!report.violation) continue;
    FAIL() << tell(report, seed);
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
class SabotagedCluster : public testing::TestWithParam<Sabotage> {};

TEST_P(SabotagedCluster, IsFoundOut) {
  const std::uint64_t most = kSeeds;
  for (std::uint64_t seed = 1; seed <= most; ++seed) {
    if (!run_cluster({.seed = seed, .sabotage = GetParam()}).violation) continue;
    RecordProperty("seeds", static_cast<int>(seed));
    return;
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
