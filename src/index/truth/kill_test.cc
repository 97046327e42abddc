// A process is killed in the middle of batches: acknowledged batches are there as a whole, and all
// rows agree with each other.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <set>

#include "base/file.h"
#include "base/random.h"
#include "index/graph.h"
#include "index/testing/kill_fixture.h"
#include "index/truth/truth.h"

namespace kin::index {
namespace {

constexpr std::uint64_t kKeys = 400;
constexpr int kCycles = 60;

DocId id_of(std::uint64_t key) {
  return doc_id_of("kill", std::to_string(key));
}

// Every entity carries its round in its text, vector, summary, fragment and the weights of its two
// edges.
void add_round(std::uint64_t key, std::uint64_t round, std::vector<Mutation>& mutations) {
  const std::string text = std::to_string(round);
  Entity entity;
  entity.id = id_of(key);
  entity.key = std::to_string(key);
  entity.source = "kill";
  entity.text = text;
  entity.vectors = {{"words", std::vector<float>(100, static_cast<float>(round))}};
  entity.summaries = {"summary " + text};
  mutations.emplace_back(
      PutEntity{.entity = entity, .partition = PartitionId{static_cast<std::uint32_t>(round % 7)}});
  for (std::uint64_t step = 1; step <= 2; ++step) {
    Edge edge;
    edge.id = {.from = id_of(key), .name = "next", .to = id_of((key + step) % kKeys)};
    edge.weight = static_cast<double>(round);
    edge.summary = "edge " + text;
    mutations.emplace_back(PutEdge{.edge = edge});
  }
  mutations.emplace_back(
      AddFragment{.id = entity.id, .fragment = {static_cast<Millis>(round), text}});
}

// Until it is killed: writes or removes entities in batches, and acknowledges each batch on `to`
// with the LSN that it made durable.
[[noreturn]] void write_until_killed(const std::filesystem::path& folder, int to,
                                     std::uint64_t seed) {
  auto truth = Truth::open(folder, {});
  if (!truth.ok()) _exit(1);
  Random random(seed);
  for (;;) {
    const std::uint64_t round = (*truth)->last_lsn() + 1;
    std::vector<Mutation> mutations;
    for (std::uint64_t i = 5 + random.below(40); i > 0; --i) {
      const std::uint64_t key = random.below(kKeys);
      if (random.below(4) == 0) {
        mutations.emplace_back(RemoveEntity{.id = id_of(key)});
      } else {
        add_round(key, round, mutations);
      }
    }
    const auto applied = (*truth)->apply(mutations);
    if (!applied.ok()) _exit(2);
    if (random.below(20) == 0 && !(*truth)->flush().ok()) _exit(3);
    const Lsn durable = applied->last;
    if (write(to, &durable, sizeof durable) != sizeof durable) _exit(4);
  }
}

// The last LSN acknowledged by a child that was killed after some of them.
Lsn run_and_kill(const std::filesystem::path& folder, std::uint64_t seed) {
  const auto [child, told] = start_doomed("TruthKilled.DISABLED_WritesUntilKilled", folder, seed);
  Random random(seed);
  Lsn acknowledged = 0;
  Lsn lsn = 0;
  std::uint64_t batches = random.below(12);
  bool killed = false;
  while (read(told, &lsn, sizeof lsn) == sizeof lsn) {
    acknowledged = lsn;
    if (batches-- > 0 || killed) continue;
    // Anywhere within the next batch.
    usleep(static_cast<useconds_t>(random.below(4'000)));
    kill(child, SIGKILL);
    killed = true;
  }
  close(told);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  return acknowledged;
}

void check_entity(const TruthView& view, const StoredEntity& stored) {
  const Entity& entity = stored.entity;
  const double round = std::stod(entity.text);
  ASSERT_EQ(entity.vectors.size(), 1U);
  ASSERT_EQ(entity.vectors[0].values, std::vector<float>(100, static_cast<float>(round)));
  ASSERT_EQ(entity.summaries, std::vector<std::string>{"summary " + entity.text});
  const auto out = *edges(view, {.node = entity.id});
  ASSERT_EQ(out.size(), 2U);
  for (const GraphEdge& edge : out) {
    ASSERT_EQ(edge.weight, round);
    ASSERT_EQ((*view.edge(edge.id))->edge.summary, "edge " + entity.text);
  }
  const auto fragments = *view.fragments(entity.id, FragmentRange{});
  ASSERT_FALSE(fragments.empty());
  ASSERT_EQ(fragments.back().fragment.text, entity.text);
}

// Forward and reverse edges agree, and document numbers lead to the things that have them.
void check_graph(const TruthView& view) {
  std::set<std::string> forward;
  std::uint64_t numbered = view.counters().entities + view.counters().fragments;
  for (kv::Cursor at = view.rows(kForwardEdgesFamily); at.valid(); at.next()) {
    const EdgeRow row = *decode_edge(at.value());
    if (row.deleted) continue;
    forward.insert(reverse_key(*decode_forward_key(at.key())));
    numbered += row.summary ? 1 : 0;
  }
  std::set<std::string> reverse;
  for (kv::Cursor at = view.rows(kReverseEdgesFamily); at.valid(); at.next())
    reverse.emplace(at.key());
  ASSERT_EQ(forward, reverse);
  ASSERT_EQ(forward.size(), view.counters().edges);
  std::uint64_t documents = 0;
  for (kv::Cursor at = view.rows(kDocumentsFamily); at.valid(); at.next()) {
    const auto document = *view.document(*decode_document_key(at.key()));
    ASSERT_TRUE(document);
    ++documents;
  }
  ASSERT_EQ(documents, numbered);
}

// The changelog has every LSN once, and agrees with the stored entities.
void check_changelog(const TruthView& view, const std::map<DocId, DocNumber>& there) {
  std::map<DocId, DocNumber> told;
  Lsn last = 0;
  for (;;) {
    const ChangesPage page = *view.changes({.after = last});
    if (page.changes.empty()) break;
    for (const Change& change : page.changes) {
      ASSERT_EQ(change.lsn, ++last);
      if (change.kind == ChangeKind::kEntityPut) told[change.id] = change.number;
      if (change.kind == ChangeKind::kEntityRemoved) told.erase(change.id);
    }
  }
  ASSERT_EQ(last, view.lsn());
  ASSERT_EQ(told, there);
}

void check_all(const Truth& truth) {
  const TruthView view = std::move(*truth.view());
  std::map<DocId, DocNumber> there;
  std::optional<DocNumber> after;
  do {
    const ScanPage page = *view.scan({.after = after, .limit = 100});
    for (const StoredEntity& stored : page.entities) {
      there.emplace(stored.entity.id, stored.head.number);
      check_entity(view, stored);
    }
    after = page.next;
  } while (after);
  ASSERT_EQ(there.size(), view.counters().entities);
  check_graph(view);
  check_changelog(view, there);
}

// Run by the test below, in a process of its own.
TEST(TruthKilled, DISABLED_WritesUntilKilled) {
  const char* folder = std::getenv("KIN_KILL_FOLDER");
  if (folder == nullptr) GTEST_SKIP() << "only as the child of another test";
  write_until_killed(folder, std::stoi(std::getenv("KIN_KILL_TO")),
                     std::stoull(std::getenv("KIN_KILL_SEED")));
}

TEST(TruthKilled, KeepsWhatItAcknowledgedWholeOverManyKills) {
  const TemporaryFolder folder = std::move(*TemporaryFolder::create());
  const std::filesystem::path path = folder.path() / "truth";
  Lsn total = 0;
  for (int cycle = 0; cycle < kCycles && !testing::Test::HasFatalFailure(); ++cycle) {
    const Lsn acknowledged = run_and_kill(path, static_cast<std::uint64_t>(cycle));
    const auto truth = Truth::open(path, {});
    ASSERT_TRUE(truth.ok());
    ASSERT_GE((*truth)->last_lsn(), acknowledged) << "cycle " << cycle;
    ASSERT_GE(acknowledged, total) << "cycle " << cycle;
    total = acknowledged;
    check_all(**truth);
  }
  EXPECT_GT(total, 1'000U);
}

}  // namespace
}  // namespace kin::index
