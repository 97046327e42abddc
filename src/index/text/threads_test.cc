// Readers beside a writer and a merger: every view is consistent.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "index/text_index.h"

namespace kin::index {
namespace {

constexpr std::uint32_t kDocuments = 10;

// Every document names the change that made it.
TextChanges generation(std::uint64_t number) {
  TextChanges changes{.lsn = number};
  for (std::uint32_t i = 0; i < kDocuments; ++i)
    changes.upserts.push_back({.number = i, .fields = {"gen" + std::to_string(number), "same"}});
  return changes;
}

void read_until(const std::atomic<bool>& stop, const TextIndex& index, std::atomic<int>& wrong) {
  while (!stop.load()) {
    const TextView view = index.view();
    const auto own = *view.search(plain_query("gen" + std::to_string(view.applied())), {.k = 100});
    const auto all = *view.search(plain_query("same"), {.k = 100, .count = true});
    const bool whole = own.hits.size() == kDocuments && all.count == kDocuments;
    if (!whole) ++wrong;
  }
}

TEST(TextIndexThreads, ShowReadersWholeChangesOnly) {
  TextIndex index = *TextIndex::create({});
  index.apply(generation(1));
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) threads.emplace_back([&] { read_until(stop, index, wrong); });
  threads.emplace_back([&] {
    while (!stop.load()) {
      if (!index.merge()) index.merge_all();
    }
  });
  for (std::uint64_t number = 2; number < 300; ++number) index.apply(generation(number));
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
  index.merge_all();
  EXPECT_EQ(index.view().documents(), kDocuments);
}

}  // namespace
}  // namespace kin::index
