// Power cuts and failing calls at every step of small runs of a shard: writes, background steps,
// checkpoints. Acknowledged documents are found by every leg, deleted ones stay deleted, and all
// indexes agree with the truth.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>

#include "base/testing/manual_clock.h"
#include "index/graph.h"
#include "index/testing/shard_fixture.h"
#include "kv/testing/threaded_durability.h"

namespace kin::index {
namespace {

using Engine = kv::StoreOptions::Engine;

constexpr std::uint64_t kKeys = 11;

std::string key_of(std::uint64_t key) {
  return "k" + std::to_string(key);
}
DocId id_of(const std::string& key) {
  return doc_id_of("test", key);
}
std::string word_of(std::uint64_t key, std::uint64_t round) {
  return "w" + std::to_string(key) + "r" + std::to_string(round);
}
std::vector<float> point_of(std::uint64_t key, std::uint64_t round) {
  return {static_cast<float>(key), static_cast<float>(round), 1, 0};
}

bool removes(std::uint64_t round) {
  return round % 4 == 0;
}
bool is_synced(std::uint64_t round) {
  return round % 3 != 1;
}
bool has_checkpoint(std::uint64_t round) {
  return round % 5 == 0;
}

// The changes of a round; each part of an entity says in which round it was written.
std::vector<Mutation> mutations_of(std::uint64_t round) {
  std::vector<Mutation> mutations;
  const std::uint64_t key = round % kKeys;
  Entity entity;
  entity.id = id_of(key_of(key));
  entity.key = key_of(key);
  entity.source = "test";
  entity.text = word_of(key, round);
  entity.vectors = {{"main", point_of(key, round)}};
  mutations.emplace_back(PutEntity{.entity = entity});
  Edge edge;
  edge.id = {.from = entity.id, .name = "next", .to = id_of(key_of((key + 1) % kKeys))};
  edge.weight = static_cast<double>(round);
  mutations.emplace_back(PutEdge{.edge = edge});
  mutations.emplace_back(
      AddFragment{.id = entity.id,
                  .fragment = {.time = static_cast<Millis>(round), .text = "said" + entity.text}});
  if (removes(round)) mutations.emplace_back(RemoveEntity{.id = id_of(key_of((key + 5) % kKeys))});
  Entity last;
  last.id = id_of("last");
  last.key = "last";
  last.text = std::to_string(round);
  mutations.emplace_back(PutEntity{.entity = last});
  return mutations;
}

// The round of each entity after `rounds` rounds.
std::map<std::uint64_t, std::uint64_t> state_after(std::uint64_t rounds) {
  std::map<std::uint64_t, std::uint64_t> state;
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    state[round % kKeys] = round;
    if (removes(round)) state.erase((round % kKeys + 5) % kKeys);
  }
  return state;
}

std::size_t count_texts(const ShardView& view, const std::string& word) {
  const auto parsed = parse_query(word, view.text().options());
  return static_cast<std::size_t>(*view.text().search(*parsed, {.k = 1, .count = true})->count);
}

class ShardUnderTest final : public StoreUnderTest {
 public:
  explicit ShardUnderTest(Engine engine) : engine_(engine) {}
  ShardUnderTest(const ShardUnderTest& other)
      : engine_(other.engine_),
        acknowledged_(other.acknowledged_.load()),
        attempted_(other.attempted_.load()) {}

  Status open(SimulatedDisk& disk) override {
    ShardOptions options;
    options.spaces = {
        {.name = "main",
         .space = {.dimension = 4, .distance = Distance::kL2, .storage = RawStorage::kF32}}};
    options.cell_size = 8;
    options.near_duplicates = NearDuplicateOptions{.threshold = 0.8};
    options.truth.block_cache_bytes = 1 << 16;
    options.truth.engine = engine_;
    options.truth.disk = &disk;
    options.truth.clock = &clock_;
    options.truth.log_bytes = 20'000;
    KIN_TRY(shard_, Shard::open("/shard", std::move(options)));
    refuses_ = false;
    KIN_RETURN_IF_ERROR(build_spaces());
    expect_kept();
    return Done{};
  }
  bool is_open() const override { return shard_ != nullptr; }
  Shard& shard() { return *shard_; }

