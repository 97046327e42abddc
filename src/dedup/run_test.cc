#include "dedup/run.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <random>
#include <set>

#include "base/file.h"
#include "base/json_writer.h"
#include "base/testing/manual_clock.h"
#include "dedup/output/checkpoint.h"
#include "sketch/jaccard.h"
#include "sketch/shingles_reference.h"

namespace kin::dedup {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Texts of random words with planted copies: the same, or with some words changed.
std::vector<std::string> make_corpus(std::size_t originals, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto word = [&] { return "w" + std::to_string(random() % 5'000); };
  std::vector<std::vector<std::string>> texts;
  for (std::size_t i = 0; i < originals; ++i) {
    std::vector<std::string> words(20 + random() % 100);
    for (std::string& w : words) w = word();
    texts.push_back(words);
    for (std::size_t copies = random() % 4; copies > 0; --copies) {
      std::vector<std::string> copy = texts[random() % texts.size()];
      for (std::size_t edits = random() % 4; edits > 0; --edits)
        copy[random() % copy.size()] = word();
      if (random() % 3 == 0) copy.insert(copy.begin(), {"seen", "on", "another", "page"});
      texts.push_back(copy);
    }
  }
  std::vector<std::string> corpus;
  for (const auto& words : texts) {
    std::string text;
    for (const std::string& w : words) text += (text.empty() ? "" : " ") + w;
    corpus.push_back(text);
  }
  std::shuffle(corpus.begin(), corpus.end(), random);
  return corpus;
}

double similarity(const std::string& a, const std::string& b) {
  auto of_a = sketch::shingles_reference(a, {});
  auto of_b = sketch::shingles_reference(b, {});
  sketch::sort_unique(of_a);
  sketch::sort_unique(of_b);
  return sketch::exact_jaccard(of_a, of_b);
}

// The number of pairs that are at least 0.8 alike, and of those from which nothing was removed.
std::pair<std::size_t, std::size_t> count_pairs(const std::vector<std::string>& corpus,
                                                const std::set<std::size_t>& removed) {
  std::vector<std::vector<std::uint64_t>> shingles;
  for (const std::string& text : corpus) {
    shingles.push_back(sketch::shingles_reference(text, {}));
    sketch::sort_unique(shingles.back());
  }
  std::size_t pairs = 0;
  std::size_t missed = 0;
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    for (std::size_t j = i + 1; j < corpus.size(); ++j) {
      if (sketch::exact_jaccard(shingles[i], shingles[j]) < 0.8) continue;
      ++pairs;
      missed += !removed.contains(i) && !removed.contains(j);
    }
  }
  return {pairs, missed};
}

class RunTest : public testing::Test {
 protected:
  fs::path path(const std::string& name) const { return folder_.path() / name; }

  void write_corpus(const std::vector<std::string>& corpus,
                    const std::string& name = "in.jsonl") const {
    std::ofstream file(path(name));
    for (std::size_t i = 0; i < corpus.size(); ++i) {
      JsonWriter json;
      json.begin_object()
          .field("id", "r" + std::to_string(i))
          .field("n", i % 7)
          .field("text", corpus[i])
          .end();
      file << json.text() << '\n';
    }
  }

  Result<DedupReport> run(const DedupOptions& options,
                          const std::string& output = "out.jsonl") const {
    DedupJob job;
    job.inputs = {path("in.jsonl").string()};
    job.output = path(output);
    job.groups_output = path("groups.jsonl");
    job.options = options;
    Progress progress;
    return run_dedup(job, progress, clock_);
  }

  std::string content(const std::string& name) const { return *read_file(path(name)); }

  // (removed row, kept row) pairs of the audit log, by a plain search for its numbers.
  std::vector<std::pair<std::size_t, std::size_t>> removals(const std::string& name) const {
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    std::ifstream file(path(name));
    const auto number = [](const std::string& line, const char* key) {
      return static_cast<std::size_t>(std::stoul(line.substr(line.find(key) + std::strlen(key))));
    };
    for (std::string line; std::getline(file, line);) {
      pairs.emplace_back(number(line, "\"row_id\":"), number(line, "\"duplicate_of_row_id\":"));
    }
    return pairs;
  }

  mutable ManualClock clock_;
  TemporaryFolder folder_ = *TemporaryFolder::create();
};

TEST_F(RunTest, TakesItsTimeFromTheClockThatItIsGiven) {
  write_corpus(make_corpus(50, 1));
  const auto report = run({});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->seconds, 0.0);
  EXPECT_FALSE(report->stage_seconds.empty());
  for (const auto& [stage, seconds] : report->stage_seconds) EXPECT_EQ(seconds, 0.0) << stage;
}

TEST_F(RunTest, RemovesNothingThatWasNotVerifiedAgainstWhatStays) {
  const std::vector<std::string> corpus = make_corpus(600, 1);
  write_corpus(corpus);
  const auto report = run({});
  ASSERT_TRUE(report.ok()) << report.error().message;
  const auto pairs = removals("out.removed.jsonl");
  ASSERT_GT(pairs.size(), 300U);
  EXPECT_EQ(report->removed, pairs.size());
  std::set<std::size_t> removed;
  for (const auto& [row, kept] : pairs) removed.insert(row);
  for (const auto& [row, kept] : pairs) {
    EXPECT_FALSE(removed.contains(kept))
        << "row " << kept << " stands for row " << row << " and went";
    EXPECT_GE(similarity(corpus[row], corpus[kept]), 0.8) << row << " " << kept;
  }
}

TEST_F(RunTest, LeavesNoVerifiedPairAmongTheKept) {
  const std::vector<std::string> corpus = make_corpus(300, 2);
  write_corpus(corpus);
  ASSERT_TRUE(run({}).ok());
  std::set<std::size_t> removed;
  for (const auto& [row, kept] : removals("out.removed.jsonl")) removed.insert(row);
  const auto [pairs, missed] = count_pairs(corpus, removed);
  EXPECT_GT(pairs, 200U);
  EXPECT_LE(missed * 100, pairs);  // the default bands find at least 99 of 100
}

TEST_F(RunTest, GivesTheSameForAnyThreadsAndMemory) {
  write_corpus(make_corpus(800, 3));
  DedupOptions options;
  options.threads = 1;
  ASSERT_TRUE(run(options, "one.jsonl").ok());
  const std::string groups = content("groups.jsonl");
  for (const int threads : {2, 5}) {
    options.threads = threads;
    options.checkpoint_seconds = 0;  // everything goes through the disk
    options.max_hot_signatures = 64;
    const auto report = run(options, "many.jsonl");
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_GT(report->bytes_spilled, 0U);
    EXPECT_GT(report->cold_reads, 0U);
    EXPECT_EQ(content("many.jsonl"), content("one.jsonl"));
    EXPECT_EQ(content("many.removed.jsonl"), content("one.removed.jsonl"));
    EXPECT_EQ(content("groups.jsonl"), groups);
  }
}

// One of several identical texts is sketched, which need not be the one that stays.
TEST_F(RunTest, FindsTheSameNearDuplicatesWhicheverTwinStays) {
  std::vector<std::string> corpus = make_corpus(300, 4);
  const std::vector<std::string> twins(corpus.begin(), corpus.begin() + 100);
  corpus.insert(corpus.end(), twins.begin(), twins.end());
  write_corpus(corpus);
  for (const char* policy : {"first", "newest:n", "oldest:n"}) {
    DedupOptions options;
    options.keep = *parse_keep(policy);
    const auto report = run(options);
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_EQ(report->cold_read_errors, 0U);
    std::set<std::size_t> removed;
    for (const auto& [row, kept] : removals("out.removed.jsonl")) removed.insert(row);
    const auto [pairs, missed] = count_pairs(corpus, removed);
    EXPECT_GT(pairs, 300U);
    EXPECT_LE(missed * 100, pairs) << policy;
  }
}

// A text that all others are copies of is removed for a third, which they are not like.
TEST_F(RunTest, ComparesTheCopiesOfARecordThatWentWithEachOther) {
  std::vector<std::string> words(100);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = "word" + std::to_string(i);
  const auto join = [](const std::vector<std::string>& of) {
    std::string text;
    for (const std::string& word : of) text += word + " ";
    return text;
  };
  std::vector<std::string> other = words;
  for (std::size_t i = 90; i < 100; ++i) other[i] = "other" + std::to_string(i);
  std::vector<std::string> corpus{join(other), join(words)};
  for (std::size_t copy = 0; copy < 60; ++copy) {
    std::vector<std::string> edited = words;
    edited[10 + copy] = "edit" + std::to_string(copy);
    corpus.push_back(join(edited));
  }
  ASSERT_GE(similarity(corpus[0], corpus[1]), 0.8);
  ASSERT_LT(similarity(corpus[0], corpus[2]), 0.8);
  ASSERT_GE(similarity(corpus[2], corpus[40]), 0.8);
  write_corpus(corpus);
  EXPECT_EQ(run({})->kept, 2U);
}

TEST_F(RunTest, KeepsWhatThePolicyPrefers) {
  write_corpus({"the same words in this text here", "the same words in this text here", "other"});
  DedupOptions options;
  options.keep = *parse_keep("newest:n");
  ASSERT_TRUE(run(options).ok());
  EXPECT_THAT(removals("out.removed.jsonl"),
              testing::ElementsAre(std::pair<std::size_t, std::size_t>(0, 1)));
}

TEST_F(RunTest, ComponentsAreTransitiveAndStarsAreNot) {
  // a ~ b and b ~ c are alike; a and c are not.
  std::vector<std::string> words(100);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = "word" + std::to_string(i);
  const auto text = [&](std::size_t from, std::size_t to) {
    std::string joined;
    for (std::size_t i = from; i < to; ++i) joined += words[i] + " ";
    return joined;
  };
  const std::string a = text(0, 80);
  const std::string b = text(8, 88);
  const std::string c = text(16, 96);
  ASSERT_GE(similarity(a, b), 0.8);
  ASSERT_GE(similarity(b, c), 0.8);
  ASSERT_LT(similarity(a, c), 0.8);
  write_corpus({a, b, c});
  ASSERT_EQ(run({})->removed, 1U);
  DedupOptions options;
  options.grouping = Grouping::kComponents;
  ASSERT_EQ(run(options)->removed, 2U);
  options.grouping = Grouping::kStream;
  ASSERT_EQ(run(options)->removed, 1U);
}

TEST_F(RunTest, SimHashFindsWhatDiffersInAWord) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "common" + std::to_string(i) + " ";
  write_corpus({text, text + "extra", "something else entirely, with other words in it"});
  DedupOptions options;
  options.detectors = *parse_detectors("simhash");
  const auto report = run(options);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->removed_by[static_cast<std::size_t>(Method::kSimHash)], 1U);
}

