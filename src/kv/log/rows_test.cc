#include "kv/log/rows.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"

namespace kin::kv {
namespace {

using Model = std::map<std::string, std::string>;

void expect_same(const Rows& rows, const Model& model) {
  ASSERT_EQ(rows.size(), model.size());
  std::uint64_t bytes = 0;
  const Rows::Row* row = rows.at_or_after("");
  for (const auto& [key, value] : model) {
    ASSERT_NE(row, nullptr);
    ASSERT_EQ(row->key, key);
    ASSERT_EQ(row->value, value);
    bytes += key.size() + value.size();
    row = rows.after(row->key);
  }
  ASSERT_EQ(row, nullptr);
  ASSERT_EQ(rows.bytes(), bytes);
}

TEST(Rows, AgreeWithAMapAndCopiesKeepTheirMoment) {
  Random random(3);
  Rows rows;
  Model model;
  std::vector<std::pair<Rows, Model>> copies;
  const auto key = [&] { return std::to_string(random.below(300)); };
  for (int round = 0; round < 3'000; ++round) {
    const std::uint64_t act = random.below(20);
    const std::string from = key();
    if (act < 14) {
      rows.put(from, std::to_string(round));
      model[from] = std::to_string(round);
    } else if (act < 19) {
      rows.remove(from);
      model.erase(from);
    } else {
      const std::string to = from + "5";
      rows.remove_range(from, to);
      model.erase(model.lower_bound(from), model.lower_bound(to));
    }
    const std::string sought = key();
    const auto found = model.find(sought);
    const Rows::Row* row = rows.find(sought);
    ASSERT_EQ(row != nullptr, found != model.end());
    ASSERT_TRUE(row == nullptr || row->value == found->second);
    if (round % 100 == 0) copies.emplace_back(rows, model);
  }
  copies.emplace_back(rows, model);
  for (const auto& [copy, then] : copies) expect_same(copy, then);
}

TEST(Rows, TakeKeysInOrderWithoutGrowingDeep) {
  Rows rows;
  for (int i = 0; i < 100'000; ++i) rows.put(std::to_string(1'000'000 + i), "");
  EXPECT_EQ(rows.size(), 100'000U);
  EXPECT_EQ(rows.at_or_after("1050000")->key, "1050000");
}

}  // namespace
}  // namespace kin::kv
