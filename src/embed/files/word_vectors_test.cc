#include "embed/files/word_vectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "base/file.h"
#include "base/random.h"
#include "base/testing/source_folder.h"
#include "embed/testing/embed_fixture.h"

namespace kin::embed {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<WordVector> kThree{
    {"the", 0, {1, 0, 0}}, {"ship", 5000, {0, 1, 0}}, {"straße", 9000, {0, 0.5F, -0.5F}}};

TEST(WordVectorsTest, CountsRareWordsMore) {
  const auto words = decode_word_vectors(encode_word_vectors(kThree)).value();
  EXPECT_EQ(words->info().kind, EmbedderKind::kWords);
  EXPECT_EQ(words->info().dimension, 3U);
  const auto vector = vector_of(*words, "The ship!");
  EXPECT_NEAR(length(vector), 1, 1e-5);
  EXPECT_GT(vector[1], 0.99);
  EXPECT_GT(vector[0], 0);
  EXPECT_LT(vector[0], 0.01);
}

TEST(WordVectorsTest, ComparesWordsFolded) {
  const auto words =
      decode_word_vectors(
          encode_word_vectors({{"ship", 1, {0, 1}}, {"strasse", 2, {1, 0}}, {"ship", 3, {1, 1}}}))
          .value();
  EXPECT_FLOAT_EQ(vector_of(*words, "STRASSE")[0], 1);
  EXPECT_FLOAT_EQ(vector_of(*words, "Straße")[0], 1);
  EXPECT_FLOAT_EQ(vector_of(*words, "ship")[1], 1);
}

TEST(WordVectorsTest, SaysNothingOfTextsItKnowsNoWordOf) {
  const auto words = decode_word_vectors(encode_word_vectors(kThree)).value();
  EXPECT_THAT(vector_of(*words, ""), IsEmpty());
  EXPECT_THAT(vector_of(*words, "ships"), IsEmpty());
}

// Twenty dimensions, of which all words share the first.
std::vector<WordVector> alike(std::size_t count) {
  Random random(3);
  std::vector<WordVector> out;
  for (std::uint32_t i = 0; i < count; ++i) {
    WordVector word{.word = "w" + std::to_string(i), .rank = i, .values = {}};
    for (int j = 0; j < 20; ++j) word.values.push_back(static_cast<float>(random.unit() - 0.5));
    word.values[0] += 10;
    out.push_back(std::move(word));
  }
  return out;
}

TEST(WordVectorsTest, TakesOutWhatAllWordsShareIfThereAreEnoughToTell) {
  const auto few = decode_word_vectors(encode_word_vectors(alike(100))).value();
  EXPECT_GT(cosine(vector_of(*few, "w70"), vector_of(*few, "w80")), 0.9);
  const auto many = decode_word_vectors(encode_word_vectors(alike(400))).value();
  EXPECT_LT(std::abs(cosine(vector_of(*many, "w70"), vector_of(*many, "w80"))), 0.7);
  EXPECT_LT(std::abs(vector_of(*many, "w70 w80")[0]), 0.3);
}

TEST(WordVectorsTest, HasTheFingerprintOfItsContent) {
  const auto one = decode_word_vectors(encode_word_vectors(kThree)).value();
  const auto same = decode_word_vectors(encode_word_vectors(kThree)).value();
  auto changed = kThree;
  changed[1].values[2] = 0.1F;
  const auto other = decode_word_vectors(encode_word_vectors(changed)).value();
  EXPECT_EQ(one->info().model_hash, same->info().model_hash);
  EXPECT_NE(one->info().model_hash, other->info().model_hash);
}

TEST(WordVectorsTest, IsWrittenAsItAlwaysWas) {
  const std::string golden =
      "4b575645010001000300000003000000bc3209f4431b2b869d03c2687efb9d8f7d3df31c638312cb"
      "2823000088130000000000000402813b0402013c0402013c007f81007f007f0000a921f67d16a6cbb5";
  EXPECT_EQ(to_hex(encode_word_vectors(kThree)), golden);
  EXPECT_TRUE(decode_word_vectors(from_hex(golden)).ok());
}

TEST(WordVectorsTest, RefusesWhatIsDamaged) {
  const std::string bytes = encode_word_vectors(kThree);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    const auto decoded = decode_word_vectors(damaged);
    ASSERT_FALSE(decoded.ok()) << at;
    EXPECT_EQ(decoded.error().code, Code::kDataLoss);
  }
  EXPECT_FALSE(decode_word_vectors(bytes.substr(0, bytes.size() - 1)).ok());
  EXPECT_FALSE(decode_word_vectors("").ok());
  EXPECT_FALSE(decode_word_vectors(encode_word_vectors({})).ok());
}

TEST(WordVectorsTest, NamesTheFileThatIsWrong) {
  const TemporaryFolder folder = TemporaryFolder::create().value();
  const auto file = folder.path() / "mine.kwv";
  EXPECT_EQ(open_word_vectors(file).error().code, Code::kNotFound);
  ASSERT_TRUE(write_file_atomically(file, "plain text").ok());
  EXPECT_THAT(
      open_word_vectors(file).error().message,
      testing::AllOf(HasSubstr("mine.kwv"), HasSubstr("does not begin with the right bytes")));
}

TEST(WordVectorsTest, ReadsWhatTheToolOfSetUpWrites) {
  const TemporaryFolder folder = TemporaryFolder::create().value();
  const auto json = folder.path() / "vectors.json";
  const auto file = folder.path() / "words.kwv";
  ASSERT_TRUE(write_file_atomically(
                  json,
                  R"({"precision":8,"size":4,"dimensions":3,"words":["the","-","ship","straße"],)"
                  R"("vectors":{"the":[1,0,0,1,0],"-":[3,3,3,5.2,1],"ship":[0,1,0,1,2],)"
                  R"("straße":[0,0.5,-0.5,0.7,3]}})")
                  .ok());
  const std::string tool = std::string(source_folder()) + "/tools/word_model.py";
  const std::string command = "python3 -B " + tool + " " + json.string() + " " + file.string();
  ASSERT_EQ(std::system(command.c_str()), 0);
  const auto words = open_word_vectors(file);
  ASSERT_TRUE(words.ok()) << words.error().message;
  EXPECT_EQ((*words)->info().dimension, 3U);
  EXPECT_FLOAT_EQ(vector_of(**words, "SHIP")[1], 1);
  EXPECT_NEAR(vector_of(**words, "Straße")[2], -std::sqrt(0.5), 1e-6);
  EXPECT_GT(vector_of(**words, "the ship")[0], 0);
}

}  // namespace
}  // namespace kin::embed
