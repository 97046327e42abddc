#include "dedup/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json_writer.h"
#include "base/random.h"
#include "dedup/trial/duplicate_share.h"

namespace kin::dedup {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// A sample of `rows` records, in which record `removed` goes for record `kept`.
std::vector<Fate> fates(std::size_t rows,
                        const std::vector<std::pair<std::size_t, std::size_t>>& pairs) {
  std::vector<Fate> all(rows);
  for (const auto& [removed, kept] : pairs) all[removed] = {.kept = kept, .method = Method::kExact};
  return all;
}

TEST(DuplicateShare, IsThatOfTheSampleIfTheSampleIsAll) {
  const auto share = estimate_duplicates(fates(100, {{10, 3}, {50, 3}, {51, 4}}), 100);
  EXPECT_DOUBLE_EQ(share.exact, 0.03);
  EXPECT_DOUBLE_EQ(share.near, 0);
}

TEST(DuplicateShare, FindsPairsThatLieAnywhere) {
  // A sample of one in ten of 100,000 records, whose second half are copies of the first, shuffled.
  constexpr std::size_t kRecords = 100'000;
  std::vector<std::size_t> copy_of(kRecords);
  for (std::size_t i = 0; i < kRecords; ++i) copy_of[i] = i % (kRecords / 2);
  Random random(1);
  for (std::size_t i = kRecords; i > 1; --i) std::swap(copy_of[i - 1], copy_of[random.below(i)]);
  std::vector<Fate> sample(kRecords / 10);
  std::vector<std::optional<std::size_t>> first(kRecords);
  for (std::size_t i = 0; i < sample.size(); ++i) {
    auto& seen = first[copy_of[i]];
    if (seen) sample[i].kept = seen;
    if (!seen) seen = i;
  }
  EXPECT_NEAR(estimate_duplicates(sample, kRecords).all(), 0.5, 0.1);
}

TEST(DuplicateShare, DoesNotMultiplyCopiesThatLieSideBySide) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i = 0; i + 1 < 10'000; i += 10) pairs.emplace_back(i + 1, i);
  EXPECT_NEAR(estimate_duplicates(fates(10'000, pairs), 1'000'000).all(), 0.1, 0.04);
}

TEST(DuplicateShare, DoesNotMultiplyLargeGroups) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i = 1; i < 2'000; ++i) pairs.emplace_back(i * 5, 0);
  EXPECT_NEAR(estimate_duplicates(fates(10'000, pairs), 1'000'000).all(), 0.2, 0.04);
}

TEST(DuplicateShare, IsTheUsualOneWhereTheSampleSaysNothing) {
  EXPECT_NEAR(estimate_duplicates(fates(1'000, {}), 1'000'000'000).all(), 0.1, 0.01);
  EXPECT_LT(estimate_duplicates(fates(10'000, {}), 20'000).all(), 0.01);
}

class PlanTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = TemporaryFolder::create();
    ASSERT_TRUE(folder.ok());
    folder_.emplace(std::move(*folder));
  }

  // `records` texts, one in five a copy of an earlier one.
  std::string corpus(const std::string& name, int records) {
    Random random(5);
    std::vector<std::string> texts;
    std::string lines;
    for (int i = 0; i < records; ++i) {
      std::string text;
      if (i % 5 == 4) {
        text = texts[random.below(texts.size())];
      } else {
        for (int word = 0; word < 80; ++word)
          text += "word" + std::to_string(random.below(4'000)) + " ";
      }
      texts.push_back(text);
      lines += JsonWriter().begin_object().field("id", i).field("text", text).end().text() + "\n";
    }
    EXPECT_TRUE(write_file_atomically(folder_->path() / name, lines).ok());
    return (folder_->path() / name).string();
  }

  DedupJob job(const std::string& input) const {
    DedupJob job;
    job.inputs = {input};
    job.output = folder_->path() / "clean.jsonl";
    job.options.threads = 2;
    return job;
  }

  std::optional<TemporaryFolder> folder_;
  Progress progress_;
};

TEST_F(PlanTest, ForeseesWhatASmallRunDoes) {
  const DedupJob asked = job(corpus("in.jsonl", 5'000));
  const auto plan = make_plan(asked, progress_, system_clock());
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->documents, 5'000U);
  EXPECT_TRUE(plan->documents_exact);
  const auto report = run_dedup(asked, progress_, system_clock());
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(plan->removed, report->removed);
  EXPECT_EQ(plan->text_bytes, report->text_bytes);
  const auto written = fs::file_size(asked.output) + fs::file_size(report->removed_output);
  EXPECT_NEAR(static_cast<double>(plan->output_bytes), static_cast<double>(written), 0.1 * written);
  EXPECT_GT(plan->seconds, 0);
  EXPECT_GT(plan->memory_bytes, 1U << 20);
  EXPECT_LE(plan->memory_bytes, asked.options.max_memory);
}

TEST_F(PlanTest, LeavesNothingBehind) {
  const DedupJob asked = job(corpus("in.jsonl", 200));
  ASSERT_TRUE(make_plan(asked, progress_, system_clock()).ok());
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_->path()))
    names.push_back(entry.path().filename().string());
  EXPECT_THAT(names, ::testing::ElementsAre("in.jsonl"));
}

TEST_F(PlanTest, WorksWithoutAnOutput) {
  DedupJob asked = job(corpus("in.jsonl", 200));
  asked.output.clear();
  EXPECT_TRUE(make_plan(asked, progress_, system_clock()).ok());
}

TEST_F(PlanTest, InputsMayHaveDifferentFormats) {
  DedupJob make = job(corpus("one.jsonl", 300));
  make.output = folder_->path() / "one.parquet";
  ASSERT_TRUE(run_dedup(make, progress_, system_clock()).ok());
  DedupJob asked = job(make.output.string());
  asked.inputs.push_back(corpus("other.jsonl", 400));
  const auto plan = make_plan(asked, progress_, system_clock());
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->documents, 240U + 400U);
}

TEST_F(PlanTest, NamesAMissingColumn) {
  DedupJob asked = job(corpus("in.jsonl", 200));
  asked.options.fields = {"body"};
  const auto plan = make_plan(asked, progress_, system_clock());
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(plan.error().message, HasSubstr("body"));
}

}  // namespace
}  // namespace kin::dedup