TEST_F(RunTest, ChunkRemovesOnlyWhatIsWhollyElsewhere) {
  const std::string one(512, 'a');
  const std::string two(512, 'b');
  const std::string three(512, 'c');
  write_corpus({one + two, two, two + three, one + two + three, "new text"});
  DedupOptions options;
  options.detectors = *parse_detectors("chunk");
  const auto report = run(options);
  ASSERT_TRUE(report.ok()) << report.error().message;
  std::set<std::size_t> removed;
  for (const auto& [row, kept] : removals("out.removed.jsonl")) removed.insert(row);
  EXPECT_THAT(removed, testing::ElementsAre(1, 3));
  EXPECT_EQ(report->linked, 2U);
}

TEST_F(RunTest, FieldsDoNotRunIntoEachOther) {
  std::ofstream(path("in.jsonl")) << R"({"text": "Hello", "n": null}
{"text": null, "n": "Hello"}
{"text": "a\nb", "n": "c"}
{"text": "a", "n": "b\nc"}
{"text": "a", "n": "b\nc"}
)";
  DedupOptions options;
  options.fields = {"text", "n"};
  options.detectors = *parse_detectors("exact");
  EXPECT_EQ(run(options)->removed, 1U);
}

TEST_F(RunTest, TextsWithoutWordsAreEqualOnlyIfTheyAre) {
  write_corpus({"!!!", "???", "", "!!!"});
  DedupOptions options;
  options.exact_normalization = text::Normalization::kStandard;
  EXPECT_EQ(run(options)->removed, 1U);
}

