// Readers while a shard is written to and stepped: every view shows one moment, whole.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "index/graph.h"
#include "index/testing/shard_fixture.h"

namespace kin::index {
namespace {

class ShardReadersTest : public ShardFixture {
 protected:
  static constexpr int kEntities = 40;

  static std::string key(int i) { return "e" + std::to_string(i); }
  static std::string word(int round) { return "round" + std::to_string(round); }

  // The vector of entity `i` in a round.
  static std::vector<float> point(int i, int round) {
    return {static_cast<float>(i), static_cast<float>(round), 0, 1};
  }

  static std::vector<Mutation> round_of(int round) {
    std::vector<Mutation> mutations;
    for (int i = 0; i < kEntities; ++i) {
      Entity entity = with_vector(made(key(i), word(round) + " text"), point(i, round));
      entity.title = word(round) + " title";
      Edge next = edge(key(i), "next", key((i + 1) % kEntities));
      next.weight = round;
      mutations.emplace_back(PutEntity{.entity = entity});
      mutations.emplace_back(PutEdge{.edge = next});
    }
    return mutations;
  }

  // The fault of a view; empty if all its parts are of one round.
  static std::string fault_of(const ShardView& view, bool exact) {
    const auto first = *view.truth().get(id(key(0)));
    if (!first) return "an entity is missing";
    const int round = std::stoi(first->entity.text.substr(5));
    const auto query = parse_query("text:" + word(round), view.text().options());
    const auto hits = view.text().search(*query, {.k = 1'000, .count = true});
    if (*hits->count != kEntities)
      return "the words of round " + std::to_string(round) + " find " +
             std::to_string(*hits->count);
    if (view.text().documents() != kEntities) return "another number of texts";
    const SpaceView& space = view.spaces()[0];
    for (int i = 0; i < kEntities; i += 13) {
      const auto near = view.nearest(space, point(i, round), {.k = 3, .exact = exact});
      if (!near.ok()) return near.error().message;
      if (near->size() != 3) return "neighbours are missing";
      if ((*near)[0].distance != 0) return "the nearest is of another round";
      const auto document = *view.truth().document(DocNumber{(*near)[0].id});
      if (!document) return "a vector of nothing";
      const Entity& entity = std::get<StoredEntity>(*document).entity;
      if (entity.key != key(i) || entity.title != word(round) + " title")
        return "a vector of something else";
      const auto around = *edges(view.truth(), {.node = entity.id});
      if (around.size() != 1 || around[0].weight != round) return "an edge of another round";
    }
    return {};
  }
};

TEST_F(ShardReadersTest, NeverSeeTwoRoundsAtOnce) {
  for (const RawStorage storage : {RawStorage::kF32, RawStorage::kElsewhere}) {
    ShardOptions options = given_options();
    options.spaces[0].space.storage = storage;
    options.cell_size = 8;
    open(options);
    std::vector<Mutation> ballast;
    for (int i = 0; i < 2'100; ++i)
      ballast.emplace_back(PutEntity{.entity = with_vector(made("b" + std::to_string(i)),
                                                           {1e6F, static_cast<float>(i), 0, 0})});
    apply(ballast);
    std::vector<Mutation> away;
    for (int i = 0; i < 2'100; ++i)
      away.emplace_back(RemoveEntity{.id = id("b" + std::to_string(i))});
    step_all();
    apply(away);
    apply(round_of(0));
    std::atomic<bool> done = false;
    std::atomic<int> views = 0;
    std::mutex mutex;
    std::string fault;
    const auto read = [&](bool exact) {
      while (!done) {
        const std::string wrong = fault_of(shard().view(), exact);
        ++views;
        if (wrong.empty()) continue;
        const std::lock_guard lock(mutex);
        fault = wrong;
        done = true;
      }
    };
    std::thread one(read, true);
    std::thread two(read, true);
    std::thread stepper([&] {
      while (!done) {
        const auto did = shard().step();
        if (!did.ok()) {
          const std::lock_guard lock(mutex);
          fault = did.error().message;
          done = true;
        }
        if (did.ok() && !did->did_work()) std::this_thread::yield();
      }
    });
    // More rounds follow while the readers have hardly had a turn.
    for (int round = 1; (round < 150 || views <= 10) && !done; ++round) {
      apply(round_of(round));
      if (round % 40 == 0) {
        EXPECT_TRUE(shard().checkpoint().ok());
      }
    }
    done = true;
    one.join();
    two.join();
    stepper.join();
    EXPECT_EQ(fault, "");
    EXPECT_GT(views, 10);
    expect_clean();
    step_all();
    EXPECT_EQ(shard().stats().spaces[0].vectors.vectors, static_cast<unsigned>(kEntities));
    drop();
    std::filesystem::remove_all(path());
  }
}

TEST_F(ShardReadersTest, WritersTakeTurns) {
  open(given_options());
  const auto write = [&](int writer) {
    for (int i = 0; i < 40; ++i) {
      const std::string name = std::to_string(writer) + "x" + std::to_string(i);
      apply({PutEntity{
          .entity = with_vector(made(name, "by" + std::to_string(writer)), point(writer, i))}});
    }
  };
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 3; ++writer) writers.emplace_back(write, writer);
  for (std::thread& writer : writers) writer.join();
  for (int writer = 0; writer < 3; ++writer)
    EXPECT_EQ(found("by" + std::to_string(writer)).size(), 40U);
  EXPECT_EQ(shard().stats().spaces[0].vectors.vectors, 120U);
  expect_clean();
}

// Training takes long; the writer must not wait for it.
TEST_F(ShardReadersTest, ASpaceIsReplacedWhileOthersWriteAndRead) {
  ShardOptions options;
  options.spaces = {computed_space(1)};
  options.cell_size = 16;
  open(options);
  std::vector<Mutation> mutations;
  for (int i = 0; i < 5'000; ++i)
    mutations.emplace_back(PutEntity{.entity = made("k" + std::to_string(i), word(i))});
  apply(mutations);
  ASSERT_TRUE(shard().replace_space(computed_space(2)).ok());
  std::atomic<bool> done = false;
  std::atomic<int> missed = 0;
  std::thread stepper([&] {
    while (!done) EXPECT_TRUE(shard().step().ok());
  });
  std::thread reader([&] {
    while (!done) {
      const ShardView view = shard().view();
      const SpaceView& space = view.spaces()[0];
      const auto near = view.nearest(space, *space.source->query(word(77)), {.k = 1});
      if (near->size() != 1 || name_of(view, (*near)[0].id) != "k77") ++missed;
    }
  });
  for (int i = 0; i < 300 || shard().view().spaces()[0].generation == 1; ++i) {
    const int at = i * 16 % 5'000;
    if (at == 77) continue;
    apply({PutEntity{.entity = made("k" + std::to_string(at), word(at + 10'000 * (i + 1)))},
           RemoveEntity{.id = id("k" + std::to_string(at + 3))}});
  }
  done = true;
  stepper.join();
  reader.join();
  EXPECT_EQ(missed, 0);
  expect_clean();
}

}  // namespace
}  // namespace kin::index
