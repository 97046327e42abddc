#include "embed/corpus_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/random.h"
#include "embed/corpus/data.h"
#include "embed/testing/embed_fixture.h"

namespace kin::embed {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Documents of two subjects that share hardly any words, and documents with words of both.
std::vector<std::string> documents(std::size_t count) {
  const std::vector<std::string> sea{"ship", "harbour", "sailor", "wave", "anchor", "tide", "mast"};
  const std::vector<std::string> farm{"cow", "barn", "tractor", "field", "hay", "plough", "wheat"};
  const std::vector<std::string> any{"day", "people", "work", "morning", "time"};
  Random random(7);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& subject = i % 2 == 0 ? sea : farm;
    std::string text;
    for (int word = 0; word < 6; ++word) text += subject[random.below(subject.size())] + " ";
    for (int word = 0; word < 3; ++word) text += any[random.below(any.size())] + " ";
    out.push_back(text);
  }
  return out;
}

CorpusSample sample_of(const std::vector<std::string>& texts, SampleOptions options = {}) {
  CorpusSample out = CorpusSample::create(std::move(options)).value();
  for (const std::string& text : texts) out.add(text);
  return out;
}

TEST(CorpusModelTest, BringsWordsTogetherThatKeepTheSameCompany) {
  const auto model =
      train_corpus_model(sample_of(documents(200)), {.dimension = 2, .iterations = 3}).value();
  EXPECT_EQ(model->info().kind, EmbedderKind::kCorpus);
  EXPECT_EQ(model->info().dimension, 2U);
  EXPECT_EQ(model->documents(), 200U);
  const auto ship = vector_of(*model, "The Ships");
  EXPECT_NEAR(length(ship), 1, 1e-5);
  EXPECT_GT(cosine(ship, vector_of(*model, "anchors, tides")),
            cosine(ship, vector_of(*model, "hay for the cows")) + 0.5);
}

TEST(CorpusModelTest, TellsHowManyDocumentsThereWereNotHowManyItLearntFrom) {
  CorpusSample sample = sample_of(documents(200), {.most_documents = 40});
  sample.add(" … ");
  EXPECT_EQ(train_corpus_model(sample, {.dimension = 2}).value()->documents(), 201U);
}

TEST(CorpusModelTest, GivesTheSameBytesWithAnyNumberOfThreads) {
  const CorpusSample sample = sample_of(documents(300));
  const auto one = train_corpus_model(sample, {.dimension = 20, .threads = 1}).value();
  const auto three = train_corpus_model(sample, {.dimension = 20, .threads = 3}).value();
  EXPECT_EQ(one->encode(), three->encode());
  EXPECT_EQ(one->info().model_hash, three->info().model_hash);
  const auto other = train_corpus_model(sample, {.dimension = 10}).value();
  EXPECT_NE(one->info().model_hash, other->info().model_hash);
}

TEST(CorpusModelTest, DecodesWhatItEncodes) {
  const auto model = train_corpus_model(sample_of(documents(60)), {.dimension = 9}).value();
  const auto again = CorpusModel::decode(model->encode());
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ((*again)->info().model_hash, model->info().model_hash);
  EXPECT_EQ((*again)->documents(), 60U);
  for (const std::string& text : documents(5))
    EXPECT_EQ(vector_of(**again, text), vector_of(*model, text));
}

TEST(CorpusModelTest, SaysNothingOfTextsItKnowsNoWordOf) {
  const auto model = train_corpus_model(sample_of(documents(20))).value();
  EXPECT_THAT(vector_of(*model, ""), IsEmpty());
  EXPECT_THAT(vector_of(*model, "quantum — !"), IsEmpty());
  EXPECT_THAT(model->embed({}).value(), IsEmpty());
}

TEST(CorpusModelTest, HasAtMostHalfAsManyDimensionsAsDocuments) {
  const auto model = train_corpus_model(sample_of(documents(12))).value();
  EXPECT_LE(model->info().dimension, 6U);
  EXPECT_GE(model->info().dimension, 4U);
  EXPECT_THAT(vector_of(*model, "ship"), SizeIs(model->info().dimension));
}

