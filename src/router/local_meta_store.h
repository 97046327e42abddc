// A MetaStore in a folder, for routers of one process.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>

#include "kv/key_value_store.h"
#include "router/meta/row_format.h"
#include "router/meta_store.h"

namespace kin::router {

struct LocalMetaOptions {
  kv::StoreOptions::Engine engine = kv::StoreOptions::Engine::kRocksDb;
  Disk* disk = nullptr;  // nullptr: the system's. Must outlive the store
};

// All keys are in memory; removed ones leave a row, so that watchers learn of them. Thread-safe.
class LocalMetaStore final : public MetaStore {
 public:
  static Result<std::unique_ptr<LocalMetaStore>> open(const std::filesystem::path& folder,
                                                      const LocalMetaOptions& options = {});

  Result<std::optional<MetaValue>> get(std::string_view key) override;
  Result<std::optional<std::uint64_t>> swap(std::string_view key, std::uint64_t expected,
                                            std::optional<std::string_view> bytes) override;
  // Waits by the machine's clock.
  Result<MetaChanges> watch(std::string_view prefix, std::uint64_t after,
                            SteadyTime until) override;

  Status close() { return store_->close(); }

 private:
  explicit LocalMetaStore(std::unique_ptr<kv::KeyValueStore> store) : store_(std::move(store)) {}
  Status load();
  MetaChanges changes(std::string_view prefix, std::uint64_t after) const;

  std::unique_ptr<kv::KeyValueStore> store_;
  std::mutex mutex_;  // guards what follows, and writing
  std::condition_variable changed_;
  std::map<std::string, MetaRow, std::less<>> rows_;
  std::uint64_t revision_ = 0;
};

}  // namespace kin::router
