#include "dedup/ingest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/testing/manual_clock.h"
#include "data/json_value.h"
#include "store/local_stores.h"

namespace kin::dedup {
namespace {

using testing::ElementsAre;

constexpr std::string_view kTides =
    "The tides of the inner sea are small, because the straits let little of the water pass in or "
    "out within the few hours that a tide lasts, and the wind moves more water than the moon does.";

std::string other_text(int number) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "word" + std::to_string(number * 1000 + i) + " ";
  return text;
}

class IngestTest : public testing::Test {
 protected:
  void SetUp() override { open(); }

  void open() {
    fingerprints_.reset();
    ledger_.reset();
    store::LocalStoreOptions where;
    where.clock = &clock_;
    where.memory_bytes = 16 << 20;
    where.folder = folder_.path() / "fingerprints";
    fingerprints_ = *store::open_local_fingerprints(where, fingerprint_parameters(options_));
    where.folder = folder_.path() / "ledger";
    ledger_ = *store::open_local_ledger(where);
  }

  struct Record {
    std::string id;
    std::string text;
    std::string source = "web";
    std::string type = "page";
  };
  std::string write(const std::string& name, const std::vector<Record>& records) {
    std::string lines;
    for (const Record& record : records) {
      lines += R"({"id":")" + record.id + R"(","text":")" + record.text + R"(","source":")" +
               record.source + R"(","type":")" + record.type + "\"}\n";
    }
    const auto path = folder_.path() / name;
    EXPECT_TRUE(write_file_atomically(path, lines).ok());
    return path.string();
  }
  IngestReport run(const std::string& run, const std::string& input,
                   const std::string& worker = "w") {
    IngestJob job;
    job.dedup.inputs = {input};
    job.dedup.output = folder_.path() / ("out-" + run + "-" + worker + ".jsonl");
    job.dedup.options = options_;
    job.run = run;
    job.worker = worker;
    job.type_column = "type";
    job.priorities = priorities_;
    Progress progress;
    auto report = run_ingest(job, {*fingerprints_, *ledger_}, progress, clock_);
    EXPECT_TRUE(report.ok()) << report.error().message;
    return report.ok() ? *report : IngestReport{};
  }
  // The ids of the kept records.
  std::vector<std::string> kept(const std::string& run, const std::string& worker = "w") {
    return ids(folder_.path() / ("out-" + run + "-" + worker + ".jsonl"), "id");
  }
  std::vector<std::string> ids(const std::filesystem::path& path, std::string_view field) {
    std::vector<std::string> found;
    for (const data::JsonValue& line : lines_of(path)) found.emplace_back(line[field].text());
    return found;
  }
  std::vector<data::JsonValue> lines_of(const std::filesystem::path& path) {
    std::vector<data::JsonValue> lines;
    const std::string bytes = *read_file(path);
    std::size_t at = 0;
    while (at < bytes.size()) {
      const std::size_t end = bytes.find('\n', at);
      lines.push_back(*data::parse_json(bytes.substr(at, end - at)));
      at = end + 1;
    }
    return lines;
  }
  std::vector<data::JsonValue> log(const std::string& run, const std::string& worker = "w") {
    return lines_of(folder_.path() / ("out-" + run + "-" + worker + ".removed.jsonl"));
  }

  TemporaryFolder folder_ = *TemporaryFolder::create();
  ManualClock clock_;
  DedupOptions options_;
  Priorities priorities_;
  std::unique_ptr<store::FingerprintStore> fingerprints_;
  std::unique_ptr<store::Ledger> ledger_;
};

