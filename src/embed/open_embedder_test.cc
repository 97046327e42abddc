#include "embed/open_embedder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "base/file.h"
#include "base/testing/manual_clock.h"
#include "embed/files/word_vectors.h"
#include "embed/testing/embed_fixture.h"

namespace kin::embed {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class OpenEmbedderTest : public ::testing::Test {
 protected:
  fs::path write_words(const fs::path& file, const std::string& word) {
    fs::create_directories(file.parent_path());
    EXPECT_TRUE(write_file_atomically(file, encode_word_vectors({{word, 0, {1}}})).ok());
    return file;
  }
  Result<std::shared_ptr<const Embedder>> open(std::string_view spec,
                                               const EmbedderPlaces& places = {}) {
    KIN_TRY(const EmbedderSpec parsed, EmbedderSpec::parse(spec));
    return open_embedder(parsed, clock_, places);
  }
  Error error_of(std::string_view spec, const EmbedderPlaces& places = {}) {
    const auto opened = open(spec, places);
    EXPECT_FALSE(opened.ok()) << spec;
    return opened.ok() ? Error{} : opened.error();
  }

  ManualClock clock_;
  TemporaryFolder folder_ = TemporaryFolder::create().value();
};

TEST_F(OpenEmbedderTest, FindsWordVectorsInTheFirstFolderThatHasThem) {
  write_words(folder_.path() / "b/words.kwv", "second");
  write_words(folder_.path() / "c/words.kwv", "third");
  const EmbedderPlaces places{
      .folders = {folder_.path() / "a", folder_.path() / "b", folder_.path() / "c"}};
  const auto words = open("words", places);
  ASSERT_TRUE(words.ok()) << words.error().message;
  EXPECT_EQ(vector_of(**words, "second").size(), 1U);
  EXPECT_EQ(vector_of(**words, "third").size(), 0U);
}

TEST_F(OpenEmbedderTest, OpensTheFileThatIsNamed) {
  const fs::path file = write_words(folder_.path() / "x", "word");
  EXPECT_TRUE(open("words:" + file.string()).ok());
  EXPECT_THAT(error_of("words:" + file.string() + "y").message, HasSubstr("xy"));
}

TEST_F(OpenEmbedderTest, ReadsRegularFilesOnly) {
  const fs::path pipe = folder_.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  fs::create_directories(folder_.path() / "model");
  ASSERT_EQ(::mkfifo((folder_.path() / "model/config.json").c_str(), 0600), 0);
  for (const std::string& spec :
       {std::string("words:/dev/zero"), "words:" + pipe.string(),
        "words:" + folder_.path().string(), "model2vec:" + (folder_.path() / "model").string()}) {
    const Error error = error_of(spec);
    EXPECT_EQ(error.code, Code::kInvalidArgument) << spec;
    EXPECT_THAT(error.message, HasSubstr("not a regular file")) << spec;
  }
}

TEST_F(OpenEmbedderTest, KeepsToTheFoldersOfModels) {
  write_words(folder_.path() / "models/own.kwv", "word");
  const fs::path outside = write_words(folder_.path() / "secret", "word");
  fs::create_symlink(outside, folder_.path() / "models/link");
  const EmbedderPlaces places{.folders = {folder_.path() / "models"}, .only_folders = true};
  EXPECT_TRUE(open("words:own.kwv", places).ok());
  EXPECT_TRUE(open("words:" + (folder_.path() / "models/own.kwv").string(), places).ok());
  for (const std::string& spec :
       {"words:" + outside.string(), std::string("words:../secret"), std::string("words:link"),
        std::string("words:/dev/zero"), std::string("words:none.kwv"),
        std::string("model2vec:../.."), std::string("model2vec:/etc")}) {
    const Error error = error_of(spec, places);
    EXPECT_EQ(error.code, Code::kInvalidArgument) << spec;
    EXPECT_THAT(error.message, HasSubstr("not in a folder of models")) << spec;
  }
}

TEST_F(OpenEmbedderTest, SaysWhereItLooked) {
  const Error error = error_of("words", {.folders = {"/nowhere", "/there"}});
  EXPECT_EQ(error.code, Code::kNotFound);
  EXPECT_THAT(error.message, AllOf(HasSubstr("/nowhere, /there"), HasSubstr("KINDRED_MODELS")));
  EXPECT_THAT(error_of("model2vec:/nowhere").message, HasSubstr("/nowhere/config.json"));
}

TEST_F(OpenEmbedderTest, LooksForModelsByNameInTheFolders) {
  fs::create_directories(folder_.path() / "some-model-of-a-test");
  EXPECT_THAT(error_of("model2vec:some-model-of-a-test", {.folders = {folder_.path()}}).message,
              HasSubstr((folder_.path() / "some-model-of-a-test/config.json").string()));
}

TEST_F(OpenEmbedderTest, TakesAddressesWithAndWithoutTheirKind) {
  for (const std::string spec : {"http:http://127.0.0.1:9/v1#m", "http://127.0.0.1:9/v1#m"})
    EXPECT_THAT(error_of(spec).message, HasSubstr("http://127.0.0.1:9/v1/embeddings")) << spec;
  EXPECT_THAT(error_of("https://example.com/v1").message, HasSubstr("URL#MODEL"));
  EXPECT_THAT(error_of("http:https://example.com/v1#").message, HasSubstr("URL#MODEL"));
}

TEST_F(OpenEmbedderTest, OpensNothingThatIsTrainedOrGiven) {
  for (const std::string_view spec : {"corpus", "given", "none"})
    EXPECT_EQ(error_of(spec).code, Code::kInvalidArgument) << spec;
}

TEST_F(OpenEmbedderTest, TakesTheFolderOfTheEnvironmentFirst) {
  ::unsetenv("KINDRED_MODELS");
  EXPECT_THAT(model_folders("/usual"), ElementsAre("/usual"));
  EXPECT_TRUE(model_folders("").empty());
  ::setenv("KINDRED_MODELS", "/mine", 1);
  EXPECT_THAT(model_folders("/usual"), ElementsAre("/mine", "/usual"));
  ::unsetenv("KINDRED_MODELS");
}

}  // namespace
}  // namespace kin::embed
