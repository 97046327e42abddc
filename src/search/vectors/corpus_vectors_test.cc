#include "search/vectors/corpus_vectors.h"

#include <gtest/gtest.h>

namespace kin::search {
namespace {

// A model of this many documents, learnt from at most 40 of them.
CorpusGeneration model_of(std::size_t documents) {
  auto sample = embed::CorpusSample::create({.most_documents = 40}).value();
  for (std::size_t i = 0; i < documents; ++i)
    sample.add("the tide number " + std::to_string(i % 7) + " of the sea");
  return {.number = 1, .model = embed::train_corpus_model(sample, {.dimension = 2}).value()};
}

TEST(CorpusVectorsTest, AreLearntFirstWithEnoughDocuments) {
  EXPECT_FALSE(has_grown({}, 31));
  EXPECT_TRUE(has_grown({}, 32));
}

TEST(CorpusVectorsTest, AreLearntAgainWithHalfAsManyDocumentsMore) {
  const CorpusGeneration now = model_of(200);
  EXPECT_FALSE(has_grown(now, 200));
  EXPECT_FALSE(has_grown(now, 299));
  EXPECT_TRUE(has_grown(now, 300));
}

TEST(CorpusVectorsTest, OfManyDocumentsAreLearntAgainWithTwiceAsMany) {
  const CorpusGeneration now = model_of(60'000);
  EXPECT_FALSE(has_grown(now, 60'000));
  EXPECT_FALSE(has_grown(now, 119'999));
  EXPECT_TRUE(has_grown(now, 120'000));
}

}  // namespace
}  // namespace kin::search
