// Readers beside writers: an entity is seen whole or not at all.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "index/graph.h"
#include "index/testing/truth_fixture.h"

namespace kin::index {
namespace {

class TruthReadersTest : public TruthFixture {
 protected:
  static constexpr int kEntities = 8;

  // One batch writes them all, with the round in every part.
  static std::vector<Mutation> round_of(int round) {
    std::vector<Mutation> mutations;
    for (int i = 0; i < kEntities; ++i) {
      Entity entity = made("e" + std::to_string(i));
      entity.text = std::to_string(round);
      entity.vectors = {{"words", std::vector<float>(4, static_cast<float>(round))}};
      entity.summaries = {"s" + entity.text};
      entity.attributes = {{"round " + std::to_string(round % 50), std::int64_t{round}}};
      if (round % 5 == 4) mutations.emplace_back(RemoveEntity{.id = entity.id});
      Edge next = edge("e" + std::to_string(i), "next", "e" + std::to_string((i + 1) % kEntities));
      next.weight = round;
      mutations.emplace_back(PutEntity{.entity = entity});
      mutations.emplace_back(PutEdge{.edge = next});
    }
    return mutations;
  }

  static bool is_whole(const TruthView& view) {
    std::vector<DocId> ids;
    for (int i = 0; i < kEntities; ++i) ids.push_back(id("e" + std::to_string(i)));
    const auto found = view.get_many(ids);
    if (!found.ok()) return false;
    for (const auto& stored : *found) {
      if (!stored || stored->entity.text != (*found)[0]->entity.text) return false;
      const Entity& entity = stored->entity;
      const float round = std::stof(entity.text);
      if (entity.vectors[0].values != std::vector<float>(4, round)) return false;
      if (entity.summaries[0] != "s" + entity.text) return false;
      for (const Direction direction : {Direction::kOut, Direction::kIn}) {
        const auto around = edges(view, {.node = entity.id, .direction = direction});
        if (!around.ok() || around->size() != 1 || (*around)[0].weight != round) return false;
      }
    }
    return true;
  }
};

TEST_F(TruthReadersTest, NeverSeeHalfOfABatch) {
  do_all(round_of(0));
  std::atomic<bool> done = false;
  std::atomic<int> broken = 0;
  std::atomic<int> views = 0;
  const auto read = [&] {
    while (!done) {
      if (!is_whole(view())) ++broken;
      ++views;
    }
  };
  std::thread one(read);
  std::thread two(read);
  // More rounds follow while the readers have not had a turn.
  for (int round = 1; round < 400 || views == 0; ++round) do_all(round_of(round));
  done = true;
  one.join();
  two.join();
  EXPECT_EQ(broken, 0);
  EXPECT_GT(views, 0);
}

TEST_F(TruthReadersTest, WritersTakeTurns) {
  const auto write = [&](int writer) {
    for (int i = 0; i < 100; ++i) {
      const std::string key = std::to_string(writer) + "-" + std::to_string(i);
      do_all({PutEntity{.entity = made(key)}, PutEdge{.edge = edge(key, "w" + key, "hub")}});
    }
  };
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 3; ++writer) writers.emplace_back(write, writer);
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(view().counters().entities, 300U);
  EXPECT_EQ(changes().size(), 600U);
  reopen();
  EXPECT_EQ(view().counters().names, 301U);
  EXPECT_EQ(edges(view(), {.node = id("hub"), .direction = Direction::kIn})->size(), 300U);
}

}  // namespace
}  // namespace kin::index
