#include "cloud/object_store.h"

#include "base/file.h"
#include "cloud/testing/object_store_contract.h"
#include "cloud/testing/simulated_objects.h"

namespace kin::cloud {
namespace {

MakeObjects in_folder() {
  auto folder = std::make_shared<TemporaryFolder>(std::move(*TemporaryFolder::create()));
  return [folder] { return open_folder_objects(folder->path() / "shared" / "objects"); };
}

MakeObjects in_memory() {
  auto bytes = std::make_shared<SimulatedObjects::Bytes>();
  return [bytes] { return std::make_unique<SimulatedObjects>(bytes); };
}

INSTANTIATE_TEST_SUITE_P(Objects, ObjectStoreContract,
                         testing::Values(ObjectsKind{"Folder", in_folder},
                                         ObjectsKind{"Simulated", in_memory}),
                         [](const auto& kind) { return std::string(kind.param.name); });

TEST(FolderObjects, RefusesNamesThatLeaveTheFolder) {
  const MakeObjects make = in_folder();
  for (const char* name : {"", "..", "../x", "a//b", "a/./b", "/a", "a/", ".hidden"}) {
    EXPECT_EQ(make()->create(name, "x").error().code, Code::kInvalidArgument) << name;
    EXPECT_EQ(make()->get(name).error().code, Code::kInvalidArgument) << name;
  }
}

TEST(FolderObjects, ListsNamesInTheOrderOfTheirBytes) {
  const MakeObjects make = in_folder();
  for (const char* name : {"a/1", "a-b", "ab"}) EXPECT_TRUE(*make()->create(name, "x"));
  EXPECT_EQ(*list_all(*make(), ""), (std::vector<std::string>{"a-b", "a/1", "ab"}));
}

TEST(FolderObjects, WhatAnUnfinishedUploadLeftIsNotListed) {
  const MakeObjects make = in_folder();
  const ObjectSource fails = [](std::span<char>) -> Result<std::size_t> {
    return Error{Code::kUnavailable, "the source is gone"};
  };
  EXPECT_FALSE(make()->upload("a", fails).ok());
  EXPECT_TRUE(*make()->create("b", "x"));
  EXPECT_EQ(*list_all(*make(), ""), std::vector<std::string>{"b"});
}

TEST(SimulatedObjects, LosesRepliesBeforeAndAfterTheEffect) {
  SimulatedObjects objects;
  auto fate = SimulatedObjects::Fate::kFails;
  objects.decide([&](auto, const std::string&) { return fate; });
  EXPECT_EQ(objects.create("a", "x").error().code, Code::kUnavailable);
  fate = SimulatedObjects::Fate::kReplyLost;
  EXPECT_EQ(objects.create("b", "x").error().code, Code::kUnavailable);
  fate = SimulatedObjects::Fate::kServed;
  EXPECT_EQ(*list_all(objects, ""), std::vector<std::string>{"b"});
}

TEST(OpenObjects, UnderstandsAddresses) {
  EXPECT_EQ(open_objects("s3://", system_clock(), 1).error().code, Code::kInvalidArgument);
  EXPECT_TRUE(open_objects("s3://bucket/a/b", system_clock(), 1).ok());
  const auto folder = *TemporaryFolder::create();
  const auto objects = open_objects((folder.path() / "x").string(), system_clock(), 1);
  EXPECT_TRUE(*(*objects)->create("a", "x"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "x" / "a"));
}

}  // namespace
}  // namespace kin::cloud