TEST_F(RunTest, KeepsAndCountsBlankTexts) {
  write_corpus({"", "", " \n", "words in it", "", "words in it", "?!", "?!"});
  for (const char* detectors : {"exact", "exact,minhash", "simhash", "chunk"}) {
    DedupOptions options;
    options.detectors = *parse_detectors(detectors);
    const auto report = run(options);
    ASSERT_TRUE(report.ok()) << report.error().message;
    std::set<std::size_t> removed;
    for (const auto& [row, kept] : removals("out.removed.jsonl")) removed.insert(row);
    EXPECT_THAT(removed, testing::IsSubsetOf({5, 7})) << detectors;
    EXPECT_GE(report->without_words, 4U) << detectors;
  }
}

TEST_F(RunTest, CountsOfPairsAddUp) {
  std::vector<std::string> texts = make_corpus(400, 11);
  // A template with far more than the few records of a bucket that are paired outright.
  for (int i = 0; i < 300; ++i) {
    std::string text;
    for (int word = 0; word < 60; ++word)
      text += word % 12 == i % 12 ? fmt::format("x{} ", i * word) : fmt::format("w{} ", word);
    texts.push_back(text);
  }
  write_corpus(texts);
  for (const char* detectors : {"exact,minhash", "simhash", "exact,minhash,simhash"}) {
    for (const Grouping grouping : {Grouping::kStar, Grouping::kComponents}) {
      DedupOptions options;
      options.detectors = *parse_detectors(detectors);
      options.grouping = grouping;
      options.hamming = 7;
      options.threshold = 0.5;
      const auto report = run(options);
      ASSERT_TRUE(report.ok()) << report.error().message;
      EXPECT_GT(report->candidates, 100U) << detectors;
      EXPECT_EQ(report->candidates,
                report->verified + report->false_candidates + report->not_needed)
          << detectors;
    }
  }
}

