// Runs against references, as a user of the library sees them.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <random>

#include "base/clock.h"
#include "base/file.h"
#include "base/json_writer.h"
#include "data/json_value.h"
#include "dedup/run.h"
#include "sketch/jaccard.h"
#include "sketch/shingles_reference.h"

namespace kin::dedup {
namespace {

using Lines = std::vector<data::JsonValue>;

class AgainstTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  void write(const std::string& name, const std::string& prefix,
             const std::vector<std::string>& texts) const {
    std::ofstream file(path(name));
    for (std::size_t i = 0; i < texts.size(); ++i) {
      JsonWriter json;
      json.begin_object().field("id", prefix + std::to_string(i)).field("text", texts[i]).end();
      file << json.text() << '\n';
    }
  }

  Lines read(const std::string& name) const {
    Lines lines;
    std::ifstream file(path(name));
    for (std::string line; std::getline(file, line);) lines.push_back(*data::parse_json(line));
    return lines;
  }

  Result<DedupReport> run(DedupOptions options) const {
    DedupJob job;
    job.inputs = {path("in.jsonl")};
    job.output = path("out.jsonl");
    job.groups_output = path("groups.jsonl");
    options.against = {path("old.jsonl")};
    options.threads = 2;
    job.options = std::move(options);
    Progress progress;
    return run_dedup(job, progress, system_clock());
  }

