#include "dedup/scan/reference_grams.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "base/hash.h"

namespace kin::dedup {
namespace {

using Claim = ReferenceGrams::Claim;
using Hashes = std::vector<std::uint64_t>;

std::optional<Claim> best_by_brute_force(const std::vector<Hashes>& references, const Hashes& text,
                                         double share, const std::set<std::uint32_t>& refuted) {
  const std::set<std::uint64_t> have(text.begin(), text.end());
  std::optional<Claim> best;
  for (std::uint32_t number = 0; number < references.size(); ++number) {
    const std::set<std::uint64_t> wanted(references[number].begin(), references[number].end());
    if (wanted.empty() || refuted.contains(number)) continue;
    std::size_t count = 0;
    for (const std::uint64_t hash : wanted) count += have.contains(hash) ? 1 : 0;
    const Claim claim{.share = static_cast<double>(count) / static_cast<double>(wanted.size()),
                      .number = number};
    if (count == 0 || claim.share < share - 1e-9) continue;
    if (!best || claim.beats(*best)) best = claim;
  }
  return best;
}

ReferenceGrams index_of(const std::vector<Hashes>& references, double share) {
  ReferenceGrams grams(8, share);
  for (std::uint32_t number = 0; number < references.size(); ++number)
    if (!references[number].empty()) grams.add(number, references[number]);
  grams.finish();
  return grams;
}

// Pieces of one row of hashes, so that texts share long runs.
class Pieces {
 public:
  Pieces(std::uint64_t seed, bool uniform) : random_(seed), uniform_(uniform) {}
  std::size_t below(std::size_t limit) { return random_() % limit; }

  Hashes some(std::size_t most_pieces) {
    Hashes made;
    for (std::size_t pieces = below(most_pieces + 1); pieces > 0; --pieces) {
      std::size_t at = below(80);
      for (std::size_t left = 1 + below(40); left > 0; --left, ++at)
        made.push_back(uniform_ ? mix64(at + 1) : at);
      if (below(3) == 0) made.push_back(mix64(1000 + below(20)));
    }
    return made;
  }

 private:
  std::mt19937_64 random_;
  bool uniform_;
};

TEST(ReferenceGrams, FindsTheLargestShareThatIsNotRefuted) {
  std::size_t found = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Pieces random(seed, seed % 4 != 0);
    const double share = std::array{0.01, 0.25, 0.5, 0.8, 1.0}[random.below(5)];
    std::vector<Hashes> references(1 + random.below(30));
    for (Hashes& reference : references) reference = random.some(3);
    const ReferenceGrams grams = index_of(references, share);
    ReferenceGrams::Search search(grams);
    for (int i = 0; i < 10; ++i) {
      const Hashes text = random.some(5);
      search.begin(text);
      std::set<std::uint32_t> refuted;
      while (true) {
        const auto expected = best_by_brute_force(references, text, share, refuted);
        const auto best = search.best({});
        ASSERT_EQ(best.has_value(), expected.has_value()) << seed;
        if (!best) break;
        ++found;
        ASSERT_EQ(best->number, expected->number) << seed;
        ASSERT_EQ(best->share, expected->share) << seed;
        // Nothing comes before the best.
        ASSERT_FALSE(search.best(expected).has_value()) << seed;
        search.refute(best->number);
        refuted.insert(best->number);
      }
    }
  }
  EXPECT_GT(found, 500U);
}

TEST(ReferenceGrams, KnowsTheFirstPlaceOfEachGram) {
  const Hashes hashes{mix64(5), mix64(7), mix64(5), mix64(9), mix64(7)};
  const ReferenceGrams grams = index_of({{mix64(1)}, hashes}, 0.5);
  const auto places = grams.grams_of(1);
  ASSERT_EQ(places.size(), 3U);
  std::set<std::uint32_t> words;
  for (const auto& place : places) {
    EXPECT_EQ(grams.hash_of(place.gram), hashes[place.word]);
    EXPECT_EQ(grams.find(hashes[place.word]), place.gram);
    words.insert(place.word);
  }
  EXPECT_EQ(words, (std::set<std::uint32_t>{0, 1, 3}));
  EXPECT_FALSE(grams.find(mix64(2)).has_value());
}

TEST(ReferenceGrams, DoesNotLookThroughAllReferencesThatATextHas) {
  constexpr std::size_t kReferences = 500;
  constexpr std::size_t kGrams = 400;
  std::vector<Hashes> references(kReferences);
  for (std::size_t number = 0; number < kReferences; ++number)
    for (std::size_t i = 0; i < kGrams; ++i) references[number].push_back(mix64(2 * number + i));
  const ReferenceGrams grams = index_of(references, 0.8);
  ReferenceGrams::Search search(grams);
  Hashes text;
  for (std::size_t i = 0; i < 2 * kReferences + kGrams; ++i) text.push_back(mix64(i));
  search.begin(text);
  const auto best = search.best({});
  ASSERT_TRUE(best.has_value());
  EXPECT_EQ(best->number, 0U);
  EXPECT_EQ(best->share, 1);
  // One gram in five leads to a reference.
  EXPECT_LT(search.steps(), kReferences * (kGrams / 5 + 1) + 2 * kGrams + kReferences);
}

TEST(ReferenceGrams, LeavesAReferenceAtTheFirstGramTooMany) {
  constexpr std::size_t kReferences = 500;
  constexpr std::size_t kGrams = 400;
  std::vector<Hashes> references(kReferences);
  // All share half of their grams, which is not enough.
  for (std::size_t number = 0; number < kReferences; ++number) {
    for (std::size_t i = 0; i < kGrams / 2; ++i) references[number].push_back(mix64(i));
    for (std::size_t i = 0; i < kGrams / 2; ++i)
      references[number].push_back(mix64(kGrams + number * kGrams + i));
  }
  const ReferenceGrams grams = index_of(references, 0.8);
  ReferenceGrams::Search search(grams);
  search.begin(Hashes(references[0].begin(), references[0].begin() + kGrams / 2));
  EXPECT_FALSE(search.best({}).has_value());
  EXPECT_EQ(search.steps(), 0U);
  search.begin(references[7]);
  const auto best = search.best({});
  ASSERT_TRUE(best.has_value());
  EXPECT_EQ(best->number, 7U);
  EXPECT_LT(search.steps(), 3 * kGrams);
}

}  // namespace
}  // namespace kin::dedup