TEST_F(RunTest, SimHashRemovesNothingBelowTheThreshold) {
  // The same words in another order have the same SimHash and no shingle in common.
  std::string forward;
  std::string backward;
  for (int i = 0; i < 200; ++i) {
    forward += fmt::format("word{} ", i);
    backward = fmt::format("word{} ", i) + backward;
  }
  write_corpus({forward, backward, forward + "more"});
  DedupOptions options;
  options.detectors = *parse_detectors("simhash");
  ASSERT_EQ(run(options)->removed, 1U);
  EXPECT_THAT(removals("out.removed.jsonl"), testing::ElementsAre(testing::Pair(2, 0)));
  options.verification = Verification::kEstimate;
  EXPECT_EQ(run(options)->removed, 2U);
}

TEST_F(RunTest, PairsOfATemplateGrowWithItsRecords) {
  // Every record is near every other one: all pairs would be 25 times as many for five times the
  // records.
  const auto candidates = [&](int records) {
    std::vector<std::string> texts;
    for (int i = 0; i < records; ++i) {
      std::string text;
      for (int word = 0; word < 120; ++word) text += fmt::format("w{} ", word);
      texts.push_back(text + fmt::format("serial{}", i));
    }
    write_corpus(texts);
    DedupOptions options;
    options.detectors = *parse_detectors("simhash");
    const auto report = run(options);
    EXPECT_TRUE(report.ok());
    EXPECT_GT(report->removed, static_cast<std::uint64_t>(records) * 99 / 100);
    return static_cast<double>(report->candidates);
  };
  EXPECT_LT(candidates(10'000) / candidates(2'000), 8);
}