  TemporaryFolder folder_ = *TemporaryFolder::create();
};

std::vector<std::string> make_texts(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto word = [&] { return "w" + std::to_string(random() % 3'000); };
  std::vector<std::vector<std::string>> texts;
  while (texts.size() < count) {
    std::vector<std::string> words(20 + random() % 60);
    for (std::string& w : words) w = word();
    if (!texts.empty() && random() % 3 != 0) words = texts[random() % texts.size()];
    for (std::size_t edits = random() % 3; edits > 0; --edits)
      words[random() % words.size()] = word();
    texts.push_back(words);
  }
  std::vector<std::string> joined;
  for (const auto& words : texts) {
    joined.emplace_back();
    for (const std::string& w : words) joined.back() += w + " ";
  }
  return joined;
}

double similarity(const std::string& a, const std::string& b) {
  auto of_a = sketch::shingles_reference(a, {});
  auto of_b = sketch::shingles_reference(b, {});
  sketch::sort_unique(of_a);
  sketch::sort_unique(of_b);
  return sketch::exact_jaccard(of_a, of_b);
}

// References are every third text, so that both sides have the same duplicates.
void split(const std::vector<std::string>& all, std::vector<std::string>& references,
           std::vector<std::string>& inputs) {
  for (std::size_t i = 0; i < all.size(); ++i) (i % 3 == 0 ? references : inputs).push_back(all[i]);
}

class AgainstGrouping : public AgainstTest, public testing::WithParamInterface<Grouping> {};

TEST_P(AgainstGrouping, RemovesDuplicatesOfReferencesAndNothingElseOfThem) {
  std::size_t pairs = 0;
  std::size_t missed = 0;
  std::size_t of_references = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    std::vector<std::string> references;
    std::vector<std::string> inputs;
    split(make_texts(120, seed), references, inputs);
    write("old.jsonl", "old", references);
    write("in.jsonl", "new", inputs);
    DedupOptions options;
    options.grouping = GetParam();
    if (GetParam() != Grouping::kStream) options.keep.kind = KeepPolicy::Kind::kLongest;
    const auto report = run(options);
    ASSERT_TRUE(report.ok()) << report.error().message;
    std::map<std::size_t, data::JsonValue> removed;
    for (const data::JsonValue& line : read("out.removed.jsonl"))
      removed.emplace(static_cast<std::size_t>(*line["row_id"].number()), line);
    EXPECT_EQ(report->documents, inputs.size());
    EXPECT_EQ(report->kept + report->removed, inputs.size());
    EXPECT_EQ(report->against.records, references.size());
    ASSERT_EQ(report->files.size(), 1U);
    EXPECT_EQ(report->files[0].documents, inputs.size());
    const Lines left = read("out.jsonl");
    ASSERT_EQ(left.size(), inputs.size() - removed.size());
    for (const data::JsonValue& line : left) ASSERT_TRUE(line["id"].text().starts_with("new"));
    for (const auto& [row, line] : removed) {
      const auto kept = static_cast<std::size_t>(*line["duplicate_of_row_id"].number());
      const bool reference = *line["duplicate_of_reference"].boolean();
      of_references += reference ? 1 : 0;
      ASSERT_EQ(line["duplicate_of_id"].text(), (reference ? "old" : "new") + std::to_string(kept));
      ASSERT_EQ(line["duplicate_of_file"].text(), path(reference ? "old.jsonl" : "in.jsonl"));
      ASSERT_EQ(line["matched_value"].text(), reference ? references[kept] : inputs[kept]);
      ASSERT_TRUE(reference || !removed.contains(kept));
      if (GetParam() != Grouping::kComponents) {
        ASSERT_GE(similarity(inputs[row], reference ? references[kept] : inputs[kept]), 0.8);
      }
    }
    for (std::size_t row = 0; row < inputs.size(); ++row) {
      for (const std::string& reference : references) {
        if (similarity(inputs[row], reference) < 0.8) continue;
        ++pairs;
        missed += removed.contains(row) ? 0 : 1;
        ASSERT_TRUE(inputs[row] != reference || removed.contains(row));
      }
    }
  }
  EXPECT_GT(of_references, 100U);
  EXPECT_LE(missed * 100, pairs);
}

INSTANTIATE_TEST_SUITE_P(All, AgainstGrouping,
                         testing::Values(Grouping::kStar, Grouping::kComponents, Grouping::kStream),
                         [](const auto& grouping) { return std::string(name_of(grouping.param)); });

TEST_F(AgainstTest, AllDetectorsKeepReferences) {
  std::vector<std::string> references;
  std::vector<std::string> inputs;
  split(make_texts(300, 99), references, inputs);
  write("old.jsonl", "old", references);
  write("in.jsonl", "new", inputs);
  for (const char* by : {"exact", "minhash", "simhash", "chunk", "exact,minhash,simhash,chunk"}) {
    DedupOptions options;
    ASSERT_TRUE(parse_by(by, options).ok());
    options.chunks.size = 64;
    const auto report = run(options);
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_GT(report->against.removed, 0U) << by;
    EXPECT_EQ(report->kept + report->removed, inputs.size()) << by;
    EXPECT_EQ(read("out.jsonl").size(), report->kept) << by;
    for (const data::JsonValue& line : read("out.jsonl"))
      ASSERT_TRUE(line["id"].text().starts_with("new")) << by;
  }
}

TEST_F(AgainstTest, RecordsThatContainAReferenceGoWithTheEvidence) {
  write("old.jsonl", "q",
        {"What is the capital of the old kingdom of Bavaria today", "no hit here"});
  write("in.jsonl", "r",
        {"Some page. What is the capital of the OLD kingdom of Bavaria, today? More text.",
         "Another page that asks what the capital of something is today and tomorrow"});
  DedupOptions options;
  options.contains = 0.8;
  const auto report = run(options);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->kept, 1U);
  EXPECT_EQ(report->contained(), 1U);
  const Lines log = read("out.removed.jsonl");
  ASSERT_EQ(log.size(), 1U);
  EXPECT_EQ(log[0]["id"].text(), "r0");
  EXPECT_EQ(log[0]["duplicate_of_id"].text(), "q0");
  EXPECT_EQ(*log[0]["similarity"].number(), 1.0);
  EXPECT_EQ(log[0]["method"].text(), "contains");
  EXPECT_EQ(log[0]["passage"].text(), "what is the capital of the old kingdom of bavaria today");
}

}  // namespace
}  // namespace kin::dedup
