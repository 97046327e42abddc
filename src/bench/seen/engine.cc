#include "bench/seen/engine.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <vector>

#include "kv/key_value_store.h"
#include "store/seen_set.h"

namespace kin::bench {
namespace {

using store::SeenId;
using store::SeenSet;

class SeenSetEngine : public SeenEngine {
 public:
  explicit SeenSetEngine(std::unique_ptr<SeenSet> set) : set_(std::move(set)) {}

  Status insert(std::span<const std::uint64_t> ids, std::span<std::uint8_t> was_new) override {
    KIN_RETURN_IF_ERROR(set_->insert(numbers(ids), was_new));
    KIN_RETURN_IF_ERROR(set_->commit());
    return Done{};
  }
  Result<bool> contains(std::uint64_t id) override { return set_->contains(SeenId::number(id)); }
  Status contains(std::span<const std::uint64_t> ids, std::span<std::uint8_t> found) override {
    return set_->contains(numbers(ids), found);
  }
  Status compact() override {
    KIN_RETURN_IF_ERROR(set_->flush());
    return set_->settle();
  }
  std::uint64_t memory_bytes() const override { return set_->stats().memory_bytes; }
  std::uint64_t filter_bytes() const override { return set_->stats().filter_bytes; }

 private:
  std::span<const SeenId> numbers(std::span<const std::uint64_t> ids) {
    ids_.resize(ids.size());
    std::transform(ids.begin(), ids.end(), ids_.begin(),
                   [](std::uint64_t id) { return SeenId::number(id); });
    return ids_;
  }

  std::unique_ptr<SeenSet> set_;
  std::vector<SeenId> ids_;
};

class RocksDbEngine : public SeenEngine {
 public:
  explicit RocksDbEngine(std::unique_ptr<kv::KeyValueStore> store)
      : store_(std::move(store)), batch_(*store_) {}

  Status insert(std::span<const std::uint64_t> ids, std::span<std::uint8_t> was_new) override {
    KIN_RETURN_IF_ERROR(contains(ids, was_new));
    batch_.clear();
    mark_first_of_each(ids, was_new);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (was_new[i] != 0) batch_.put(key(ids[i]), {});
    }
    return store_->write(batch_, {.sync = true});
  }

  Result<bool> contains(std::uint64_t id) override {
    KIN_TRY(const auto value, store_->get(key(id)));
    return value.has_value();
  }

  Status contains(std::span<const std::uint64_t> ids, std::span<std::uint8_t> found) override {
    keys_.resize(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) keys_[i] = key(ids[i]);
    return store_->contains_many(keys_, found);
  }

  Status compact() override {
    KIN_RETURN_IF_ERROR(store_->flush());
    return store_->compact();
  }
  std::uint64_t memory_bytes() const override { return store_->usage().memory_bytes(); }
  std::uint64_t filter_bytes() const override { return store_->usage().table_index_bytes; }

 private:
  // The ids are evenly spread numbers, so that the order of their bytes does not matter.
  static std::string_view key(const std::uint64_t& id) {
    return {reinterpret_cast<const char*>(&id), sizeof id};
  }

  // From "was found" to "was new": not found, and not earlier in the batch.
  void mark_first_of_each(std::span<const std::uint64_t> ids, std::span<std::uint8_t> answers) {
    order_.resize(ids.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return ids[a] != ids[b] ? ids[a] < ids[b] : a < b;
    });
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const bool again = i > 0 && ids[order_[i]] == ids[order_[i - 1]];
      answers[order_[i]] = answers[order_[i]] == 0 && !again ? 1 : 0;
    }
  }

  std::unique_ptr<kv::KeyValueStore> store_;
  kv::Batch batch_;
  std::vector<std::string_view> keys_;
  std::vector<std::uint32_t> order_;
};

}  // namespace

Result<std::unique_ptr<SeenEngine>> make_seen_set_engine(const SeenEngineOptions& options) {
  store::SeenOptions how;
  how.mode = store::SeenOptions::Mode::kFresh;
  how.kind = store::IdKind::kNumber;
  how.max_memory = options.max_memory;
  how.expected_ids = options.expected_ids;
  KIN_TRY(auto set, SeenSet::open(options.folder, how));
  return std::unique_ptr<SeenEngine>(std::make_unique<SeenSetEngine>(std::move(set)));
}

Result<std::unique_ptr<SeenEngine>> make_rocksdb_engine(const SeenEngineOptions& options) {
  kv::StoreOptions how;
  how.mode = kv::StoreOptions::Mode::kFresh;
  // kRocksDbSettings tells readers of the figures: change both.
  how.bloom_bits = 10;
  how.write_buffer_bytes = std::uint64_t{64} << 20;
  how.block_cache_bytes = std::uint64_t{64} << 20;
  how.background_jobs = 2;
  KIN_TRY(auto store, kv::KeyValueStore::open(options.folder, how));
  return std::unique_ptr<SeenEngine>(std::make_unique<RocksDbEngine>(std::move(store)));
}

}  // namespace kin::bench
