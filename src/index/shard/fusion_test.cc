#include "index/shard/fusion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "base/random.h"

namespace kin::index {
namespace {

LegFound made_up(LegKind leg, Random& random) {
  LegFound found{.leg = leg};
  std::set<std::uint32_t> numbers;
  const std::size_t size = random.below(20);
  while (numbers.size() < size) numbers.insert(static_cast<std::uint32_t>(random.below(40)));
  // Few different scores, so that some are equal.
  for (const std::uint32_t number : numbers)
    found.hits.push_back({.document = number,
                          .score = leg == LegKind::kVector
                                       ? static_cast<double>(random.below(13)) / 10 - 0.2
                                       : static_cast<double>(random.below(12))});
  std::ranges::stable_sort(found.hits, std::ranges::greater(), &LegHit::score);
  const std::size_t ranked = random.below(size + 1);
  for (std::uint32_t i = 0; i < ranked; ++i) found.hits[i].rank = i + 1;
  return found;
}

std::optional<LegHit> hit_of(const LegFound& found, std::uint32_t number) {
  for (const LegHit& hit : found.hits) {
    if (hit.document == number) return hit;
  }
  return std::nullopt;
}

// The contract, computed one document at a time.
double oracle_share(const std::vector<LegFound>& legs, const LegFound& found, std::uint32_t number,
                    const FusionOptions& options) {
  const auto hit = hit_of(found, number);
  if (!hit) return 0;
  if (legs.size() == 1) return hit->score;
  if (options.how == Fusion::kRrf) return hit->rank == 0 ? 0 : 1.0 / (60 + hit->rank);
  bool text = false;
  bool vector = false;
  bool graph = false;
  for (const LegFound& one : legs) {
    text |= one.leg == LegKind::kText;
    vector |= one.leg == LegKind::kVector;
    graph |= one.leg == LegKind::kGraph;
  }
  double best = 0;
  for (const LegHit& one : found.hits) best = std::max(best, one.score);
  const double rest = graph ? 1 - options.graph : 1;
  if (found.leg == LegKind::kGraph) return best == 0 ? 0 : options.graph * hit->score / best;
  if (found.leg == LegKind::kText)
    return best == 0 ? 0 : rest * (vector ? 1 - options.alpha : 1) * hit->score / best;
  const double above = std::max(0.0, hit->score - options.floor);
  return rest * (text ? options.alpha : 1) * above / (std::max(1.0, best) - options.floor);
}

TEST(Fusion, AgreesWithTheContractTakenLiterally) {
  Random random(3);
  for (int round = 0; round < 2'000; ++round) {
    std::vector<LegFound> legs;
    for (const LegKind leg : {LegKind::kText, LegKind::kVector, LegKind::kGraph}) {
      if (random.below(3) != 0) legs.push_back(made_up(leg, random));
    }
    FusionOptions options{.how = random.below(3) == 0 ? Fusion::kRrf : Fusion::kAlpha};
    options.alpha = random.unit();
    options.floor = random.below(2) == 0 ? 0 : random.unit() * 0.9;
    options.graph = random.unit();
    std::set<std::uint32_t> all;
    for (const LegFound& found : legs) {
      for (const LegHit& hit : found.hits) all.insert(hit.document);
    }
    const std::vector<Fused> fused = fuse_legs(legs, options);
    ASSERT_EQ(fused.size(), all.size());
    for (std::size_t i = 0; i < fused.size(); ++i) {
      double wanted = 0;
      double shares = 0;
      for (const LegFound& found : legs)
        wanted += oracle_share(legs, found, fused[i].document, options);
      for (const LegScore& leg : fused[i].legs) shares += leg.share;
      EXPECT_NEAR(fused[i].score, wanted, 1e-9);
      EXPECT_NEAR(fused[i].score, shares, 1e-9);
      EXPECT_EQ(all.erase(fused[i].document), 1U);
      if (i == 0) continue;
      EXPECT_TRUE(
          fused[i - 1].score > fused[i].score ||
          (fused[i - 1].score == fused[i].score && fused[i - 1].document < fused[i].document));
    }
  }
}

TEST(Fusion, VectorsOfAnyLengthStayWithinTheirShare) {
  const std::vector<LegFound> legs{
      {.leg = LegKind::kText, .hits = {{1, 8, 1}}},
      {.leg = LegKind::kVector, .hits = {{2, 300, 1}, {1, 150, 2}, {3, -20, 3}}}};
  const std::vector<Fused> fused = fuse_legs(legs, {.alpha = 0.25});
  ASSERT_EQ(fused.size(), 3U);
  EXPECT_EQ(fused[0].document, 1U);
  EXPECT_NEAR(fused[0].score, 0.75 + 0.125, 1e-12);
  EXPECT_NEAR(fused[1].score, 0.25, 1e-12);
  EXPECT_EQ(fused[2].score, 0);
}

TEST(Fusion, WeakNearnessDoesNotCountAsMuchAsStrong) {
  const LegFound words{.leg = LegKind::kText, .hits = {{1, 5, 1}}};
  const auto score_of_nearest = [&](double cosine) {
    const std::vector<LegFound> legs{words, {.leg = LegKind::kVector, .hits = {{2, cosine, 1}}}};
    return fuse_legs(legs, {.alpha = 0.5}).back().score;
  };
  EXPECT_NEAR(score_of_nearest(0.2), 0.1, 1e-12);
  EXPECT_NEAR(score_of_nearest(0.9), 0.45, 1e-12);
}

TEST(Fusion, NothingGivesNothing) {
  EXPECT_TRUE(fuse_legs({}, {}).empty());
  const std::vector<LegFound> legs{{.leg = LegKind::kText}, {.leg = LegKind::kVector}};
  EXPECT_TRUE(fuse_legs(legs, {}).empty());
}

}  // namespace
}  // namespace kin::index
