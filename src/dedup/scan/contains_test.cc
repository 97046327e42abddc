#include "dedup/scan/contains.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "text/reference.h"

namespace kin::dedup {
namespace {

using Words = std::vector<std::string>;

std::set<Words> runs_of(const Words& words, std::size_t length) {
  std::set<Words> runs;
  for (std::size_t i = 0; i + length <= words.size(); ++i) {
    runs.insert(Words(words.begin() + static_cast<std::ptrdiff_t>(i),
                      words.begin() + static_cast<std::ptrdiff_t>(i + length)));
  }
  return runs;
}

// The reference of which `text` has the largest share, and the share.
std::optional<std::pair<std::uint32_t, double>> find_by_brute_force(
    const std::vector<ReferenceText>& references, const std::string& text,
    const DedupOptions& options) {
  std::optional<std::pair<std::uint32_t, double>> best;
  const Words words = text::words_reference(text, options.shingles.normalization);
  for (std::uint32_t i = 0; i < references.size(); ++i) {
    const Words wanted = text::words_reference(references[i].text, options.shingles.normalization);
    if (wanted.empty()) continue;
    const std::size_t length = std::min<std::size_t>(options.contains_words, wanted.size());
    const auto runs = runs_of(wanted, length);
    const auto have = runs_of(words, length);
    std::size_t count = 0;
    for (const Words& run : runs) count += have.contains(run) ? 1 : 0;
    const double share = static_cast<double>(count) / static_cast<double>(runs.size());
    if (count == 0 || share < *options.contains - 1e-9) continue;
    if (!best || share > best->second) best = {i, share};
  }
  return best;
}

class Texts {
 public:
  explicit Texts(std::uint64_t seed) : random_(seed) {}
  std::size_t below(std::size_t limit) { return random_() % limit; }

  std::string text(std::size_t most) {
    static const std::vector<std::string> kWords = {"Was",  "ist", "die", "Größe", "von", "A,",
                                                    "猫が", "x-y", "...", "café",  "42"};
    std::string made;
    for (std::size_t left = below(most); left > 0; --left) {
      made += below(10) == 0 && !made_.empty() ? made_[below(made_.size())]
                                               : kWords[below(kWords.size())];
      made += " ";
    }
    made_.push_back(made.substr(0, 100 + below(20)));
    while (!made_.back().empty() && !text::is_valid_utf8(made_.back())) made_.back().pop_back();
    return made;
  }

 private:
  std::mt19937_64 random_;
  std::vector<std::string> made_;
};

TEST(ContainIndex, AgreesWithBruteForce) {
  std::size_t contained = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Texts random(seed);
    DedupOptions options;
    options.contains = std::array{0.2, 0.5, 0.8, 1.0}[random.below(4)];
    options.contains_words = static_cast<std::uint32_t>(1 + random.below(9));
    std::vector<ReferenceText> references(random.below(12));
    for (ReferenceText& reference : references) reference.text = random.text(25);
    const auto index = ContainIndex::make(options, references);
    ContainIndex::Matcher matcher(*index);
    for (int i = 0; i < 30; ++i) {
      const std::string text = random.text(60);
      const auto found = matcher.find(text);
      const auto expected = find_by_brute_force(references, text, options);
      ASSERT_EQ(found.has_value(), expected.has_value()) << text;
      if (!found) continue;
      ++contained;
      ASSERT_EQ(found->reference, expected->first);
      ASSERT_DOUBLE_EQ(found->share, expected->second);
      const auto joined = [&](const std::string& whole) {
        std::string words = " ";
        for (const std::string& word : text::words_reference(whole, options.shingles.normalization))
          words += word + " ";
        return words;
      };
      ASSERT_NE(joined(text).find(" " + found->passage + " "), std::string::npos);
    }
  }
  EXPECT_GT(contained, 300U);
}

// Texts that are pieces of one long text, some of them with other words in between.
class PiecesOfOneText {
 public:
  explicit PiecesOfOneText(std::uint64_t seed) : random_(seed) {
    for (int i = 0; i < 600; ++i) stock_.push_back("w" + std::to_string(below(300)));
  }
  std::size_t below(std::size_t limit) { return random_() % limit; }

  std::string text(std::size_t most) {
    std::string made;
    for (std::size_t pieces = 1 + below(4); pieces > 0; --pieces) {
      std::size_t at = below(stock_.size());
      for (std::size_t left = below(most); left > 0 && at < stock_.size(); --left, ++at)
        made += (below(30) == 0 ? "other" : stock_[at]) + " ";
    }
    return made;
  }

 private:
  std::mt19937_64 random_;
  Words stock_;
};

TEST(ContainIndex, AgreesWithBruteForceOnLongTextsThatShareRuns) {
  std::size_t contained = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    PiecesOfOneText random(seed);
    DedupOptions options;
    options.contains = std::array{0.2, 0.5, 0.8, 1.0}[random.below(4)];
    options.contains_words = static_cast<std::uint32_t>(1 + random.below(9));
    std::vector<ReferenceText> references(1 + random.below(40));
    for (std::size_t i = 0; i < references.size(); ++i)
      references[i].text =
          i > 0 && random.below(4) == 0 ? references[random.below(i)].text + "!" : random.text(60);
    const auto index = ContainIndex::make(options, references);
    ContainIndex::Matcher matcher(*index);
    for (int i = 0; i < 10; ++i) {
      const std::string text = random.text(400);
      const auto found = matcher.find(text);
      const auto expected = find_by_brute_force(references, text, options);
      ASSERT_EQ(found.has_value(), expected.has_value()) << seed;
      if (random.below(3) == 0) matcher.forget();
      if (!found) continue;
      ++contained;
      ASSERT_EQ(found->reference, expected->first) << seed;
      ASSERT_DOUBLE_EQ(found->share, expected->second) << seed;
    }
  }
  EXPECT_GT(contained, 50U);
}

TEST(ContainIndex, CountsReferencesThatAreCopiesOfEarlierOnes) {
  DedupOptions options;
  options.contains = 0.8;
  options.contains_words = 3;
  std::vector<ReferenceText> references(6);
  const std::array<std::string, 6> texts{"one two", "...", "a b c d", "One, two!", "?!", "a b c d"};
  for (std::size_t i = 0; i < texts.size(); ++i) references[i].text = texts[i];
  const auto index = ContainIndex::make(options, references);
  EXPECT_EQ(index->size(), 6U);
  EXPECT_EQ(index->short_ones(), 2U);
  EXPECT_EQ(index->without_words(), 2U);
  ContainIndex::Matcher matcher(*index);
  EXPECT_EQ(matcher.find("here is one two")->reference, 0U);
  EXPECT_EQ(matcher.find("here is a b c d")->reference, 2U);
  EXPECT_FALSE(matcher.find("...").has_value());
}

TEST(ContainEvidence, ComesBackAsItWas) {
  const ContainEvidence evidence{.reference = 7, .share = 0.875, .passage = "what is the größe"};
  const auto back = ContainEvidence::decode(evidence.encode());
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->reference, 7U);
  EXPECT_EQ(back->share, 0.875);
  EXPECT_EQ(back->passage, evidence.passage);
  EXPECT_FALSE(ContainEvidence::decode("short").ok());
}

}  // namespace
}  // namespace kin::dedup
