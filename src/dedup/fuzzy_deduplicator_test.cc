#include "dedup/fuzzy_deduplicator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "base/file.h"
#include "base/testing/simulated_disk.h"
#include "sketch/jaccard.h"

namespace kin::dedup {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

RecordId id_of(std::uint64_t number) {
  return RecordId(static_cast<std::uint32_t>(number));
}

// Prose-like: words of a small vocabulary, some much more frequent than others.
class Prose {
 public:
  explicit Prose(std::uint64_t seed) : random_(seed) {}

  std::vector<std::string> words(std::size_t count) {
    std::vector<std::string> result;
    for (std::size_t i = 0; i < count; ++i) result.push_back(word());
    return result;
  }

  // Replaces `count` of the words by others.
  std::vector<std::string> edited(std::vector<std::string> words, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) words[random_() % words.size()] = word() + "x";
    return words;
  }

 private:
  std::string word() {
    const double uniform = static_cast<double>(random_() % 1'000'000 + 1) / 1'000'000;
    return "w" + std::to_string(static_cast<int>(3'000 * uniform * uniform));
  }

  std::mt19937_64 random_;
};

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

double jaccard(std::string_view a, std::string_view b) {
  sketch::Shingler shingler{sketch::ShingleOptions{}};
  const auto set = [&](std::string_view text) {
    const auto shingles = shingler.shingles(text);
    std::vector<std::uint64_t> result(shingles.begin(), shingles.end());
    sketch::sort_unique(result);
    return result;
  };
  return sketch::exact_jaccard(set(a), set(b));
}

TEST(FuzzyDeduplicator, ATextWithFewEditsIsADuplicateAndIsNotRemembered) {
  const auto deduplicator = *FuzzyDeduplicator::create({});
  Prose prose(1);
  const auto original = prose.words(300);
  EXPECT_FALSE(deduplicator->process_record(id_of(0), join(original)).duplicate);
  EXPECT_FALSE(deduplicator->process_record(id_of(1), join(prose.words(300))).duplicate);
  const std::string copy = join(prose.edited(original, 3));
  const Verdict verdict = deduplicator->process_record(id_of(2), copy);
  EXPECT_TRUE(verdict.duplicate);
  EXPECT_EQ(verdict.of, id_of(0));
  EXPECT_DOUBLE_EQ(verdict.similarity, jaccard(join(original), copy));
  EXPECT_EQ(deduplicator->len(), 2U);
  EXPECT_TRUE(deduplicator->health().ok());
}

TEST(FuzzyDeduplicator, PreparingOnManyThreadsGivesTheSameVerdicts) {
  const auto deduplicator = *FuzzyDeduplicator::create({});
  Prose prose(2);
  std::vector<std::string> texts;
  for (int i = 0; i < 200; ++i) texts.push_back(join(prose.words(100)));
  for (int i = 0; i < 200; ++i)
    texts.push_back(texts[static_cast<std::size_t>(i)] + " and one more");
  std::vector<PreparedSignature> prepared(texts.size());
  const auto prepare = [&](std::size_t begin) {
    for (std::size_t i = begin; i < texts.size(); i += 3)
      prepared[i] = deduplicator->prepare_signature(texts[i]);
  };
  std::thread first(prepare, 0);
  std::thread second(prepare, 1);
  std::thread third(prepare, 2);
  first.join();
  second.join();
  third.join();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Verdict verdict = deduplicator->process_prepared(id_of(i), prepared[i]);
    ASSERT_EQ(verdict.duplicate, i >= 200) << i;
    ASSERT_EQ(verdict.of, i >= 200 ? id_of(i - 200) : kNoRecord);
  }
  EXPECT_EQ(deduplicator->stats().duplicates, 200U);
}

TEST(FuzzyDeduplicator, FindsAllThatAreAlikeTheMostAlikeFirstAndAddsNothing) {
  const auto deduplicator = *FuzzyDeduplicator::create({.threshold = 0.6});
  Prose prose(3);
  const auto original = prose.words(400);
  auto nearer = original;
  auto farther = original;
  for (std::size_t i = 0; i < 10; ++i) nearer[i * 40 + 10] = "near" + std::to_string(i);
  for (std::size_t i = 0; i < 13; ++i) farther[i * 30 + 20] = "far" + std::to_string(i);
  ASSERT_LT(jaccard(join(nearer), join(farther)), 0.6);
  ASSERT_FALSE(deduplicator->process_record(id_of(4), join(farther)).duplicate);
  ASSERT_FALSE(deduplicator->process_record(id_of(5), join(prose.words(400))).duplicate);
  ASSERT_FALSE(deduplicator->process_record(id_of(6), join(nearer)).duplicate);
  const auto matches = deduplicator->find_duplicates(join(original));
  EXPECT_THAT(matches,
              testing::ElementsAre(Match{id_of(6), jaccard(join(original), join(nearer))},
                                   Match{id_of(4), jaccard(join(original), join(farther))}));
  EXPECT_EQ(deduplicator->len(), 3U);
  EXPECT_EQ(deduplicator->stats().records, 3U);
}

TEST(FuzzyDeduplicator, NothingBelowTheThresholdIsCalledADuplicate) {
  const auto deduplicator = *FuzzyDeduplicator::create({});
  Prose prose(5);
  std::vector<std::string> texts;
  std::uint64_t missed = 0;
  std::uint64_t alike = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    const auto original = prose.words(150);
    texts.push_back(join(original));
    texts.push_back(join(prose.edited(original, i % 6)));
  }
  for (std::uint64_t i = 0; i < texts.size(); ++i) {
    const Verdict verdict = deduplicator->process_record(id_of(i), texts[i]);
    if (verdict.duplicate) {
      const double similarity = jaccard(texts[i], texts[row_number(verdict.of)]);
      ASSERT_GE(similarity, 0.8);
      ASSERT_DOUBLE_EQ(verdict.similarity, similarity);
    }
    if (i % 2 == 0 || jaccard(texts[i], texts[i - 1]) < 0.85) continue;
    ++alike;
    missed += !verdict.duplicate;
  }
  EXPECT_GT(alike, 100U);
  EXPECT_LE(missed, alike / 50);
  const FuzzyDedupStats stats = deduplicator->stats();
  EXPECT_EQ(stats.records, texts.size());
  EXPECT_EQ(stats.verified, stats.duplicates);
  EXPECT_EQ(stats.candidates, stats.verified + stats.false_candidates);
}

