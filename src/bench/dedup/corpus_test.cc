#include "bench/dedup/corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "base/file.h"

namespace kin::bench {
namespace {

using ::testing::HasSubstr;

TEST(Prose, ReadsLikeEnglishByItsNumbers) {
  const Prose prose;
  Random random(1);
  std::string text;
  prose.append(random, 200'000, text);
  EXPECT_NEAR(static_cast<double>(text.size()), 200'000, 500);
  const auto words = static_cast<double>(std::count(text.begin(), text.end(), ' '));
  EXPECT_NEAR(static_cast<double>(text.size()) / words, 5.8, 0.6);  // a word, its marks, a space
  EXPECT_THAT(text, HasSubstr(" the "));
  EXPECT_THAT(text, HasSubstr(". "));
}

TEST(Prose, TakesSentencesFromTexts) {
  const Prose prose({"One. Two! Three"});
  EXPECT_FALSE(prose.built_in());
  Random random(1);
  std::string text;
  prose.append(random, 500, text);
  EXPECT_THAT(text, HasSubstr("Two! "));
}

TEST(Prose, CurlsQuotes) {
  EXPECT_EQ(with_curly_quotes("\"it's\""), "“it’s”");
}

TEST(Corpus, IsTheSameEveryTimeAndHasItsDuplicates) {
  const auto folder = TemporaryFolder::create();
  ASSERT_TRUE(folder.ok());
  const auto write = [&](const char* name, double duplicates) {
    const auto path = folder->path() / name;
    const CorpusOptions options{
        .records = 2'000, .bytes = 200, .duplicates = duplicates, .seed = 1};
    EXPECT_TRUE(write_corpus(options, Prose(), path).ok());
    return *read_file(path);
  };
  const auto distinct_texts = [](const std::string& lines) {
    std::set<std::string> texts;
    for (std::size_t at = lines.find("\"text\""); at != std::string::npos;
         at = lines.find("\"text\"", at + 1))
      texts.insert(lines.substr(at, lines.find('\n', at) - at));
    return texts.size();
  };
  const std::string lines = write("a.jsonl", 0.4);
  EXPECT_EQ(lines, write("b.jsonl", 0.4));
  EXPECT_NEAR(static_cast<double>(distinct_texts(lines)), 1'600, 80);
  EXPECT_EQ(distinct_texts(write("c.jsonl", 0)), 2'000U);
}

TEST(Corpus, MakesLinesOfSentences) {
  const auto folder = TemporaryFolder::create();
  ASSERT_TRUE(folder.ok());
  const auto path = folder->path() / "a.jsonl";
  CorpusOptions options{.records = 10, .bytes = 500, .duplicates = 0, .seed = 1};
  options.lines = true;
  ASSERT_TRUE(write_corpus(options, Prose(), path).ok());
  const std::string lines = *read_file(path);
  EXPECT_THAT(lines, HasSubstr(".\\n"));
  EXPECT_EQ(lines.find(". "), std::string::npos);
}

TEST(Corpus, FillsATemplate) {
  const auto folder = TemporaryFolder::create();
  ASSERT_TRUE(folder.ok());
  const auto path = folder->path() / "a.jsonl";
  CorpusOptions options{.records = 2, .duplicates = 0};
  options.template_words = 55;
  ASSERT_TRUE(write_corpus(options, Prose(), path).ok());
  std::istringstream lines(*read_file(path));
  std::vector<std::vector<std::string>> records;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream text(line.substr(line.find("\"text\"")));
    auto& words = records.emplace_back();
    for (std::string word; text >> word;) words.push_back(word);
  }
  ASSERT_EQ(records.size(), 2U);
  ASSERT_EQ(records[0].size(), 55U);
  ASSERT_EQ(records[1].size(), 55U);
  std::size_t different = 0;
  for (std::size_t i = 0; i < 55; ++i) different += records[0][i] != records[1][i] ? 1 : 0;
  EXPECT_EQ(different, options.varying_words);
}

}  // namespace
}  // namespace kin::bench