TEST_F(IngestTest, KeepsOneOfEachTextWithinARunAndAcrossRuns) {
  const std::string edited = std::string(kTides) + " So they say.";
  const auto first = run("monday", write("a.jsonl", {{"1", std::string(kTides)},
                                                     {"2", std::string(kTides)},
                                                     {"3", edited},
                                                     {"4", other_text(4)}}));
  EXPECT_THAT(kept("monday"), ElementsAre("1", "4"));
  EXPECT_EQ(first.count(Action::kDrop), 2U);
  EXPECT_EQ(first.dropped_by[static_cast<std::size_t>(Method::kExact)], 1U);
  EXPECT_EQ(first.dropped_by[static_cast<std::size_t>(Method::kMinHash)], 1U);
  const auto second =
      run("tuesday", write("b.jsonl", {{"5", edited, "books"}, {"6", other_text(6)}}));
  EXPECT_THAT(kept("tuesday"), ElementsAre("6"));
  EXPECT_EQ(second.cross_source, 1U);
  const auto lines = log("tuesday");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["action"].text(), "drop");
  EXPECT_EQ(lines[0]["existing"].items()[0]["id"].text(), "1");
  EXPECT_EQ(lines[0]["existing"].items()[0]["source"].text(), "web");
  EXPECT_GE(*lines[0]["existing"].items()[0]["similarity"].number(), 0.8);
}

TEST_F(IngestTest, EveryDecisionIsInTheLedger) {
  run("monday", write("a.jsonl", {{"1", std::string(kTides)}, {"2", std::string(kTides)}}));
  const auto page = *ledger_->list_by_run("monday", {});
  ASSERT_EQ(page.entries.size(), 2U);
  const std::vector<DocId> docs = {doc_id_of("web", "1"), doc_id_of("web", "2")};
  const auto entries = *ledger_->was_processed(docs);
  EXPECT_EQ(entries[0]->outcome, store::Outcome::kAccepted);
  EXPECT_EQ(entries[1]->outcome, store::Outcome::kRejected);
  EXPECT_EQ(entries[1]->duplicate_of, docs[0]);
  EXPECT_EQ(entries[1]->reason, "the same text as web/1");
  EXPECT_EQ(entries[1]->version, version_of(fingerprints_->parameters()));
}

TEST_F(IngestTest, DocumentsThatAnotherRunProcessedAreSkipped) {
  const std::string input = write("a.jsonl", {{"1", other_text(1)}, {"2", other_text(2)}});
  run("monday", input);
  const auto again = run("tuesday", input);
  EXPECT_EQ(again.count(Action::kSkip), 2U);
  EXPECT_THAT(kept("tuesday"), ElementsAre());
  EXPECT_EQ(log("tuesday")[0]["reason"].text(), "processed by run monday");
}

TEST_F(IngestTest, ARunThatIsRepeatedAddsNothingAndGivesTheSameOutput) {
  const std::string input = write("a.jsonl", {{"1", std::string(kTides)},
                                              {"2", std::string(kTides)},
                                              {"1", other_text(1)},
                                              {"3", other_text(3)}});
  run("monday", input);
  const std::string before = *read_file(folder_.path() / "out-monday-w.jsonl");
  const auto log_before = log("monday");
  open();
  const auto again = run("monday", input);
  EXPECT_EQ(*read_file(folder_.path() / "out-monday-w.jsonl"), before);
  EXPECT_EQ(again.repeated, 3U);
  const auto log_after = log("monday");
  ASSERT_EQ(log_after.size(), log_before.size());
  const auto existing = [](const std::vector<data::JsonValue>& lines, std::string_view field) {
    return lines[0]["existing"].items()[0][field].text();
  };
  for (const char* field : {"doc", "id", "source", "method"})
    EXPECT_EQ(existing(log_after, field), existing(log_before, field)) << field;
  EXPECT_EQ(again.count(Action::kSkip), 1U);
  EXPECT_EQ(fingerprints_->stats()->documents, 2U);
  EXPECT_EQ(ledger_->list_by_run("monday", {})->entries.size(), 3U);
}

// The store has the document and the ledger does not: the state after a kill between the two.
TEST_F(IngestTest, ADocumentThatWasAdmittedAndNotRecordedIsKeptByItsRun) {
  const std::string input = write("a.jsonl", {{"1", std::string(kTides)}, {"2", other_text(2)}});
  run("monday", input);
  ledger_.reset();
  std::filesystem::remove_all(folder_.path() / "ledger");
  open();
  const auto again = run("monday", input);
  EXPECT_THAT(kept("monday"), ElementsAre("1", "2"));
  EXPECT_EQ(again.count(Action::kKeep), 2U);
  ledger_.reset();
  std::filesystem::remove_all(folder_.path() / "ledger");
  open();
  EXPECT_EQ(run("tuesday", input).count(Action::kSkip), 2U) << "another run had it";
}

