// A shard that is killed again and again while it is written to and stepped: acknowledged documents
// are found by every leg, deleted ones stay deleted, and all indexes agree with the truth.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <map>
#include <thread>

#include "base/file.h"
#include "base/random.h"
#include "index/graph.h"
#include "index/testing/kill_fixture.h"
#include "index/testing/shard_fixture.h"

namespace kin::index {
namespace {

// Three in four of them exist at any time: enough for vectors to be given cells.
constexpr std::uint32_t kKeys = 3'200;
// One entity in kLookedFor is looked up by every leg; check() covers all.
constexpr std::uint32_t kLookedFor = 40;
constexpr int kUsualCycles = 20;

std::string name_of(std::uint32_t key) {
  return "k" + std::to_string(key);
}
DocId id_of(std::uint32_t key) {
  return doc_id_of("kill", name_of(key));
}
std::string word_of(std::uint32_t key, std::uint64_t round) {
  return "w" + std::to_string(key) + "r" + std::to_string(round);
}
std::vector<float> point_of(std::uint32_t key, std::uint64_t round) {
  return {static_cast<float>(key), static_cast<float>(round % 1'000'000), 1};
}

ShardOptions options() {
  ShardOptions made;
  SpaceOptions given;
  given.space = {.dimension = 3, .distance = Distance::kL2, .storage = RawStorage::kF32};
  SpaceOptions elsewhere = given;
  elsewhere.name = "elsewhere";
  elsewhere.space.storage = RawStorage::kElsewhere;
  SpaceOptions computed = given;
  computed.name = "words";
  computed.origin = VectorOrigin::kComputed;
  computed.source = std::make_shared<HashedWords>(1, 3);
  made.spaces = {given, elsewhere, computed};
  made.cell_size = 8;
  made.near_duplicates = NearDuplicateOptions{.threshold = 0.8};
  return made;
}

// Each part of an entity says in which round it was written.
void add_round(std::uint32_t key, std::uint64_t round, std::vector<Mutation>& mutations) {
  Entity entity;
  entity.id = id_of(key);
  entity.key = name_of(key);
  entity.source = "kill";
  entity.text = word_of(key, round);
  entity.vectors = {{"main", point_of(key, round)}, {"elsewhere", point_of(key, round)}};
  mutations.emplace_back(PutEntity{.entity = entity});
  Edge edge;
  edge.id = {.from = entity.id, .name = "next", .to = id_of((key + 1) % kKeys)};
  edge.weight = static_cast<double>(round);
  edge.summary = "edge" + entity.text;
  mutations.emplace_back(PutEdge{.edge = edge});
  mutations.emplace_back(
      AddFragment{.id = entity.id,
                  .fragment = {.time = static_cast<Millis>(round), .text = "said" + entity.text}});
}

// A line that the child sends before and after a batch.
struct Line {
  std::uint32_t key = 0;
  std::uint64_t round = 0;  // 0: deleted
  std::uint32_t acknowledged = 0;
};

[[noreturn]] void write_until_killed(const std::filesystem::path& folder, int to,
                                     std::uint64_t seed) {
  auto shard = Shard::open(folder, options());
  if (!shard.ok()) _exit(1);
  std::thread stepper([&] {
    Random random(seed + 1);
    for (;;) {
      const auto did = (*shard)->step();
      if (!did.ok()) _exit(2);
      if (random.below(200) == 0 && !(*shard)->checkpoint().ok()) _exit(3);
      if (!did->did_work()) usleep(200);
    }
  });
  Random random(seed);
  const auto tell = [&](const std::vector<Line>& lines) {
    const auto bytes = static_cast<ssize_t>(lines.size() * sizeof(Line));
    if (write(to, lines.data(), static_cast<std::size_t>(bytes)) != bytes) _exit(4);
  };
  for (;;) {
    const std::uint64_t round = (*shard)->view().lsn() + 1;
    std::vector<Mutation> mutations;
    std::map<std::uint32_t, Line> lines;
    for (std::uint64_t i = 5 + random.below(40); i > 0; --i) {
      const auto key = static_cast<std::uint32_t>(random.below(kKeys));
      if (lines.contains(key)) continue;
      const bool removes = random.below(4) == 0;
      if (removes)
        mutations.emplace_back(RemoveEntity{.id = id_of(key)});
      else
        add_round(key, round, mutations);
      lines[key] = {.key = key, .round = removes ? 0 : round};
    }
    std::vector<Line> told;
    for (const auto& [key, line] : lines) told.push_back(line);
    tell(told);
    if (!(*shard)->apply(mutations).ok()) _exit(5);
    for (Line& line : told) line.acknowledged = 1;
    tell(told);
  }
}

// The allowed states of an entity: the last acknowledged round, or a later one in flight.
struct Known {
  std::uint64_t acknowledged = 0;
  std::optional<std::uint64_t> attempted = {};
};

void run_and_kill(const std::filesystem::path& folder, std::uint64_t seed,
                  std::map<std::uint32_t, Known>& known) {
  const auto [child, told] = start_doomed("ShardKilled.DISABLED_WritesUntilKilled", folder, seed);
  Random random(seed);
  std::uint64_t lines = 20 + random.below(3'000);
  bool killed = false;
  Line line;
  while (read(told, &line, sizeof line) == sizeof line) {
    if (line.acknowledged == 1)
      known[line.key] = {.acknowledged = line.round};
    else
      known[line.key].attempted = line.round;
    if (lines-- > 0 || killed) continue;
    // Anywhere within the next batch, or a step.
    usleep(static_cast<useconds_t>(random.below(20'000)));
    kill(child, SIGKILL);
    killed = true;
  }
  close(told);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
}

std::size_t count_texts(const ShardView& view, const std::string& word) {
  const auto parsed = parse_query(word, view.text().options());
  return static_cast<std::size_t>(*view.text().search(*parsed, {.k = 1, .count = true})->count);
}

void expect_everywhere(const ShardView& view, std::uint32_t key, std::uint64_t round,
                       DocNumber number) {
  const std::string word = word_of(key, round);
  for (const std::string& query : {word, "edge" + word, "said" + word})
    EXPECT_EQ(count_texts(view, query), 1U) << query;
  for (const SpaceView& space : view.spaces()) {
    const auto point = space.name == "words" ? *space.source->query(word) : point_of(key, round);
    const VectorSearch how{.k = 1, .rerank = VectorSearch::Rerank::kAlways, .exact = true};
    const auto near = view.nearest(space, point, how);
    ASSERT_TRUE(near.ok()) << near.error().message;
    ASSERT_EQ(near->size(), 1U);
    EXPECT_EQ((*near)[0].id, static_cast<std::uint32_t>(number)) << space.name;
  }
  const auto out = *edges(view.truth(), {.node = id_of(key)});
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].weight, static_cast<double>(round));
}

// Resolves writes in flight: each is there as a whole or not at all.
void check_all(const Shard& shard, std::map<std::uint32_t, Known>& known) {
  const ShardView view = shard.view();
  std::uint64_t there = 0;
  for (auto& [key, one] : known) {
    const auto stored = *view.truth().get(id_of(key), {.vectors = false});
    const std::uint64_t round =
        stored ? std::stoull(stored->entity.text.substr(stored->entity.text.find('r') + 1)) : 0;
    ASSERT_TRUE(round == one.acknowledged || round == one.attempted)
        << name_of(key) << " is of round " << round << ", not " << one.acknowledged;
    one = {.acknowledged = round};
    there += stored ? 1 : 0;
    if (stored && key % kLookedFor == view.lsn() % kLookedFor)
      expect_everywhere(view, key, round, stored->head.number);
  }
  EXPECT_EQ(view.truth().counters().entities, there);
  for (const SpaceView& space : view.spaces())
    EXPECT_EQ(view.nearest(space, point_of(0, 0), {.k = 2 * kKeys, .exact = true})->size(), there);
  const auto report = shard.check();
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->faults, std::vector<std::string>());
}

// Run by the test below, in a process of its own.
TEST(ShardKilled, DISABLED_WritesUntilKilled) {
  const char* folder = std::getenv("KIN_KILL_FOLDER");
  if (folder == nullptr) GTEST_SKIP() << "only as the child of another test";
  write_until_killed(folder, std::stoi(std::getenv("KIN_KILL_TO")),
                     std::stoull(std::getenv("KIN_KILL_SEED")));
}

// KIN_CRASH_CYCLES says how many.
TEST(ShardKilled, KeepsWhatItAcknowledgedInEveryIndexOverManyKills) {
  const char* asked = std::getenv("KIN_CRASH_CYCLES");
  const int cycles = asked != nullptr ? std::stoi(asked) : kUsualCycles;
  const TemporaryFolder folder = std::move(*TemporaryFolder::create());
  const std::filesystem::path path = folder.path() / "shard";
  std::map<std::uint32_t, Known> known;
  for (int cycle = 0; cycle < cycles && !testing::Test::HasFailure(); ++cycle) {
    SCOPED_TRACE("cycle " + std::to_string(cycle));
    run_and_kill(path, static_cast<std::uint64_t>(cycle), known);
    const auto shard = Shard::open(path, options());
    ASSERT_TRUE(shard.ok()) << shard.error().message;
    check_all(**shard, known);
  }
  EXPECT_GT(known.size(), kKeys / 4);
}

}  // namespace
}  // namespace kin::index
