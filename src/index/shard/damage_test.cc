// A shard whose derived store is damaged, and a truth that does not agree with its indexes.
#include <gtest/gtest.h>

#include <fstream>

#include "base/random.h"
#include "index/testing/shard_fixture.h"

namespace kin::index {
namespace {

namespace fs = std::filesystem;

class ShardDamageTest : public ShardFixture {
 protected:
  static constexpr int kEntities = 60;

  static std::vector<float> point(int i) {
    return {static_cast<float>(i), static_cast<float>(i % 7), 1, 0};
  }

  void fill() {
    open(given_options());
    std::vector<Mutation> mutations;
    for (int i = 0; i < kEntities; ++i) {
      const std::string key = "k" + std::to_string(i);
      mutations.emplace_back(
          PutEntity{.entity = with_vector(made(key, "word" + std::to_string(i)), point(i))});
      mutations.emplace_back(PutEdge{.edge = edge(key, "next", "k" + std::to_string(i + 1))});
    }
    Edge told = edge("k1", "told", "k2");
    told.summary = "a summary";
    mutations.emplace_back(PutEdge{.edge = told});
    apply(mutations);
    ASSERT_TRUE(shard().checkpoint().ok());
    apply({PutEntity{.entity = with_vector(made("k0", "changed"), point(0))}});
  }

  void expect_all() {
    step_all();
    EXPECT_EQ(found("changed"), std::vector<std::string>{"k0"});
    EXPECT_TRUE(found("word0").empty());
    for (int i = 1; i < kEntities; i += 7) {
      const std::string key = "k" + std::to_string(i);
      EXPECT_EQ(found("word" + std::to_string(i)), std::vector<std::string>{key});
      EXPECT_EQ(nearest(point(i), {.k = 1}), std::vector<std::string>{key});
    }
    expect_clean();
  }

  fs::path derived() const { return path() / "derived"; }

  void change_truth(const std::function<void(kv::KeyValueStore&, kv::Batch&)>& change) {
    auto store =
        std::move(*kv::KeyValueStore::open(path() / "truth", {.families = truth_family_names()}));
    kv::Batch batch(*store);
    change(*store, batch);
    ASSERT_TRUE(store->write(batch).ok());
    ASSERT_TRUE(store->close().ok());
  }

  std::vector<std::string> faults() {
    auto report = shard().check();
    EXPECT_TRUE(report.ok());
    return report.ok() ? report->faults : std::vector<std::string>();
  }
};

TEST_F(ShardDamageTest, ALostDerivedStoreIsMadeAnew) {
  fill();
  drop();
  fs::remove_all(derived());
  open(given_options());
  expect_all();
}

TEST_F(ShardDamageTest, FilesThatAreCutShortOrMissingAreMadeAnew) {
  for (const bool remove : {false, true}) {
    fill();
    ASSERT_TRUE(shard().close().ok());
    drop();
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(derived()))
      if (entry.is_regular_file() && entry.path().filename() != "LOCK")
        files.push_back(entry.path());
    for (const fs::path& file : files) {
      if (remove)
        fs::remove(file);
      else
        fs::resize_file(file, fs::file_size(file) / 2);
    }
    open(given_options());
    expect_all();
    drop();
    fs::remove_all(path());
  }
}

TEST_F(ShardDamageTest, FlippedBytesNeverChangeAnAnswer) {
  fill();
  ASSERT_TRUE(shard().close().ok());
  drop();
  const fs::path kept = path().parent_path() / "kept";
  fs::copy(derived(), kept, fs::copy_options::recursive);
  Random random(5);
  for (int round = 0; round < 12; ++round) {
    fs::remove_all(derived());
    fs::copy(kept, derived(), fs::copy_options::recursive);
    for (const auto& entry : fs::directory_iterator(derived())) {
      if (!entry.is_regular_file() || entry.file_size() == 0) continue;
      std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
      for (int flips = 0; flips < 8; ++flips) {
        const auto at = static_cast<std::streamoff>(random.below(entry.file_size()));
        file.seekg(at);
        const auto byte = static_cast<char>(file.get() ^ static_cast<int>(1 + random.below(255)));
        file.seekp(at);
        file.put(byte);
      }
    }
    open(given_options());
    expect_all();
    drop();
  }
}

TEST_F(ShardDamageTest, ACheckpointOfAFutureThatTheTruthLostIsNotUsed) {
  fill();
  drop();
  const fs::path kept = path().parent_path() / "kept";
  fs::copy(path() / "truth", kept, fs::copy_options::recursive);
  open(given_options());
  apply({PutEntity{.entity = with_vector(made("late", "later"), {9, 9, 9, 9})}});
  ASSERT_TRUE(shard().checkpoint().ok());
  drop();
  fs::remove_all(path() / "truth");
  fs::rename(kept, path() / "truth");
  open(given_options());
  EXPECT_TRUE(found("later").empty());
  expect_all();
}

TEST_F(ShardDamageTest, CheckTellsWhereIndexesAndTruthDiffer) {
  fill();
  ASSERT_TRUE(shard().close().ok());
  drop();
  change_truth([&](kv::KeyValueStore& store, kv::Batch& batch) {
    ContentRow content = *decode_content(**store.get(content_key(DocNumber{3}), kContentsFamily));
    content.text = "nothing of the kind";
    batch.put(content_key(DocNumber{3}), encode(content), kContentsFamily);
    kv::Cursor vector = store.cursor({.from = content_key(DocNumber{5})}, kVectorsFamily);
    batch.put(vector.key(), encode_vector(std::vector<float>{7, 7, 7, 7}), kVectorsFamily);
  });
  open(given_options());
  const auto told = faults();
  EXPECT_EQ(std::ranges::count(told, "the words of number 3 are not those of its text"), 1);
  const auto of_vector = std::ranges::count_if(told, [](const std::string& fault) {
    return fault == "space main: the pending vector of number 5 is not the one stored" ||
           fault == "space main: the code of number 5 is not that of its vector";
  });
  EXPECT_EQ(of_vector, 1);
  EXPECT_EQ(told.size(), 2U) << testing::PrintToString(told);
}

TEST_F(ShardDamageTest, CheckTellsWhereTheTruthContradictsItself) {
  fill();
  ASSERT_TRUE(shard().close().ok());
  drop();
  change_truth([&](kv::KeyValueStore& store, kv::Batch& batch) {
    batch.remove(store.cursor({}, kReverseEdgesFamily).key(), kReverseEdgesFamily);
    batch.remove(store.cursor({}, kMembersFamily).key(), kMembersFamily);
    batch.put(summary_count_key(summary_hash("a summary")), encode_summary_count(4),
              kSummariesFamily);
    Counters counters = *decode_counters(**store.get(kCountersKey));
    ++counters.edges;
    batch.put(kCountersKey, encode(counters));
  });
  open(given_options());
  const auto told = faults();
  EXPECT_EQ(told, (std::vector<std::string>{"1 of 60 rows of the kind \"member\" are missing",
                                            "1 of 61 rows of the kind \"reverse edge\" are missing",
                                            "a summary is used 1 times, and its count is 4",
                                            "the counters say 62 edges, and there are 61"}));
}

}  // namespace
}  // namespace kin::index
