#include "embed/files/model2vec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/file.h"
#include "embed/files/safetensors.h"
#include "embed/files/word_pieces.h"
#include "embed/testing/embed_fixture.h"

namespace kin::embed {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string tokenizer(std::string_view vocabulary) {
  return R"({"normalizer":{"type":"BertNormalizer","lowercase":true,"strip_accents":null},)"
         R"("pre_tokenizer":{"type":"BertPreTokenizer"},"model":{"type":"WordPiece",)"
         R"("unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":12,)"
         R"("vocab":)" +
         std::string(vocabulary) + "}}";
}

const std::string kTokenizer =
    tokenizer(R"({"[UNK]":0,"sail":1,"##or":2,"##ing":3,"sailor":4,",":5})");

struct Part {
  std::string name;
  std::string type;
  std::string shape;
  std::string bytes;
};

std::string safetensors(const std::vector<Part>& parts) {
  std::string header = "{\"__metadata__\":{\"by\":\"a test\"}";
  std::string bytes;
  for (const Part& part : parts) {
    header += ",\"" + part.name + "\":{\"dtype\":\"" + part.type + "\",\"shape\":" + part.shape +
              ",\"data_offsets\":[" + std::to_string(bytes.size()) + "," +
              std::to_string(bytes.size() + part.bytes.size()) + "]}";
    bytes += part.bytes;
  }
  header += "}";
  std::string out;
  append_le(out, std::uint64_t{header.size()});
  return out + header + bytes;
}

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  return std::string(as_bytes_view(std::span(values)));
}

// A row for each of the six tokens.
const std::vector<float> kRows{9, 9, 1, 0, 0, 1, 0, 2, -1, 0, -0.5F, 0.25F};

std::string floats() {
  return safetensors({{"embeddings", "F32", "[6,2]", bytes_of(kRows)}});
}

TEST(Model2VecTest, TakesTheMeanOfItsTokensRows) {
  const std::string tensors = floats();
  const auto model = make_model2vec({.tokenizer = kTokenizer, .safetensors = tensors});
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_EQ((*model)->info().kind, EmbedderKind::kModel2Vec);
  EXPECT_EQ((*model)->info().dimension, 2U);
  EXPECT_THAT(vector_of(**model, "Sail"), ElementsAre(1, 0));
  EXPECT_THAT(vector_of(**model, "sailor"), ElementsAre(-1, 0));
  // sail + ##ing, and what is not known is left out.
  const auto sailing = vector_of(**model, "sailing boats");
  EXPECT_FLOAT_EQ(sailing[1] / sailing[0], 2);
  EXPECT_NEAR(length(sailing), 1, 1e-6);
}

TEST(Model2VecTest, SaysNothingOfTextsWithoutKnownPieces) {
  const std::string tensors = floats();
  const auto model = make_model2vec({.tokenizer = kTokenizer, .safetensors = tensors}).value();
  EXPECT_THAT(vector_of(*model, ""), IsEmpty());
  EXPECT_THAT(vector_of(*model, "boat [UNK]x"), IsEmpty());
  EXPECT_THAT(vector_of(*model, "sailinginginging"), IsEmpty());  // longer than words may be
}

TEST(Model2VecTest, ReadsEveryTypeOfNumber) {
  const std::vector<std::uint16_t> halves{0x4880, 0x4880, 0x3C00, 0,      0,      0x3C00,
                                          0,      0x4000, 0xBC00, 0x8000, 0xB800, 0x3400};
  const std::vector<std::uint16_t> brain{0x4110, 0x4110, 0x3F80, 0,      0,      0x3F80,
                                         0,      0x4000, 0xBF80, 0x8000, 0xBF00, 0x3E80};
  const std::vector<double> doubles(kRows.begin(), kRows.end());
  std::vector<std::int8_t> bytes;
  for (const float value : kRows) bytes.push_back(static_cast<std::int8_t>(value * 4));
  const std::string expected_of = floats();
  const auto expected =
      make_model2vec({.tokenizer = kTokenizer, .safetensors = expected_of}).value();
  for (const Part& part : {Part{"embeddings", "F16", "[6,2]", bytes_of(halves)},
                           Part{"embeddings", "BF16", "[6,2]", bytes_of(brain)},
                           Part{"embedding.weight", "F64", "[6,2]", bytes_of(doubles)},
                           Part{"embeddings", "I8", "[6,2]", bytes_of(bytes)}}) {
    const std::string tensors = safetensors({part});
    const auto model = make_model2vec({.tokenizer = kTokenizer, .safetensors = tensors});
    ASSERT_TRUE(model.ok()) << part.type << model.error().message;
    for (const std::string text : {"sailing, sailor", ",", "sail sail ,"})
      EXPECT_NEAR(cosine(vector_of(**model, text), vector_of(*expected, text)), 1, 1e-6)
          << part.type;
  }
}

TEST(Model2VecTest, FollowsMappingAndWeights) {
  const std::string tensors =
      safetensors({{"embeddings", "F32", "[2,2]", bytes_of<float>({1, 0, 0, 1})},
                   {"mapping", "I64", "[6]", bytes_of<std::int64_t>({0, 0, 1, 1, 0, 0})},
                   {"weights", "F32", "[6]", bytes_of<float>({1, 1, 3, 1, 1, 1})}});
  const auto model =
      make_model2vec({.tokenizer = tokenizer(R"({"a":1,"##b":2,"c":5})"), .safetensors = tensors});
  ASSERT_TRUE(model.ok()) << model.error().message;
  const auto vector = vector_of(**model, "ab");
  EXPECT_FLOAT_EQ(vector[1] / vector[0], 3);
}

std::string fault(std::string_view tokenizer_json, std::string_view tensors) {
  const auto model = make_model2vec({.tokenizer = tokenizer_json, .safetensors = tensors});
  return model.ok() ? "none" : model.error().message;
}

TEST(Model2VecTest, SaysWhichFileIsWrongAndWhatAboutIt) {
  const std::string good = floats();
  EXPECT_THAT(fault("{", good), AllOf(HasSubstr("tokenizer.json"), HasSubstr("not valid JSON")));
  EXPECT_THAT(fault(R"({"model":{"type":"Unigram"}})", good),
              HasSubstr("only WordPiece is supported"));
  EXPECT_THAT(fault(tokenizer("{}"), good), HasSubstr("no vocabulary"));
  EXPECT_THAT(fault(tokenizer(R"({"a":-1})"), good), HasSubstr("\"a\""));
  EXPECT_THAT(fault(tokenizer(R"({"a":6})"), good), HasSubstr("rows for 6 tokens"));
  EXPECT_THAT(fault(kTokenizer, "short"),
              AllOf(HasSubstr("model.safetensors"), HasSubstr("header")));
  EXPECT_THAT(fault(kTokenizer, safetensors({})), HasSubstr("no \"embeddings\""));
  EXPECT_THAT(fault(kTokenizer, safetensors({{"embeddings", "F32", "[6,3]", bytes_of(kRows)}})),
              HasSubstr("48 bytes, but its shape needs 72"));
  EXPECT_THAT(fault(kTokenizer, safetensors({{"embeddings", "F32", "[12]", bytes_of(kRows)}})),
              HasSubstr("must be a matrix"));
  EXPECT_THAT(fault(kTokenizer, good.substr(0, good.size() - 1)), HasSubstr("not inside the file"));
  auto infinite = kRows;
  infinite[4] = std::numeric_limits<float>::infinity();
  EXPECT_THAT(fault(kTokenizer, safetensors({{"embeddings", "F32", "[6,2]", bytes_of(infinite)}})),
              HasSubstr("not finite"));
  EXPECT_THAT(
      fault(kTokenizer, safetensors({{"embeddings", "F32", "[6,2]", bytes_of(kRows)},
                                     {"mapping", "I64", "[1]", bytes_of<std::int64_t>({6})}})),
      HasSubstr("row that does not exist"));
}

TEST(Model2VecTest, OpensAFolder) {
  const TemporaryFolder folder = TemporaryFolder::create().value();
  EXPECT_THAT(open_model2vec(folder.path()).error().message, HasSubstr("config.json"));
  const auto write = [&](std::string_view name, std::string_view bytes) {
    ASSERT_TRUE(write_file_atomically(folder.path() / name, bytes).ok());
  };
  write("config.json", R"({"model_type":"bert"})");
  EXPECT_THAT(open_model2vec(folder.path()).error().message,
              AllOf(HasSubstr(folder.path().string()), HasSubstr("\"bert\"")));
  write("config.json", R"({"model_type":"model2vec"})");
  EXPECT_THAT(open_model2vec(folder.path()).error().message, HasSubstr("tokenizer.json"));
  write("tokenizer.json", kTokenizer);
  write("model.safetensors", floats());
  const auto model = open_model2vec(folder.path());
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_THAT(vector_of(**model, "sail"), ElementsAre(1, 0));
}

}  // namespace
}  // namespace kin::embed
