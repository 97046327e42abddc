#include "dedup/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json_writer.h"
#include "sketch/jaccard.h"

namespace kin::dedup {
namespace {

using ::testing::HasSubstr;

std::string prose(Random& random, int words) {
  std::string text;
  for (int i = 0; i < words; ++i) {
    text += "word" + std::to_string(random.below(3'000));
    text += i % 12 == 11 ? ". " : " ";
  }
  return text;
}

class EvaluateTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = TemporaryFolder::create();
    ASSERT_TRUE(folder.ok());
    folder_.emplace(std::move(*folder));
  }

  // A JSONL file of `records` texts of `words` words each.
  std::string corpus(int records, int words) {
    Random random(5);
    std::string lines;
    for (int i = 0; i < records; ++i) {
      JsonWriter json;
      json.begin_object().field("id", i).field("body", prose(random, words)).end();
      lines += json.text() + "\n";
    }
    const auto path = folder_->path() / "corpus.jsonl";
    EXPECT_TRUE(write_file_atomically(path, lines).ok());
    return path.string();
  }

  EvaluateOptions options() const {
    EvaluateOptions options;
    options.dedup.fields = {"body"};
    options.dedup.threads = 2;
    options.pairs = 400;
    return options;
  }

  std::optional<TemporaryFolder> folder_;
  Progress progress_;
};

TEST_F(EvaluateTest, FindsAlmostAllPairsAboveTheThresholdAndRemovesNoneBelow) {
  const auto result = evaluate({corpus(600, 150)}, options(), progress_, system_clock());
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->records, 600U);
  EXPECT_EQ(result->planted, 400U);
  EXPECT_EQ(result->elsewhere, 0U);
  EXPECT_GE(result->recall(), 0.97);
  EXPECT_GE(result->recall(0.85), 0.99);
  EXPECT_EQ(result->below_threshold(), 0U);
  EXPECT_EQ(result->precision(), 1.0);
  std::uint64_t planted = 0;
  std::uint64_t found = 0;
  for (const Evaluation::Bucket& bucket : result->buckets) {
    planted += bucket.planted;
    found += bucket.found;
    EXPECT_EQ(bucket.not_due, 0U);
    EXPECT_LE(bucket.due, bucket.planted);
    if (bucket.low < 0.5) continue;
    EXPECT_GT(bucket.planted, 5U) << bucket.low;
  }
  EXPECT_EQ(planted, 400U);
  EXPECT_EQ(found, result->removed());
}

TEST_F(EvaluateTest, GivesTheSameFiguresForTheSameSeed) {
  const std::string input = corpus(200, 60);
  EvaluateOptions asked = options();
  asked.pairs = 100;
  const auto found = [&](std::uint64_t seed) {
    asked.seed = seed;
    const auto result = evaluate({input}, asked, progress_, system_clock());
    EXPECT_TRUE(result.ok());
    std::vector<std::uint64_t> counts;
    for (const auto& bucket : result->buckets) {
      counts.push_back(bucket.planted);
      counts.push_back(bucket.found);
    }
    return counts;
  };
  EXPECT_EQ(found(1), found(1));
  EXPECT_NE(found(1), found(2));
}

// Removals by a shared band alone are not verified: the figures must show it.
TEST_F(EvaluateTest, ShowsWhatAnUnverifiedRunRemoves) {
  EvaluateOptions asked = options();
  asked.dedup.verification = Verification::kNone;
  asked.dedup.banding = sketch::Banding{.bands = 64, .rows = 2};
  const auto result = evaluate({corpus(300, 100)}, asked, progress_, system_clock());
  ASSERT_TRUE(result.ok());
  EXPECT_GT(result->below_threshold(), 20U);
  EXPECT_LT(result->precision(), 0.9);
}

TEST_F(EvaluateTest, SaysWhenThereIsNothingToPlant) {
  const auto result = evaluate({corpus(10, 3)}, options(), progress_, system_clock());
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, HasSubstr("none of the 10 records"));
}

TEST_F(EvaluateTest, SaysWhenFewerPairsFit) {
  const auto result = evaluate({corpus(10, 60)}, options(), progress_, system_clock());
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->planted, 10U);
  ASSERT_EQ(result->notes.size(), 1U);
}

TEST(Planter, ComesNearTheSimilarityAskedFor) {
  Random random(3);
  std::vector<std::string> texts;
  for (int i = 0; i < 20; ++i) texts.push_back(prose(random, 300));
  for (const Edit edit : kEdits) {
    Planter planter(texts, {}, 11);
    for (const double wanted : {0.6, 0.8, 0.95}) {
      double sum = 0;
      for (const std::string& text : texts) {
        sketch::Shingler shingler({});
        const auto set_of = [&](std::string_view from) {
          const auto found = shingler.shingles(from);
          std::vector<std::uint64_t> shingles(found.begin(), found.end());
          sketch::sort_unique(shingles);
          return shingles;
        };
        const auto of_copy = set_of(planter.copy(text, edit, wanted));
        sum += sketch::exact_jaccard(set_of(text), of_copy);
      }
      const double mean = sum / static_cast<double>(texts.size());
      EXPECT_NEAR(mean, edit == Edit::kSurface ? 1.0 : wanted, 0.12) << name_of(edit) << wanted;
    }
  }
}

TEST(Planter, KeepsUtf8Whole) {
  const std::vector<std::string> texts{
      "河水在夜里上涨了两米。消防员用船把三家旅馆的客人送到安全的地方。没有人受伤。",
      "Été à Zürich – naïve café “quotes” und Straße, déjà vu encore une fois, señor."};
  for (const Edit edit : kEdits) {
    Planter planter(texts, {}, 1);
    for (const std::string& text : texts) {
      const std::string copy = planter.copy(text, edit, 0.7);
      EXPECT_TRUE(text::is_valid_utf8(copy)) << name_of(edit) << ": " << copy;
      EXPECT_NE(copy, text) << name_of(edit);
    }
  }
}

}  // namespace
}  // namespace kin::dedup