TEST(FuzzyDeduplicator, AFewHotSignaturesGiveTheSameVerdictsAsMany) {
  const auto many = *FuzzyDeduplicator::create({});
  const auto few = *FuzzyDeduplicator::create({.max_hot_signatures = 64});
  Prose prose(6);
  std::vector<std::vector<std::string>> seen;
  for (std::uint64_t i = 0; i < 2'000; ++i) {
    seen.push_back(i % 3 == 2 ? prose.edited(seen[(i * 7919) % seen.size()], 1) : prose.words(60));
    const Verdict a = many->process_record(id_of(i), join(seen.back()));
    const Verdict b = few->process_record(id_of(i), join(seen.back()));
    ASSERT_EQ(a.duplicate, b.duplicate);
    ASSERT_EQ(a.of, b.of);
    ASSERT_EQ(a.similarity, b.similarity);
  }
  EXPECT_LE(few->stats().signatures.hot, 64U);
  EXPECT_GT(few->stats().signatures.cold_reads, 0U);
  EXPECT_EQ(many->stats().signatures.cold_reads, 0U);
}

TEST(FuzzyDeduplicator, TextsWithoutWordsAreNeverDuplicates) {
  const auto deduplicator = *FuzzyDeduplicator::create({});
  for (std::uint64_t i = 0; i < 5; ++i)
    EXPECT_FALSE(deduplicator->process_record(id_of(i), " \n!").duplicate);
  EXPECT_EQ(deduplicator->len(), 0U);
}

TEST(FuzzyDeduplicator, BytesThatAreNotUtf8DoNoHarm) {
  const auto deduplicator = *FuzzyDeduplicator::create({});
  const std::string latin = "un caf\xe9 tr\xe8s bon avec du lait et beaucoup de sucre";
  EXPECT_FALSE(deduplicator->process_record(id_of(0), latin).duplicate);
  EXPECT_TRUE(deduplicator->process_record(id_of(1), latin).duplicate);
  EXPECT_TRUE(
      deduplicator->process_record(id_of(2), "un café très bon avec du lait et beaucoup de sucre")
          .duplicate);
}