// Sixty words, of which one is changed.
std::string words_but(std::size_t changed) {
  std::string words;
  for (std::size_t i = 0; i < 60; ++i)
    words += (i == changed ? "other" : "word") + std::to_string(i) + " ";
  return words;
}

TEST_F(IngestTest, ARecordThatWentIsNotLikenedToLaterOnesWhenItIsDecidedAgain) {
  // The second is like both others, which are not like each other; it is more like the third.
  const std::string input = write("a.jsonl", {{"1", words_but(10) + "end"},
                                              {"2", words_but(60)},
                                              {"3", words_but(57)},
                                              {"4", words_but(60)}});
  run("monday", input);
  EXPECT_THAT(kept("monday"), ElementsAre("1", "3"));
  const auto log_of = [&] { return *read_file(folder_.path() / "out-monday-w.removed.jsonl"); };
  const std::string before = log_of();
  ledger_.reset();
  std::filesystem::remove_all(folder_.path() / "ledger");
  open();
  run("monday", input);
  EXPECT_THAT(kept("monday"), ElementsAre("1", "3"));
  EXPECT_EQ(log_of(), before);
}

TEST_F(IngestTest, APreferredSourceOrTypeIsKeptAlthoughAlike) {
  priorities_.sources = {"books", "web"};
  priorities_.types = {"article"};
  run("monday", write("a.jsonl", {{"1", std::string(kTides), "web"}}));
  const auto report =
      run("tuesday", write("b.jsonl", {{"2", std::string(kTides), "blog"},
                                       {"3", std::string(kTides), "books"},
                                       {"4", std::string(kTides), "blog", "article"}}));
  EXPECT_THAT(kept("tuesday"), ElementsAre("3", "4"));
  EXPECT_EQ(report.preferred, 2U);
  EXPECT_EQ(report.count(Action::kDrop), 1U);
}

TEST_F(IngestTest, SharedChunksLinkAndNeverDrop) {
  options_.detectors.chunk = true;
  options_.chunks.size = 64;
  std::filesystem::remove_all(folder_.path() / "fingerprints");
  open();
  const std::string shared = std::string(kTides).substr(0, 128);
  run("monday", write("a.jsonl", {{"1", shared + other_text(1)}}));
  const auto report = run("tuesday", write("b.jsonl", {{"2", shared + other_text(2)}}));
  EXPECT_THAT(kept("tuesday"), ElementsAre("2"));
  EXPECT_EQ(report.count(Action::kKeepLink), 1U);
  EXPECT_EQ(report.reused_chunks, 2U);
  const auto lines = log("tuesday");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["action"].text(), "keep_link");
  EXPECT_EQ(lines[0]["existing"].items()[0]["method"].text(), "chunk");
  EXPECT_EQ(lines[0]["chunks"].items().size(), 2U);
  const auto repeated = run("tuesday", (folder_.path() / "b.jsonl").string());
  EXPECT_EQ(repeated.repeated, 1U);
  EXPECT_EQ(repeated.count(Action::kKeepLink), 1U);
}

TEST_F(IngestTest, RecordsWithoutTextAreKeptAndComparedWithNothing) {
  const auto path = folder_.path() / "a.jsonl";
  ASSERT_TRUE(write_file_atomically(path,
                                    "{\"id\":\"1\",\"text\":\"\"}\n{\"id\":\"2\",\"text\":null}\n"
                                    "{\"id\":\"3\",\"text\":\"  \"}\n{\"text\":\"words\"}\n")
                  .ok());
  const auto report = run("monday", path.string());
  EXPECT_EQ(report.count(Action::kKeep), 4U);
  EXPECT_EQ(report.without_text, 3U);
  EXPECT_EQ(fingerprints_->stats()->documents, 1U);
}

