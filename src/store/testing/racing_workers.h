// Workers that bring near-duplicates to one store at the same time.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "store/testing/documents.h"

namespace kin::store {

// Documents in a row, each a duplicate of its three neighbours on both sides: their SimHashes.
inline std::vector<Fingerprint> row_of_neighbours(int count) {
  std::vector<Fingerprint> documents;
  std::uint64_t simhash = 0;
  for (int i = 0; i < count; ++i) {
    documents.push_back(document(std::to_string(i)));
    documents.back().content.reset();
    if (i > 0) simhash |= std::uint64_t{1} << (i - 1);
    documents.back().simhash = simhash;
  }
  return documents;
}

// Workers with their own stores bring them in any order: no two kept documents are duplicates, and
// every other one is a duplicate of a kept one. `open` opens the store for a worker; worker number
// 4 checks the result.
inline void expect_workers_keep_one_of_neighbours(
    const std::function<std::unique_ptr<FingerprintStore>(std::size_t worker)>& open) {
  constexpr std::size_t kWorkers = 4;
  constexpr int kDocuments = 60;
  const std::vector<Fingerprint> documents = row_of_neighbours(kDocuments);
  std::mutex mutex;
  std::set<int> kept;
  std::vector<std::thread> threads;
  for (std::size_t worker = 0; worker < kWorkers; ++worker) {
    threads.emplace_back([&, worker] {
      const auto store = open(worker);
      std::vector<int> mine;
      for (int i = static_cast<int>(worker); i < kDocuments; i += kWorkers) mine.push_back(i);
      Random random(worker);
      for (std::size_t i = mine.size(); i > 1; --i) std::swap(mine[i - 1], mine[random.below(i)]);
      for (const int number : mine) {
        const std::vector<Fingerprint> batch{documents[static_cast<std::size_t>(number)]};
        const auto found = store->find(batch);
        ASSERT_TRUE(found.ok()) << found.error().message;
        if (!found->candidates[0].empty()) continue;
        const std::vector<std::size_t> chosen{0};
        const auto admitted = store->admit(batch, *found, chosen, always());
        ASSERT_TRUE(admitted.ok()) << admitted.error().message;
        const std::lock_guard lock(mutex);
        if (!(*admitted)[0].lost_to) kept.insert(number);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < kDocuments; ++i) {
    const auto near = std::ranges::count_if(kept, [&](int k) { return std::abs(k - i) <= 3; });
    if (kept.contains(i))
      EXPECT_EQ(near, 1) << i << " is kept beside a duplicate";
    else
      EXPECT_GE(near, 1) << i << " is lost";
  }
  const auto store = open(kWorkers);
  EXPECT_EQ(store->stats()->documents, kept.size());
  EXPECT_THAT(*store->check(), testing::IsEmpty());
}

}  // namespace kin::store