TEST_F(RunTest, ARecordOfATemplateIsComparedWithAFewOthers) {
  // Records that are near each other by their words and not alike. A few have a copy with one more
  // word.
  std::mt19937 random(5);
  std::vector<std::string> texts;
  for (int i = 0; i < 6'000; ++i) {
    std::string text;
    for (int word = 0; word < 120; ++word)
      text += word % 30 == 0 ? fmt::format("x{} ", random() % 3'000) : fmt::format("w{} ", word);
    texts.push_back(text);
  }
  for (int i = 0; i < 100; ++i) texts.push_back(texts[static_cast<std::size_t>(i) * 60] + "more");
  write_corpus(texts);
  DedupOptions options;
  options.detectors = *parse_detectors("simhash");
  options.threshold = 0.95;
  const auto report = run(options);
  ASSERT_TRUE(report.ok()) << report.error().message;
  // All pairs that are near would be some 250 for each record.
  EXPECT_LE(report->false_candidates, 24 * texts.size());
  EXPECT_GT(report->capped_buckets, 0U);  // which is a warning: some duplicates may stay
  EXPECT_GE(report->removed, 5U);
}

TEST_F(RunTest, OutputsHaveTheFormatOfTheirExtension) {
  write_corpus({"one two three four five six", "one two three four five six", "another text here"});
  DedupJob job;
  job.inputs = {path("in.jsonl")};
  job.output = path("out.jsonl");
  const auto read_back = [&](const fs::path& file) {
    const std::string name = file.string();
    auto inputs = data::find_inputs({&name, 1}, folder_.path());
    auto dataset = data::Dataset::open(*inputs, {.threads = 1, .temporary_folder = folder_.path()});
    std::vector<std::string> values;
    const auto scanned = (*dataset)->scan(
        {.columns = {"method", "row_id"}}, [&](const data::Batch& batch, int) -> Status {
          for (std::size_t i = 0; i < batch.size(); ++i)
            values.push_back(fmt::format("{} {}", *batch.value(0, i), *batch.value(1, i)));
          return Done{};
        });
    EXPECT_TRUE(scanned.ok()) << scanned.error().message;
    return values;
  };
  for (const char* name : {"r.jsonl", "r.jsonl.zst", "r.json.gz", "r.csv", "r.parquet"}) {
    job.removed_output = path(name);
    job.groups_output = path("g.jsonl.gz");
    job.report_output = path("report.json.gz");
    Progress progress;
    const auto report = run_dedup(job, progress, system_clock());
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_THAT(read_back(path(name)), testing::ElementsAre("exact 1")) << name;
    EXPECT_THAT(content("g.jsonl.gz"), testing::StartsWith("\x1f\x8b"));
    EXPECT_THAT(content("report.json.gz"), testing::StartsWith("\x1f\x8b"));
  }
  job.removed_output = path("removed.parquet.gz");
  Progress progress;
  EXPECT_THAT(run_dedup(job, progress, system_clock()).error().message, HasSubstr(".parquet"));
}

TEST_F(RunTest, AnAuditLogOfNothingIsAFileOfItsFormat) {
  write_corpus({"one two three", "four five six"});
  DedupJob job;
  job.inputs = {path("in.jsonl")};
  job.output = path("out.jsonl");
  for (const char* name : {"r.jsonl.zst", "r.parquet", "r.csv"}) {
    job.removed_output = path(name);
    Progress progress;
    const auto report = run_dedup(job, progress, system_clock());
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_GT(fs::file_size(path(name)), 0U) << name;
  }
}

TEST_F(RunTest, TheAuditLogCanDoWithoutTextsOrBeLeftOut) {
  write_corpus({"one two three four five six", "one two three four five six"});
  DedupJob job;
  job.inputs = {path("in.jsonl")};
  job.output = path("out.jsonl");
  job.audit = Audit::kIds;
  Progress progress;
  ASSERT_TRUE(run_dedup(job, progress, system_clock()).ok());
  EXPECT_THAT(content("out.removed.jsonl"), HasSubstr("\"duplicate_of_row_id\":0"));
  EXPECT_THAT(content("out.removed.jsonl"), testing::Not(HasSubstr("three")));
  fs::remove(path("out.removed.jsonl"));
  job.audit = Audit::kNone;
  ASSERT_TRUE(run_dedup(job, progress, system_clock()).ok());
  EXPECT_FALSE(fs::exists(path("out.removed.jsonl")));
}

TEST_F(RunTest, RefusesTwoOutputsOfOneName) {
  write_corpus({"a"});
  EXPECT_THAT(run({}, "groups.jsonl").error().message, HasSubstr("two outputs"));
}

TEST_F(RunTest, RefusesACheckpointOfAnotherCommand) {
  write_corpus(make_corpus(50, 8));
  const fs::path folder = path(".out.jsonl.kindred");
  fs::create_directory(folder);
  ASSERT_TRUE(write_file_atomically(folder / "checkpoint", encode(Checkpoint{})).ok());
  DedupOptions options;
  options.resume = true;
  EXPECT_THAT(run(options).error().message, HasSubstr("another command"));
}

TEST_F(RunTest, FailsWhenNoRecordCanBeRead) {
  write_corpus({"a", "b"});
  DedupOptions options;
  options.fields = {"nope"};
  options.on_error = data::OnError::kSkip;
  EXPECT_THAT(
      run(options).error().message,
      HasSubstr("no record has a field \"nope\" (use --field); the records have: id, n, text"));
  options.fields = {"text"};
  std::ofstream(path("in.jsonl")) << "{\"text\nnothing\n";
  EXPECT_THAT(run(options).error().message, HasSubstr("no record could be read"));
}

TEST_F(RunTest, ComponentsSayHowAlikeByTheRightMeasure) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "common" + std::to_string(i) + " ";
  write_corpus({text, text + "one", text + "two"});
  DedupOptions options;
  options.detectors = *parse_detectors("simhash");
  options.grouping = Grouping::kComponents;
  const auto report = run(options);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->removed_by[static_cast<std::size_t>(Method::kSimHash)], 2U);
  EXPECT_THAT(content("out.removed.jsonl"), testing::Not(HasSubstr("\"similarity\":0,")));
}