TEST(CorpusModelTest, HasNoMoreDimensionsThanThereAreDifferences) {
  std::vector<std::string> same(40, "one and the same text");
  const auto model = train_corpus_model(sample_of(same), {.dimension = 10}).value();
  EXPECT_EQ(model->info().dimension, 1U);
}

TEST(CorpusModelTest, NeedsDocumentsThatShareWords) {
  const auto few = train_corpus_model(sample_of(documents(7)));
  ASSERT_FALSE(few.ok());
  EXPECT_EQ(few.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(few.error().message, HasSubstr("at least 8 documents"));
  std::vector<std::string> strangers;
  for (int i = 0; i < 20; ++i) strangers.push_back("word" + std::to_string(i));
  const auto apart = train_corpus_model(sample_of(strangers));
  ASSERT_FALSE(apart.ok());
  EXPECT_THAT(apart.error().message, HasSubstr("share no words"));
}

TEST(CorpusModelTest, IsUsedByManyThreadsAtOnce) {
  const auto model = train_corpus_model(sample_of(documents(100)), {.dimension = 8}).value();
  const auto expected = vector_of(*model, "ship and barn");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round)
        EXPECT_EQ(vector_of(*model, "ship and barn"), expected);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(CorpusModelTest, RefusesWhatIsDamaged) {
  const std::string bytes =
      train_corpus_model(sample_of(documents(20)), {.dimension = 3}).value()->encode();
  for (std::size_t at = 0; at < bytes.size(); at += 7) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
    const auto decoded = CorpusModel::decode(damaged);
    ASSERT_FALSE(decoded.ok()) << at;
    EXPECT_EQ(decoded.error().code, Code::kDataLoss);
  }
  for (const std::size_t length : {std::size_t{0}, std::size_t{5}, bytes.size() - 1})
    EXPECT_FALSE(CorpusModel::decode(bytes.substr(0, length)).ok());
}

TEST(CorpusModelTest, IsWrittenAsItAlwaysWas) {
  const internal::CorpusData data{.language = "none",
                                  .documents = 9,
                                  .dimension = 2,
                                  .keys = {1, 0x1122334455667788},
                                  .scales = {1, 0.5F},
                                  .rows = {1, -2, 127, -127}};
  const std::string golden =
      "4b43564d010001000900000000000000020000000200000004006e6f6e65"
      "010000000000000088776655443322110000803f0000003f01fe7f818703b3c644585cfb";
  EXPECT_EQ(to_hex(internal::encode_corpus(data)), golden);
  const auto decoded = internal::decode_corpus(from_hex(golden));
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  EXPECT_EQ(decoded->keys, data.keys);
  EXPECT_EQ(decoded->rows, data.rows);
  EXPECT_EQ(decoded->language, "none");
}

TEST(CorpusSampleTest, KeepsSoManyDocumentsAnyOfThem) {
  CorpusSample sample = CorpusSample::create({.most_documents = 100}).value();
  for (int i = 0; i < 1000; ++i) sample.add("number " + std::to_string(i));
  sample.add(" … ");
  EXPECT_EQ(sample.seen(), 1001U);
  EXPECT_EQ(sample.size(), 100U);
  CorpusSample first = CorpusSample::create({.most_documents = 100}).value();
  for (int i = 0; i < 100; ++i) first.add("number " + std::to_string(i));
  int kept = 0;
  for (std::size_t i = 0; i < 100; ++i) {
    kept += sample.documents()[i].front().key == first.documents()[i].front().key &&
            sample.documents()[i].back().key == first.documents()[i].back().key;
  }
  EXPECT_GT(kept, 2);
  EXPECT_LT(kept, 30);
}

TEST(CorpusSampleTest, CountsStems) {
  const CorpusSample sample = sample_of({"Connected, connecting CONNECTIONS and"});
  ASSERT_EQ(sample.documents().front().size(), 2U);
  EXPECT_EQ(sample.documents().front()[0].count + sample.documents().front()[1].count, 4U);
}

TEST(CorpusSampleTest, KnowsItsLanguages) {
  EXPECT_TRUE(CorpusSample::create({.language = "german"}).ok());
  EXPECT_FALSE(CorpusSample::create({.language = "klingon"}).ok());
}

}  // namespace
}  // namespace kin::embed
