#include "embed/embedder_spec.h"

#include <gtest/gtest.h>

namespace kin::embed {
namespace {

TEST(EmbedderSpec, IsReadAndWrittenOneWay) {
  const std::pair<const char*, EmbedderSpec> cases[] = {
      {"none", {EmbedderKind::kNone}},
      {"given", {EmbedderKind::kGiven}},
      {"corpus", {EmbedderKind::kCorpus}},
      {"words", {EmbedderKind::kWords}},
      {"words:a:b.kwv", {EmbedderKind::kWords, "a:b.kwv"}},
      {"model2vec:models/m", {EmbedderKind::kModel2Vec, "models/m"}},
      {"http:https://a.example/v1#m", {EmbedderKind::kHttp, "https://a.example/v1#m"}},
  };
  for (const auto& [text, expected] : cases) {
    const auto spec = EmbedderSpec::parse(text);
    ASSERT_TRUE(spec.ok()) << spec.error().message;
    EXPECT_EQ(*spec, expected);
    EXPECT_EQ(spec->text(), text);
  }
  EXPECT_EQ(EmbedderSpec::parse("http://a.example#m")->text(), "http:http://a.example#m");
}

TEST(EmbedderSpec, RefusesOtherTexts) {
  for (const char* text : {"", "word", "Words", "words:", "model2vec", "model2vec:", "http",
                           "http:", "none:x", "given:1", "corpus:", "bert:x", ":", ":words"}) {
    const auto spec = EmbedderSpec::parse(text);
    ASSERT_FALSE(spec.ok()) << text;
    EXPECT_EQ(spec.error().code, Code::kInvalidArgument);
  }
  EXPECT_EQ(EmbedderSpec::parse("magic").error().message,
            "\"magic\" is not an embedder: use corpus, words, words:FILE, model2vec:DIR, "
            "http:URL#MODEL, given or none");
}

}  // namespace
}  // namespace kin::embed