TEST_F(RunTest, DryRunWritesNothing) {
  write_corpus({"a b c d e f", "a b c d e f"});
  DedupOptions options;
  options.dry_run = true;
  const auto report = run(options);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->removed, 1U);
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_.path()))
    names.push_back(entry.path().filename());
  EXPECT_THAT(names, testing::ElementsAre("in.jsonl"));
}

TEST_F(RunTest, LeavesNothingBehindWhenItFails) {
  std::ofstream(path("in.jsonl")) << "{\"text\": \"fine\"}\n{\"text\": \n";
  const auto report = run({});
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.error().message, HasSubstr("in.jsonl:2"));
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_.path()))
    names.push_back(entry.path().filename());
  EXPECT_THAT(names, testing::ElementsAre("in.jsonl"));
}

TEST_F(RunTest, RefusesToWriteOverAnInput) {
  write_corpus({"a"});
  EXPECT_THAT(run({}, "in.jsonl").error().message, HasSubstr("inputs are never changed"));
  EXPECT_THAT(content("in.jsonl"), HasSubstr("\"a\""));
}

TEST_F(RunTest, ReportsAFileThatLosesMoreThanHalf) {
  write_corpus({"a b c", "a b c", "a b c"});
  const auto report = run({});
  ASSERT_TRUE(report.ok());
  ASSERT_FALSE(report->warnings.empty());
  EXPECT_THAT(report->warnings.front(), HasSubstr("loses 2 of its 3 records"));
}

}  // namespace
}  // namespace kin::dedup
