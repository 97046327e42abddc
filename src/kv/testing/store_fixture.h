// Stores of every engine, on the system's disk and on a simulated one, for tests.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/testing/simulated_disk.h"
#include "kv/key_value_store.h"

namespace kin::kv {

struct StoreKind {
  StoreOptions::Engine engine = StoreOptions::Engine::kRocksDb;
  bool simulated = false;  // on a SimulatedDisk
};

inline constexpr StoreKind kEveryKind[] = {{StoreOptions::Engine::kRocksDb, false},
                                           {StoreOptions::Engine::kRocksDb, true},
                                           {StoreOptions::Engine::kLog, false},
                                           {StoreOptions::Engine::kLog, true}};

inline std::string name_of(const testing::TestParamInfo<StoreKind>& info) {
  const bool rocks = info.param.engine == StoreOptions::Engine::kRocksDb;
  return std::string(rocks ? "RocksDb" : "Log") + (info.param.simulated ? "OnSimulatedDisk" : "");
}

class StoreFixture : public testing::TestWithParam<StoreKind> {
 protected:
  bool is_rocks() const { return GetParam().engine == StoreOptions::Engine::kRocksDb; }
  std::filesystem::path path() const { return root() / "store"; }
  std::filesystem::path root() const { return GetParam().simulated ? "/root" : folder_.path(); }
  Disk& disk() { return GetParam().simulated ? simulated_ : system_disk(); }

  // The names of the store's files.
  std::vector<std::string> names() { return std::move(*disk().list(path())); }

  StoreOptions on_disk(StoreOptions options) {
    options.engine = GetParam().engine;
    options.disk = GetParam().simulated ? &simulated_ : nullptr;
    return options;
  }

  Result<std::unique_ptr<KeyValueStore>> try_open(const StoreOptions& options = {}) {
    return KeyValueStore::open(path(), on_disk(options));
  }
  std::unique_ptr<KeyValueStore> open(const StoreOptions& options = {}) {
    auto store = try_open(options);
    KIN_CHECK(store.ok(), store.ok() ? "" : store.error().message.c_str());
    return std::move(*store);
  }

  // The store as a process that is killed now would leave it, opened elsewhere.
  std::unique_ptr<KeyValueStore> open_killed(const StoreOptions& options = {}) {
    StoreOptions elsewhere = on_disk(options);
    std::filesystem::path copy = path();
    if (GetParam().simulated) {
      killed_.push_back(simulated_.power_cut({UnsyncedBytes::kKept, UnsyncedNames::kKept}));
      elsewhere.disk = killed_.back().get();
    } else {
      copy += std::to_string(++copies_);
      std::filesystem::copy(path(), copy, std::filesystem::copy_options::recursive);
    }
    auto store = KeyValueStore::open(copy, elsewhere);
    KIN_CHECK(store.ok(), store.ok() ? "" : store.error().message.c_str());
    return std::move(*store);
  }

  // Flips a bit of byte `offset`, counted from the end if negative.
  void damage(const std::filesystem::path& file, std::int64_t offset) {
    std::string bytes = *read_whole(disk(), file);
    const std::size_t at = offset < 0 ? bytes.size() - static_cast<std::size_t>(-offset)
                                      : static_cast<std::size_t>(offset);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    ASSERT_TRUE(replace_whole(disk(), file, bytes).ok());
  }

  static void put(KeyValueStore& store, std::string_view key, std::string_view value,
                  Family family = kMain) {
    Batch batch(store);
    batch.put(key, value, family);
    const Status written = store.write(batch);
    ASSERT_TRUE(written.ok()) << written.error().message;
  }

  // "key=value" of every key that starts with `prefix`.
  static std::vector<std::string> with_prefix(const KeyValueStore& store, std::string_view prefix,
                                              Family family = kMain) {
    std::vector<std::string> found;
    const auto visit = [&](std::string_view key, std::string_view value) {
      found.push_back(std::string(key) + "=" + std::string(value));
      return Status(Done{});
    };
    const Status visited = store.for_each(prefix, visit, family);
    EXPECT_TRUE(visited.ok()) << visited.error().message;
    return found;
  }

 private:
  TemporaryFolder folder_ = std::move(*TemporaryFolder::create());
  SimulatedDisk simulated_;
  std::vector<std::unique_ptr<SimulatedDisk>> killed_;
  int copies_ = 0;
};

}  // namespace kin::kv