  // A round has about five changes.
  Status write_on(std::uint64_t count) override {
    const std::uint64_t end = position_ + count / 5 + 1;
    while (position_ < end || !is_synced(position_)) {
      const std::uint64_t round = position_ + 1;
      attempted_ = std::max(attempted_.load(), round);
      const auto applied = shard_->apply(mutations_of(round), {.sync = is_synced(round)});
      refuses_ = !applied.ok();
      if (!applied.ok()) return applied.error();
      position_ = round;
      if (is_synced(round)) acknowledged_ = std::max(acknowledged_.load(), round);
      const auto stepped = shard_->step();
      if (!stepped.ok()) return stepped.error();
      if (has_checkpoint(round)) KIN_RETURN_IF_ERROR(shard_->checkpoint());
    }
    return Done{};
  }

  Status close() override {
    const Status closed = shard_->close();
    shard_.reset();
    return closed;
  }
  void drop() override { shard_.reset(); }
  void expect_kept() override;
  std::optional<Hash128> expected() const override {
    return hash128(fmt::format("{} {}", acknowledged_.load(), attempted_.load()));
  }

  // Reads still work; writes are refused.
  void expect_after(const Error&) override {
    if (!refuses_) return;
    EXPECT_FALSE(shard_->apply(mutations_of(position_ + 1)).ok());
    expect_state(position_);
  }

  std::unique_ptr<StoreUnderTest> after_crash() const override {
    return std::make_unique<ShardUnderTest>(*this);
  }

 private:
  Status build_spaces();
  void expect_state(std::uint64_t rounds) const;
  void expect_entity(const ShardView& view, std::uint64_t key, std::uint64_t round) const;

  Engine engine_;
  ManualClock clock_;  // without its pauses after failures RocksDB needs little time
  std::unique_ptr<Shard> shard_;
  std::uint64_t position_ = 0;  // rounds that the open shard holds
  bool refuses_ = false;        // a write failed
  std::atomic<std::uint64_t> acknowledged_ = 0;
  std::atomic<std::uint64_t> attempted_ = 0;
};

// A space whose checkpoint was lost is built again in the background.
Status ShardUnderTest::build_spaces() {
  while (shard_->stats().spaces[0].building < 1) {
    const auto stepped = shard_->step();
    if (!stepped.ok()) return stepped.error();
  }
  return Done{};
}

void ShardUnderTest::expect_kept() {
  const auto last = shard_->view().truth().get(id_of("last"));
  ASSERT_TRUE(last.ok()) << last.error().message;
  position_ = *last ? std::stoull((*last)->entity.text) : 0;
  ASSERT_GE(position_, acknowledged_) << "acknowledged rounds are lost";
  // A thread of RocksDB may see the disk while the next round begins.
  ASSERT_LE(position_, attempted_ + (engine_ == Engine::kLog ? 0 : 2));
  attempted_ = std::max(attempted_.load(), position_);
  expect_state(position_);
  const auto report = shard_->check();
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->faults, std::vector<std::string>());
}

void ShardUnderTest::expect_entity(const ShardView& view, std::uint64_t key,
                                   std::uint64_t round) const {
  const auto stored = view.truth().get(id_of(key_of(key)));
  ASSERT_TRUE(stored.ok()) << stored.error().message;
  ASSERT_TRUE(stored->has_value()) << key_of(key) << " is lost";
  EXPECT_EQ((*stored)->entity.text, word_of(key, round));
  for (const std::string& word : {word_of(key, round), "said" + word_of(key, round)})
    EXPECT_EQ(count_texts(view, word), 1U) << word;
  const VectorSearch how{.k = 1, .rerank = VectorSearch::Rerank::kAlways, .exact = true};
  const auto near = view.nearest(view.spaces()[0], point_of(key, round), how);
  ASSERT_TRUE(near.ok()) << near.error().message;
  ASSERT_EQ(near->size(), 1U);
  EXPECT_EQ((*near)[0].id, static_cast<std::uint32_t>((*stored)->head.number));
}