TEST(FuzzyDeduplicator, AnIdThatIsThereIsComparedButNotAddedAgain) {
  const auto deduplicator = *FuzzyDeduplicator::create({});
  Prose prose(7);
  const std::string first = join(prose.words(50));
  const std::string second = join(prose.words(50));
  EXPECT_FALSE(deduplicator->process_record(id_of(0), first).duplicate);
  EXPECT_FALSE(deduplicator->process_record(id_of(0), second).duplicate);
  EXPECT_THAT(deduplicator->find_duplicates(second), IsEmpty());
  EXPECT_EQ(deduplicator->find_duplicates(first).size(), 1U);
}

TEST(FuzzyDeduplicator, TheEstimateDecidesWhereTextsAreNotKept) {
  const auto deduplicator = *FuzzyDeduplicator::create({.verify_exact = false});
  Prose prose(8);
  const auto original = prose.words(300);
  EXPECT_FALSE(deduplicator->process_record(id_of(0), join(original)).duplicate);
  const Verdict verdict = deduplicator->process_record(id_of(1), join(prose.edited(original, 1)));
  EXPECT_TRUE(verdict.duplicate);
  EXPECT_GT(verdict.similarity, 0.8);
  EXPECT_FALSE((*deduplicator->text_of(id_of(0))).has_value());
}

TEST(FuzzyDeduplicator, RefusesWhatMakesNoSense) {
  EXPECT_FALSE(FuzzyDeduplicator::create({.threshold = 0}).ok());
  EXPECT_FALSE(FuzzyDeduplicator::create({.threshold = 1.5}).ok());
  EXPECT_FALSE(FuzzyDeduplicator::create({.hashes = 0}).ok());
  EXPECT_FALSE(FuzzyDeduplicator::create({.banding = sketch::Banding{64, 8}}).ok());
  EXPECT_FALSE(FuzzyDeduplicator::create({.max_candidates = 0}).ok());
}

TEST(FuzzyDeduplicator, MoreCandidatesThanTheLimitAreCounted) {
  const auto deduplicator = *FuzzyDeduplicator::create(
      {.threshold = 0.99, .banding = sketch::Banding{128, 1}, .max_candidates = 2});
  Prose prose(9);
  const auto shared = prose.words(60);
  for (std::uint64_t i = 0; i < 10; ++i) {
    deduplicator->process_record(id_of(i), join(shared) + " " + join(prose.words(20)));
  }
  EXPECT_GT(deduplicator->stats().capped_queries, 0U);
}

class StoredFuzzyDeduplicator : public testing::Test {
 protected:
  fs::path path() const { return folder_.path() / "store"; }
  std::unique_ptr<FuzzyDeduplicator> open() const {
    return *FuzzyDeduplicator::create({.max_hot_signatures = 64, .signature_store_path = path()});
  }
  TemporaryFolder folder_ = *TemporaryFolder::create();
};

