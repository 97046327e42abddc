// Runs of the seen set over a simulated disk, and what must survive: for tests.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/testing/durability.h"
#include "store/seen_set.h"

namespace kin::store {

inline const std::filesystem::path kSetFolder = "/set";

// So small that logs are rotated, runs written and merged within a hundred ids.
inline SeenOptions small_set(Disk& disk, IdKind kind) {
  SeenOptions options;
  options.kind = kind;
  options.max_memory = kSeenLeastMemory;
  options.table_ids = 24;
  options.piece_ids = 60;
  options.background = false;
  options.disk = &disk;
  return options;
}

inline SeenOptions with_mode(SeenOptions options, SeenOptions::Mode mode) {
  options.mode = mode;
  return options;
}

// The n-th id; 0 is the number 0.
inline SeenId nth_id(const SeenSet& set, std::uint64_t n) {
  if (set.kind() == IdKind::kText) return set.id_of("id " + std::to_string(n));
  return SeenId::number(n * 977);
}

std::vector<SeenId> first_ids(const SeenSet& set, std::uint64_t count);

// The operations on a set over its crashes. Ids are numbered in the order of their first
// insert.
class SeenHistory {
 public:
  std::uint64_t attempted() const { return acknowledged_.size(); }
  bool acknowledged(std::uint64_t n) const { return acknowledged_[n]; }
  std::uint64_t acknowledged_count() const {
    return static_cast<std::uint64_t>(std::count(acknowledged_.begin(), acknowledged_.end(), true));
  }

  // Inserts `count` new ids and some again, alone and together, commits and flushes, and expects
  // right answers. First inserts ids whose state is unknown after crashes. Stops at an error.
  Status write_on(SeenSet& set, std::uint64_t count);
  Status commit(SeenSet& set);
  Status flush(SeenSet& set);
  Status close(SeenSet& set);

  // See StoreUnderTest::expected().
  Hash128 expected() const;
  // The set is gone: unacknowledged ids may be there when it is opened again.
  void crash() { pending_.clear(); }

  // The set, just opened, has everything acknowledged, nothing not inserted, and is intact.
  void expect_kept(SeenSet& set) const;

 private:
  Status insert(SeenSet& set, const std::vector<std::uint64_t>& numbers);
  void acknowledge();

  std::vector<bool> acknowledged_;
  std::set<std::uint64_t> pending_;  // inserted since the last commit
  std::uint64_t round_ = 0;
};

// A small set on which every call writes out and merges by itself.
class SeenUnderTest final : public StoreUnderTest {
 public:
  explicit SeenUnderTest(IdKind kind, SeenHistory history = {})
      : kind_(kind), history_(std::move(history)) {}

  Status open(SimulatedDisk& disk) override;
  bool is_open() const override { return set_ != nullptr; }
  Status write_on(std::uint64_t count) override { return history_.write_on(*set_, count); }
  Status close() override;
  void drop() override { set_.reset(); }
  void expect_kept() override { history_.expect_kept(*set_); }
  std::optional<Hash128> expected() const override { return history_.expected(); }
  void expect_after(const Error& error) override;
  void expect_varied() override;
  std::unique_ptr<StoreUnderTest> after_crash() const override;

 private:
  IdKind kind_;
  SeenHistory history_;
  std::unique_ptr<SeenSet> set_;
};

inline std::string name_of_kind(const testing::TestParamInfo<IdKind>& kind) {
  return kind.param == IdKind::kText ? "Texts" : "Numbers";
}

}  // namespace kin::store
