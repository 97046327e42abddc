// The seen set against std::unordered_set: random options, random operations, readers on other
// threads.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <unordered_set>

#include "base/file.h"
#include "base/random.h"
#include "base/testing/simulated_disk.h"
#include "store/seen_set.h"
#include "store/testing/seen_check.h"

namespace kin::store {
namespace {

using Mode = SeenOptions::Mode;

// Ids of a set, by number. 0 and the largest number are among them.
SeenId id_of(const SeenSet& set, std::uint64_t n) {
  if (set.kind() == IdKind::kText) return set.id_of("text " + std::to_string(n));
  return SeenId::number(n % 2 == 0 ? n / 2 : ~(n / 2));
}

SeenOptions random_options(Random& random, Disk& disk) {
  SeenOptions options;
  options.kind = random.below(2) == 0 ? IdKind::kNumber : IdKind::kText;
  options.max_memory = kSeenLeastMemory << random.below(4);
  options.expected_ids = random.below(2) * random.below(100'000);
  options.table_ids = 10 + random.below(1000);
  options.piece_ids = 30 + random.below(3000);
  options.background = random.below(2) == 0;
  options.disk = &disk;
  return options;
}

// A set, its model, and operations drawn from a seed.
class SeenModel {
 public:
  SeenModel(std::uint64_t seed, Disk& disk, std::filesystem::path folder)
      : random_(seed),
        options_(random_options(random_, disk)),
        folder_(std::move(folder)),
        universe_(500 + random_.below(20'000)) {}

  void run(int steps) {
    open(Mode::kFresh);
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) step();
    settle();
    expect_same(*set_, model_);
    reopen();
  }

 private:
  void step() {
    switch (random_.below(16)) {
      case 0:
      case 1:
      case 2:
      case 3: return insert_batch(1 + random_.below(random_.below(2) == 0 ? 10 : 2000));
      case 4:
      case 5:
      case 6:
      case 7: return insert_one();
      case 8:
      case 9: return look_up_batch(random_.below(random_.below(2) == 0 ? 10 : 2000));
      case 10:
      case 11: return look_up_one();
      case 12:
      case 13: return commit();
      case 14: return rare_step();
      default: return read_aside();
    }
  }

  void rare_step() {
    switch (random_.below(8)) {
      case 0: return reopen();
      case 1: return flush();
      case 2: return settle();
      case 3: return expect_same(*set_, model_);
      case 4: return expect_sane_stats();
      default: return look_up_batch(random_.below(4000));
    }
  }

  void open(Mode mode) {
    SeenOptions options = options_;
    options.mode = mode;
    auto set = SeenSet::open(folder_, options);
    ASSERT_TRUE(set.ok()) << set.error().message;
    set_ = std::move(*set);
    ASSERT_EQ(set_->len(), model_.size());
  }

  void reopen() {
    if (random_.below(3) == 0) {
      commit();
    } else {
      const Status closed = set_->close();
      ASSERT_TRUE(closed.ok()) << closed.error().message;
    }
    set_.reset();
    committed_ = model_;
    const auto kind = options_.kind;
    options_.table_ids = 10 + random_.below(1000);
    options_.piece_ids = 30 + random_.below(3000);
    options_.background = random_.below(2) == 0;
    if (random_.below(2) == 0) options_.kind = std::nullopt;
    open(Mode::kOpen);
    ASSERT_EQ(set_->kind(), *kind);
    options_.kind = kind;
    expect_same(*set_, model_);
  }

  void commit() {
    const auto number = set_->commit();
    ASSERT_TRUE(number.ok()) << number.error().message;
    ASSERT_EQ(*number, model_.size());
    committed_ = model_;
  }

  void flush() {
    const Status flushed = set_->flush();
    ASSERT_TRUE(flushed.ok()) << flushed.error().message;
    committed_ = model_;
    EXPECT_EQ(set_->stats().recent_ids, 0U);
  }

  void settle() {
    const Status settled = set_->settle();
    ASSERT_TRUE(settled.ok()) << settled.error().message;
  }

  void insert_one() {
    const std::uint64_t n = random_.below(universe_);
    const auto was_new = set_->insert(id_of(*set_, n));
    ASSERT_TRUE(was_new.ok()) << was_new.error().message;
    ASSERT_EQ(*was_new, model_.insert(n).second);
    ASSERT_EQ(set_->len(), model_.size());
  }

  void insert_batch(std::uint64_t count) {
    std::vector<std::uint64_t> numbers;
    std::vector<SeenId> ids;
    const std::uint64_t range = 1 + random_.below(universe_);
    for (std::uint64_t i = 0; i < count; ++i) {
      numbers.push_back(random_.below(range));
      ids.push_back(id_of(*set_, numbers.back()));
    }
    std::vector<std::uint8_t> was_new(count, 2);
    const Status inserted = set_->insert(ids, was_new);
    ASSERT_TRUE(inserted.ok()) << inserted.error().message;
    for (std::uint64_t i = 0; i < count; ++i)
      ASSERT_EQ(was_new[i], model_.insert(numbers[i]).second ? 1 : 0) << "at " << i;
    ASSERT_EQ(set_->len(), model_.size());
  }

  void look_up_one() {
    const std::uint64_t n = random_.below(universe_ * 2);
    const auto found = set_->contains(id_of(*set_, n));
    ASSERT_TRUE(found.ok()) << found.error().message;
    ASSERT_EQ(*found, model_.contains(n));
  }

  void look_up_batch(std::uint64_t count) {
    std::vector<std::uint64_t> numbers;
    std::vector<SeenId> ids;
    for (std::uint64_t i = 0; i < count; ++i) {
      numbers.push_back(random_.below(universe_ * 2));
      ids.push_back(id_of(*set_, numbers.back()));
    }
    std::vector<std::uint8_t> found(count, 2);
    const Status looked = set_->contains(ids, found);
    ASSERT_TRUE(looked.ok()) << looked.error().message;
    for (std::uint64_t i = 0; i < count; ++i)
      ASSERT_EQ(found[i], model_.contains(numbers[i]) ? 1 : 0);
  }

  // Another reader of the folder sees everything committed, and nothing that was not inserted.
  void read_aside() {
    if (random_.below(4) != 0) return;
    SeenOptions options = options_;
    options.mode = Mode::kRead;
    auto set = SeenSet::open(folder_, options);
    ASSERT_TRUE(set.ok()) << set.error().message;
    ASSERT_GE((*set)->len(), committed_.size());
    ASSERT_LE((*set)->len(), model_.size());
    for (int i = 0; i < 300; ++i) {
      const std::uint64_t n = random_.below(universe_ * 2);
      const auto found = (*set)->contains(id_of(**set, n));
      ASSERT_TRUE(found.ok()) << found.error().message;
      ASSERT_TRUE(*found ? model_.contains(n) : !committed_.contains(n)) << n;
    }
    EXPECT_EQ((*set)->insert(id_of(**set, 1)).error().code, Code::kFailedPrecondition);
    EXPECT_EQ((*set)->commit().error().code, Code::kFailedPrecondition);
    EXPECT_EQ((*set)->flush().error().code, Code::kFailedPrecondition);
  }

  static void expect_same(SeenSet& set, const std::unordered_set<std::uint64_t>& model) {
    std::set<SeenId> expected;
    for (const std::uint64_t n : model) expected.insert(id_of(set, n));
    std::set<SeenId> visited;
    std::uint64_t visits = 0;
    const Status each = set.for_each([&](SeenId id) -> Status {
      ++visits;
      visited.insert(id);
      return Done{};
    });
    ASSERT_TRUE(each.ok()) << each.error().message;
    ASSERT_EQ(visits, expected.size());
    ASSERT_EQ(visited, expected);
    const Status verified = set.verify();
    ASSERT_TRUE(verified.ok()) << verified.error().message;
  }

  void expect_sane_stats() {
    const SeenStats stats = set_->stats();
    EXPECT_EQ(stats.ids, model_.size());
    EXPECT_LE(stats.recent_ids, stats.ids);
    EXPECT_GE(stats.pieces, stats.runs);
    EXPECT_GE(stats.filter_bytes, stats.resident_filter_bytes);
    EXPECT_LE(stats.memory_bytes, options_.max_memory);
  }

  Random random_;
  SeenOptions options_;
  std::filesystem::path folder_;
  std::uint64_t universe_;
  std::unique_ptr<SeenSet> set_;
  std::unordered_set<std::uint64_t> model_;
  std::unordered_set<std::uint64_t> committed_;
};

TEST(SeenSetModel, AgreesWithAModelOverASimulatedDisk) {
  for (std::uint64_t seed = 1; seed <= 25 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SimulatedDisk disk;
    SeenModel(seed, disk, "/set").run(400);
  }
}

TEST(SeenSetModel, AgreesWithAModelOverTheSystemsDisk) {
  for (std::uint64_t seed = 1001; seed <= 1008 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const TemporaryFolder folder = *TemporaryFolder::create();
    SeenModel(seed, system_disk(), folder.path() / "set").run(300);
  }
}

// Inserts 0, 1, 2, … while readers query: everything inserted before they began is found, and ids
// that are never inserted are not.
class SeenReaders : public testing::TestWithParam<IdKind> {
 protected:
  void read(const SeenSet& set, std::uint64_t seed) {
    const auto reader = set.reader();
    Random random(seed);
    std::vector<SeenId> ids(64);
    std::vector<std::uint8_t> found(64);
    while (!done_.load()) {
      const std::uint64_t certain = inserted_.load(std::memory_order_acquire);
      for (std::size_t i = 0; i < ids.size(); ++i)
        ids[i] = id_of(set, i % 2 == 0 ? random.below(certain) : kAbsent + random.below(1'000'000));
      const Status looked = reader->contains(ids, found);
      ASSERT_TRUE(looked.ok()) << looked.error().message;
      for (std::size_t i = 0; i < ids.size(); ++i) ASSERT_EQ(found[i], i % 2 == 0 ? 1 : 0);
      const auto last = reader->contains(id_of(set, certain - 1));
      ASSERT_TRUE(last.ok() && *last);
      const auto absent = reader->contains(id_of(set, kAbsent + random.below(1'000'000)));
      ASSERT_TRUE(absent.ok() && !*absent);
      ASSERT_GE(set.len(), certain);
      ASSERT_FALSE(set.empty());
      ASSERT_GE(set.stats().ids, certain);
      ++rounds_;
    }
  }

  // At least `count` ids, and more while the readers have hardly had a turn.
  void write(SeenSet& set, std::uint64_t count) {
    Random random(7);
    while (inserted_ < count || (rounds_ <= 10 && !HasFatalFailure())) {
      const std::uint64_t begin = inserted_;
      std::vector<SeenId> ids;
      const std::uint64_t size = 1 + random.below(300);
      for (std::uint64_t i = 0; i < size; ++i) ids.push_back(id_of(set, begin + i));
      std::vector<std::uint8_t> was_new(ids.size(), 2);
      const Status inserted = set.insert(ids, was_new);
      ASSERT_TRUE(inserted.ok()) << inserted.error().message;
      inserted_.store(begin + ids.size(), std::memory_order_release);
      ASSERT_TRUE(random.below(8) != 0 || set.commit().ok());
      ASSERT_TRUE(random.below(60) != 0 || set.flush().ok());
    }
    ASSERT_TRUE(set.settle().ok());
  }

  static constexpr std::uint64_t kAbsent = 1'000'000'000;
  std::atomic<std::uint64_t> inserted_ = 1;
  std::atomic<std::uint64_t> rounds_ = 0;
  std::atomic<bool> done_ = false;
};

INSTANTIATE_TEST_SUITE_P(Kinds, SeenReaders, testing::Values(IdKind::kNumber, IdKind::kText),
                         [](const auto& kind) {
                           return kind.param == IdKind::kText ? "Texts" : "Numbers";
                         });

TEST_P(SeenReaders, ReadersOnOtherThreadsSeeEveryInsertBeforeThem) {
  for (const bool background : {true, false}) {
    SimulatedDisk disk;
    SeenOptions options;
    options.kind = GetParam();
    options.table_ids = 700;
    options.piece_ids = 2000;
    options.background = background;
    options.disk = &disk;
    auto set = *SeenSet::open("/set", options);
    ASSERT_TRUE(set->insert(id_of(*set, 0)).ok());
    inserted_ = 1;
    rounds_ = 0;
    done_ = false;
    {
      std::vector<std::jthread> readers;
      for (std::uint64_t i = 0; i < 3; ++i) readers.emplace_back([&, i] { read(*set, i + 1); });
      write(*set, 40'000);
      done_ = true;
    }
    EXPECT_GT(rounds_.load(), 10U);
    EXPECT_GT(set->stats().merges, 2U);
    EXPECT_EQ(set->len(), inserted_.load());
    const Status verified = set->verify();
    EXPECT_TRUE(verified.ok()) << verified.error().message;
    ASSERT_TRUE(set->close().ok());
  }
}

TEST(SeenSetCheck, FindsNoWrongAnswer) {
  for (const IdKind kind : {IdKind::kNumber, IdKind::kText}) {
    SimulatedDisk disk;
    SeenCheckOptions options;
    options.operations = 1'000'000;
    options.set.kind = kind;
    options.set.table_ids = 20'000;
    options.set.piece_ids = 60'000;
    options.set.disk = &disk;
    const auto figures = check_seen_set("/set", options);
    ASSERT_TRUE(figures.ok()) << figures.error().message;
    EXPECT_EQ(figures->operations, 1'000'000U);
    EXPECT_EQ(figures->added + figures->repeated + figures->found + figures->absent, 1'000'000U);
    EXPECT_GT(figures->added, 400'000U);
    EXPECT_GT(figures->merges, 3U);
    EXPECT_GT(figures->flushes, 10U);
    EXPECT_EQ(figures->reopens, 11U);
  }
}

TEST(SeenSetCheck, StopsWhenItIsToldTo) {
  SimulatedDisk disk;
  SeenCheckOptions options;
  options.operations = 10'000'000;
  options.set.disk = &disk;
  const auto stop = [](const SeenCheckFigures&) -> Status {
    return Error{Code::kCancelled, "enough"};
  };
  EXPECT_EQ(check_seen_set("/set", options, stop).error().code, Code::kCancelled);
}

}  // namespace
}  // namespace kin::store
