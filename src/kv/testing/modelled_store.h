// A key-value store and the model of what it must hold, for durability tests.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/testing/durability.h"
#include "base/testing/manual_clock.h"
#include "kv/key_value_store.h"

namespace kin::kv {

// The n-th change is the same in every run, so what a store holds after a crash is the state after
// one of the changes from the last acknowledged to the last attempted one. Changes are batches,
// with and without sync, and ingested rows; some are followed by a flush, a compaction or a
// checkpoint. after_crash() may be called from any thread.
class KeyValuesUnderTest final : public StoreUnderTest {
 public:
  explicit KeyValuesUnderTest(StoreOptions::Engine engine) : engine_(engine) {}
  KeyValuesUnderTest(const KeyValuesUnderTest& other);

  Status open(SimulatedDisk& disk) override;
  bool is_open() const override { return store_ != nullptr; }
  Status write_on(std::uint64_t count) override;
  Status close() override;
  void drop() override { store_.reset(); }
  void expect_kept() override;
  std::optional<Hash128> expected() const override;
  void expect_after(const Error& error) override;
  std::unique_ptr<StoreUnderTest> after_crash() const override {
    return std::make_unique<KeyValuesUnderTest>(*this);
  }

 private:
  using Rows = std::map<std::string, std::string>;
  struct Model {
    Rows main;
    Rows other;
    friend bool operator==(const Model&, const Model&) = default;
  };
  static Model state_after(std::uint64_t changes);
  Status change(std::uint64_t number);
  Status write_without_log(std::uint64_t number);
  StoreOptions options() const;
  void note_flush();
  void expect_unlogged();
  Status copy(std::uint64_t number);
  bool is_copy(const std::filesystem::path& folder, std::uint64_t number);
  void expect_copies();

  StoreOptions::Engine engine_;
  SimulatedDisk* disk_ = nullptr;
  mutable ManualClock clock_;
  std::unique_ptr<KeyValueStore> store_;
  std::uint64_t position_ = 0;  // changes that the open store holds
  bool refuses_ = false;        // a write failed
  std::atomic<std::uint64_t> acknowledged_ = 0;
  mutable std::mutex flushing_;
  Rows flushed_;                           // that were written without log, as of the last flush
  std::atomic<std::uint64_t> copies_ = 0;  // a bit for every checkpoint that was finished
  std::atomic<std::uint64_t> attempted_ = 0;
};

}  // namespace kin::kv