void ShardUnderTest::expect_state(std::uint64_t rounds) const {
  const ShardView view = shard_->view();
  const auto state = state_after(rounds);
  EXPECT_EQ(view.truth().counters().entities, state.size() + (rounds > 0 ? 1 : 0));
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    const auto there = state.find(key);
    if (there != state.end()) {
      expect_entity(view, key, there->second);
    } else {
      EXPECT_FALSE(view.truth().get(id_of(key_of(key)))->has_value()) << key_of(key) << " is back";
    }
  }
  // Words of rounds that were overwritten or removed.
  for (std::uint64_t round = rounds > 20 ? rounds - 20 : 1; round <= rounds; ++round) {
    const auto there = state.find(round % kKeys);
    if (there != state.end() && there->second == round) continue;
    EXPECT_EQ(count_texts(view, word_of(round % kKeys, round)), 0U);
  }
}

std::unique_ptr<StoreUnderTest> fresh(Engine engine) {
  return std::make_unique<ShardUnderTest>(engine);
}

TEST(ShardDurability, AcknowledgedRoundsSurviveAPowerCutAtEveryStep) {
  Durability(fresh(Engine::kLog)).cut_power_at_every_step(120);
}

TEST(ShardDurability, ASecondRunSurvivesAPowerCutAtEveryStep) {
  Durability(fresh(Engine::kLog)).cut_power_at_every_step_of_a_second_run(60, 25);
}

TEST(ShardDurability, EveryCallMayFail) {
  Durability(fresh(Engine::kLog)).fail_every_call({}, 30);
}

TEST(ShardDurability, TheDiskMayDieAtEveryCall) {
  Durability(fresh(Engine::kLog)).fail_every_call({.for_good = true}, 30);
}

TEST(ShardDurability, ACheckpointThatFailedIsWrittenByTheNext) {
  for (const Engine engine : {Engine::kLog, Engine::kRocksDb}) {
    SimulatedDisk disk;
    ShardUnderTest shard(engine);
    ASSERT_TRUE(shard.open(disk).ok());
    ASSERT_TRUE(shard.write_on(10).ok());
    disk.fail(
        SimulatedDisk::Fault{.only = SimulatedDisk::Operation::kSync, .error_number = ENOSPC});
    ASSERT_FALSE(shard.shard().checkpoint().ok());
    const Lsn last = shard.shard().stats().last_lsn;
    ASSERT_LT(shard.shard().stats().checkpoint_lsn, last);
    const Status written = shard.shard().checkpoint();
    ASSERT_TRUE(written.ok()) << written.error().message;
    EXPECT_EQ(shard.shard().stats().checkpoint_lsn, last);
    ASSERT_TRUE(shard.write_on(10).ok());
    const auto again = shard.after_crash();
    shard.drop();
    ASSERT_TRUE(again->open(disk).ok());
  }
}

TEST(ShardDurability, AFailedReadIsAnErrorAndNeverAnAnswer) {
  SimulatedDisk disk;
  ShardUnderTest written(Engine::kLog);
  ASSERT_TRUE(written.open(disk).ok());
  ASSERT_TRUE(written.write_on(60).ok());
  bool struck = true;
  std::uint64_t strikes = 0;
  for (std::uint64_t k = 1; struck && !HasFailure(); ++k) {
    SCOPED_TRACE("read " + std::to_string(k) + " fails");
    const auto copy = disk.power_cut({UnsyncedBytes::kKept, UnsyncedNames::kKept});
    const auto again = written.after_crash();
    copy->fail(SimulatedDisk::Fault{.nth = k, .only = SimulatedDisk::Operation::kRead});
    const Status opened = again->open(*copy);
    struck = copy->failures() > 0;
    strikes += struck ? 1 : 0;
    copy->fail(std::nullopt);
    again->drop();
    EXPECT_TRUE(written.after_crash()->open(*copy).ok());
    EXPECT_TRUE(struck || opened.ok());
  }
  EXPECT_GT(strikes, 0U);
}

TEST(ShardDurability, OnRocksDbAcknowledgedRoundsSurviveAPowerCutAtEveryStep) {
  kv::ThreadedDurability(fresh(Engine::kRocksDb), kv::ordered_cuts())
      .cut_power_at_every_step(25, 1);
}

TEST(ShardDurability, OnRocksDbEveryCallMayFail) {
  kv::ThreadedDurability(fresh(Engine::kRocksDb), kv::ordered_cuts()).fail_every_call({}, 10, 1);
}

}  // namespace
}  // namespace kin::index