TEST_F(StoredFuzzyDeduplicator, WhatWasSeenIsFoundAgainAfterReopening) {
  Prose prose(10);
  std::vector<std::vector<std::string>> texts;
  {
    const auto deduplicator = open();
    for (std::uint64_t i = 0; i < 500; ++i) {
      texts.push_back(prose.words(80));
      ASSERT_FALSE(deduplicator->process_record(id_of(i * 3), join(texts.back())).duplicate);
    }
  }
  const auto deduplicator = open();
  EXPECT_EQ(deduplicator->len(), 500U);
  for (std::uint64_t i = 0; i < 500; ++i) {
    const Verdict verdict =
        deduplicator->process_record(id_of(10'000 + i), join(texts[i]) + " again");
    ASSERT_TRUE(verdict.duplicate);
    ASSERT_EQ(verdict.of, id_of(i * 3));
  }
  EXPECT_EQ(**deduplicator->text_of(id_of(3)), join(texts[1]));
}

TEST_F(StoredFuzzyDeduplicator, OtherParametersAreRefused) {
  {
    open();
  }
  const auto other =
      FuzzyDeduplicator::create({.shingles = {.size = 3}, .signature_store_path = path()});
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(other.error().message, HasSubstr("word:3"));
  EXPECT_FALSE(FuzzyDeduplicator::create({.hashes = 64, .signature_store_path = path()}).ok());
  EXPECT_FALSE(
      FuzzyDeduplicator::create({.signature_store_path = path(), .verify_exact = false}).ok());
}

TEST_F(StoredFuzzyDeduplicator, SignaturesByOtherTablesOfCharactersAreRefused) {
  {
    open();
  }
  std::string parameters = read_file(path() / "parameters").value();
  const std::string ours = "Unicode " + text::unicode_version();
  const std::size_t at = parameters.find(ours);
  ASSERT_NE(at, std::string::npos);
  EXPECT_THAT(parameters, HasSubstr("shingle word:5 version 1\n"));
  parameters.replace(at, ours.size(), "Unicode 3.0.0");
  ASSERT_TRUE(write_file_atomically(path() / "parameters", parameters).ok());
  const auto other = FuzzyDeduplicator::create({.signature_store_path = path()});
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.error().message, HasSubstr(ours));
}

TEST_F(StoredFuzzyDeduplicator, DamageIsCountedAndFailsTheRunAboveTheLimit) {
  Prose prose(11);
  std::vector<std::string> texts;
  {
    const auto deduplicator = open();
    for (std::uint64_t i = 0; i < 128; ++i) {
      texts.push_back(join(prose.words(80)));
      deduplicator->process_record(id_of(i), texts.back());
    }
  }
  {
    File values = *File::open_to_update(path() / store::kValuesFileName);
    ASSERT_TRUE(
        values.write_at(store::kValuesHeaderBytes + store::kFrameHeaderBytes + 5, "#").ok());
  }
  const auto deduplicator = open();
  EXPECT_FALSE(deduplicator->process_record(id_of(500), texts[0]).duplicate);
  EXPECT_TRUE(deduplicator->process_record(id_of(501), texts[1]).duplicate);
  EXPECT_EQ(deduplicator->stats().cold_read_errors, 1U);
  EXPECT_EQ(deduplicator->health().error().code, Code::kDataLoss);
}

TEST_F(StoredFuzzyDeduplicator, CallersSeeVerdictsWhenTheDiskFails) {
  SimulatedDisk disk;
  const auto deduplicator = *FuzzyDeduplicator::create(
      {.max_hot_signatures = 64, .cold_read_error_limit = 3, .disk = &disk});
  Prose prose(12);
  std::vector<std::string> texts;
  for (std::uint64_t i = 0; i < 300; ++i) {
    texts.push_back(join(prose.words(60)));
    deduplicator->process_record(id_of(i), texts.back());
  }
  disk.fail(SimulatedDisk::Fault{.only = SimulatedDisk::Operation::kRead, .for_good = true});
  for (std::uint64_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(deduplicator->process_record(id_of(1'000 + i), texts[i]).duplicate);
  }
  EXPECT_EQ(deduplicator->stats().cold_read_errors, 3U);
  EXPECT_TRUE(deduplicator->health().ok());
  EXPECT_FALSE(deduplicator->process_record(id_of(1'003), texts[3]).duplicate);
  EXPECT_FALSE(deduplicator->health().ok());
  disk.fail(std::nullopt);
  EXPECT_TRUE(deduplicator->process_record(id_of(1'010), texts[10]).duplicate);
}

TEST_F(StoredFuzzyDeduplicator, ARecordThatCannotBeKeptIsCountedAndTheRunIsUnhealthy) {
  SimulatedDisk disk;
  const auto deduplicator = *FuzzyDeduplicator::create({.max_hot_signatures = 64, .disk = &disk});
  Prose prose(13);
  for (std::uint64_t i = 0; i < 64; ++i)
    deduplicator->process_record(id_of(i), join(prose.words(60)));
  disk.fail(SimulatedDisk::Fault{.only = SimulatedDisk::Operation::kWriteAt, .for_good = true});
  const std::string text = join(prose.words(60));
  EXPECT_FALSE(deduplicator->process_record(id_of(64), text).duplicate);
  EXPECT_EQ(deduplicator->stats().write_errors, 1U);
  EXPECT_THAT(deduplicator->health().error().message, HasSubstr("could not be kept"));
  EXPECT_FALSE(deduplicator->process_record(id_of(65), text).duplicate);
}

}  // namespace
}  // namespace kin::dedup
