// The contract of every ObjectStore. A test file includes it and instantiates the suite.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cloud/object_store.h"

namespace kin::cloud {

// Clients of one empty store: each call makes one more.
using MakeObjects = std::function<std::unique_ptr<ObjectStore>()>;
struct ObjectsKind {
  const char* name;
  std::function<MakeObjects()> make;
};

class ObjectStoreContract : public testing::TestWithParam<ObjectsKind> {
 protected:
  std::vector<std::string> listed(const std::string& prefix, int most = 1000) {
    std::vector<std::string> all;
    std::string next;
    do {
      const auto page = objects_->list(prefix, most, next);
      EXPECT_TRUE(page.ok()) << page.error().message;
      if (!page.ok()) break;
      EXPECT_LE(page->size(), static_cast<std::size_t>(most));
      all.insert(all.end(), page->begin(), page->end());
    } while (!next.empty());
    return all;
  }

  MakeObjects make_ = GetParam().make();
  std::unique_ptr<ObjectStore> objects_ = make_();
};

TEST_P(ObjectStoreContract, ACreatedObjectStaysAsItIs) {
  EXPECT_EQ(*objects_->get("log/1"), std::nullopt);
  EXPECT_TRUE(*objects_->create("log/1", "first"));
  EXPECT_FALSE(*make_()->create("log/1", "second"));
  EXPECT_EQ(*make_()->get("log/1"), "first");
  EXPECT_TRUE(*objects_->create("log/empty", ""));
  EXPECT_EQ(*objects_->get("log/empty"), "");
}

TEST_P(ObjectStoreContract, OfManyWritersOneCreatesAnObject) {
  constexpr int kWriters = 8;
  std::atomic<int> created{0};
  std::vector<std::thread> writers;
  for (int i = 0; i < kWriters; ++i) {
    writers.emplace_back([&, i] {
      const auto client = make_();
      for (int object = 0; object < 5; ++object) {
        const auto done = client->create("race/" + std::to_string(object), std::to_string(i));
        if (done.ok() && *done) ++created;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(created, 5);
}

TEST_P(ObjectStoreContract, ListsNamesByPrefixInOrderPageByPage) {
  // Names that differ at a '-' are not here: s3rver lists "a/1" before "a-b", which S3 does not.
  for (const char* name : {"a/10", "a/2", "a0", "a/c/x1", "ab", "b/1"})
    EXPECT_TRUE(*objects_->create(name, "x")) << name;
  const std::vector<std::string> all{"a/10", "a/2", "a/c/x1", "a0", "ab", "b/1"};
  EXPECT_EQ(listed(""), all);
  EXPECT_EQ(listed("", 2), all);
  EXPECT_EQ(listed("a/", 1), (std::vector<std::string>{"a/10", "a/2", "a/c/x1"}));
  EXPECT_EQ(listed("a/1"), std::vector<std::string>{"a/10"});
  EXPECT_TRUE(listed("none/").empty());
  EXPECT_EQ(listed("b"), std::vector<std::string>{"b/1"});
}

TEST_P(ObjectStoreContract, ReadsRangesAndLargeObjects) {
  std::string large;
  for (int i = 0; large.size() < (std::size_t{6} << 20); ++i) large += std::to_string(i);
  ASSERT_TRUE(objects_->upload("file/large", source_of(large)).ok());
  EXPECT_EQ(**objects_->get("file/large"), large);
  const std::vector<ByteRange> ranges{{.offset = 5, .size = 3},
                                      {.offset = large.size() - 2, .size = 2}};
  EXPECT_THAT(*objects_->get_ranges("file/large", ranges),
              testing::ElementsAre(large.substr(5, 3), large.substr(large.size() - 2)));
  const std::vector<ByteRange> beyond{{.offset = large.size(), .size = 1}};
  EXPECT_EQ(objects_->get_ranges("file/large", beyond).error().code, Code::kInvalidArgument);
  EXPECT_EQ(objects_->get_ranges("none", ranges).error().code, Code::kNotFound);
  ASSERT_TRUE(objects_->upload("file/large", source_of("short")).ok());
  EXPECT_EQ(*objects_->get("file/large"), "short");
}

TEST_P(ObjectStoreContract, RemovesObjectsAlsoMissingOnes) {
  EXPECT_TRUE(*objects_->create("a/1", "x"));
  EXPECT_TRUE(*objects_->create("a/2", "x"));
  const std::vector<std::string> names{"a/1", "a/3", "none/1"};
  EXPECT_TRUE(objects_->remove(names).ok());
  EXPECT_EQ(listed("a/"), std::vector<std::string>{"a/2"});
  EXPECT_TRUE(*objects_->create("a/1", "again"));
}

}  // namespace kin::cloud
