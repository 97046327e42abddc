// A truth on a simulated machine that can lose its power.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/testing/simulated_disk.h"
#include "index/truth/truth.h"

namespace kin::index {

// One thread only.
class SimulatedTruth {
 public:
  SimulatedTruth() { open(); }

  Truth& operator*() { return *truth_; }
  Truth* operator->() { return truth_.get(); }
  TruthView view() const { return std::move(*truth_->view()); }

  // The machine stops without a warning and starts again.
  void cut_power(std::uint64_t seed) {
    auto disk = disk_->power_cut({.seed = seed});
    truth_.reset();
    disk_ = std::move(disk);
    open();
  }

  Result<Applied> apply(std::span<const Record> records) { return truth_->apply(records); }
  Status acknowledge(std::string_view follower, Lsn applied) {
    return truth_->acknowledge(follower, applied);
  }

 private:
  void open() {
    auto opened =
        Truth::open("/truth", {.engine = kv::StoreOptions::Engine::kLog, .disk = disk_.get()});
    KIN_CHECK(opened.ok(), "the truth opens");
    truth_ = std::move(*opened);
  }

  std::unique_ptr<SimulatedDisk> disk_ = std::make_unique<SimulatedDisk>();
  std::unique_ptr<Truth> truth_;
};

}  // namespace kin::index