TEST_F(IngestTest, SimHashesAreComparedAlsoWithinABatch) {
  options_.detectors = {.exact = false, .minhash = false, .simhash = true, .chunk = false};
  std::filesystem::remove_all(folder_.path() / "fingerprints");
  open();
  std::string long_text;
  for (int i = 0; i < 20; ++i) long_text += other_text(i);
  const auto report = run(
      "monday",
      write("a.jsonl", {{"1", long_text}, {"2", long_text + " and more"}, {"3", other_text(99)}}));
  EXPECT_THAT(kept("monday"), ElementsAre("1", "3"));
  EXPECT_EQ(report.dropped_by[static_cast<std::size_t>(Method::kSimHash)], 1U);
}

// A store in which another worker admits a document just before the first admission.
class RacingStore final : public store::FingerprintStore {
 public:
  RacingStore(store::FingerprintStore& inner, std::function<void()> race)
      : inner_(inner), race_(std::move(race)) {}
  const store::FingerprintParameters& parameters() const override { return inner_.parameters(); }
  Result<store::Found> find(std::span<const store::Fingerprint> batch) override {
    return inner_.find(batch);
  }
  Result<std::vector<std::optional<store::Fingerprint>>> get(std::span<const DocId> ids) override {
    return inner_.get(ids);
  }
  Result<std::vector<store::Admission>> admit(std::span<const store::Fingerprint> batch,
                                              const store::Found& found,
                                              std::span<const std::size_t> chosen,
                                              const store::Judge& judge) override {
    if (race_) std::exchange(race_, nullptr)();
    return inner_.admit(batch, found, chosen, judge);
  }
  Status each(const Visit& visit) override { return inner_.each(visit); }
  Result<store::FingerprintStats> stats() override { return inner_.stats(); }
  Result<std::vector<std::string>> check() override { return inner_.check(); }

 private:
  store::FingerprintStore& inner_;
  std::function<void()> race_;
};

TEST_F(IngestTest, WhatWentForARecordThatLosesARaceIsDecidedAgain) {
  // The rival is like both records, which are not like each other.
  const std::string rival = write("rival.jsonl", {{"rival", words_but(10)}});
  RacingStore racing(*fingerprints_, [&] { run("theirs", rival); });
  IngestJob job;
  job.dedup.inputs = {write("a.jsonl", {{"1", words_but(99)}, {"2", words_but(40)}})};
  job.dedup.output = folder_.path() / "out-mine-w.jsonl";
  job.dedup.options = options_;
  job.run = "mine";
  job.worker = "w";
  Progress progress;
  const auto report = run_ingest(job, {racing, *ledger_}, progress, clock_);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_THAT(kept("theirs"), ElementsAre("rival"));
  EXPECT_THAT(kept("mine"), ElementsAre("2"));
  EXPECT_EQ(report->lost_races, 1U);
  EXPECT_EQ(report->count(Action::kDrop), 1U);
}

TEST(Decide, TheMostAlikeMatchDecidesAndIsNamed) {
  store::Fingerprint record;
  record.source = "web";
  const Rival near{{doc_id_of("s", "a"), "a", "s", Method::kMinHash, 0.91}, ""};
  const Rival chunk{{doc_id_of("s", "b"), "b", "s", Method::kChunk, 0.5}, ""};
  const std::vector<Rival> both = {near, chunk};
  const Decision dropped = decide(record, both, {3}, {});
  EXPECT_EQ(dropped.action, Action::kDrop);
  EXPECT_EQ(dropped.reason, "0.910 alike s/a");
  EXPECT_THAT(dropped.chunks, ElementsAre(3));
  EXPECT_EQ(dropped.existing.size(), 2U);
  EXPECT_EQ(decide(record, std::span(&chunk, 1), {3}, {}).action, Action::kKeepLink);
  EXPECT_EQ(decide(record, {}, {}, {}), Decision{});
}

}  // namespace
}  // namespace kin::dedup
