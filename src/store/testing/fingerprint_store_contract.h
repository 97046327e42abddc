// The contract of every fingerprint store. A test includes this and instantiates
// FingerprintStoreContract with its kinds of store.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/testing/manual_clock.h"
#include "store/fingerprint_store.h"
#include "store/testing/documents.h"

namespace kin::store {

// A place for one store. Opening it again opens the existing store.
class FingerprintPlace {
 public:
  virtual ~FingerprintPlace() = default;
  virtual Result<std::unique_ptr<FingerprintStore>> open(std::optional<std::chrono::days> retention,
                                                         const FingerprintParameters& parameters,
                                                         Clock& clock) = 0;
};
struct StoreKind {
  std::string name;
  std::function<std::unique_ptr<FingerprintPlace>()> make;
  friend void PrintTo(const StoreKind& kind, std::ostream* out) { *out << kind.name; }
};

class FingerprintStoreContract : public testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override { open(); }

  void open(std::optional<std::chrono::days> retention = {},
            const FingerprintParameters& parameters = some_parameters()) {
    store_.reset();
    store_ = std::move(*try_open(retention, parameters));
  }
  Result<std::unique_ptr<FingerprintStore>> try_open(std::optional<std::chrono::days> retention,
                                                     const FingerprintParameters& parameters) {
    return place_->open(retention, parameters, clock_);
  }
  void close() { store_.reset(); }

  std::vector<Admission> admit(const std::vector<Fingerprint>& batch) {
    const Found found = *store_->find(batch);
    return admit(batch, found, never());
  }
  std::vector<Admission> admit(const std::vector<Fingerprint>& batch, const Found& found,
                               const Judge& judge) {
    std::vector<std::size_t> all(batch.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    auto admitted = store_->admit(batch, found, all, judge);
    EXPECT_TRUE(admitted.ok()) << admitted.error().message;
    return admitted.ok() ? *admitted : std::vector<Admission>{};
  }
  std::vector<Candidate> candidates(const Fingerprint& of) {
    return store_->find(std::span(&of, 1))->candidates[0];
  }

  std::unique_ptr<FingerprintPlace> place_ = GetParam().make();
  ManualClock clock_{WallTime(std::chrono::milliseconds(1'000'000'000))};
  std::unique_ptr<FingerprintStore> store_;
};

TEST_P(FingerprintStoreContract, GivesBackWhatWasAdmittedAlsoWhenOpenedAgain) {
  Fingerprint full = document("a");
  full.words = hash128("words");
  full.simhash = 77;
  full.bands = {1, 2, 3};
  full.signature = {9, 8, 7};
  full.chunks = {ChunkHash{}, ChunkHash{std::byte{1}}};
  EXPECT_THAT(admit({full, document("b")}), testing::ElementsAre(Admission{}, Admission{}));
  open();
  const std::vector<DocId> ids = {document("b").doc, document("missing").doc, full.doc};
  const auto got = *store_->get(ids);
  EXPECT_EQ(got[0], document("b"));
  EXPECT_EQ(got[1], std::nullopt);
  EXPECT_EQ(got[2], full);
}

TEST_P(FingerprintStoreContract, FindsDocumentsByEveryKindOfKey) {
  Fingerprint old = document("old");
  old.words = hash128("w");
  old.simhash = 0xF0F0'F0F0'F0F0'F0F0;
  old.bands = {10, 11};
  old.chunks = {ChunkHash{std::byte{5}}, ChunkHash{std::byte{6}}};
  admit({old});
  Fingerprint probe;
  probe.doc = doc_id_of("test", "probe");
  EXPECT_THAT(candidates(probe), testing::IsEmpty());
  probe.content = old.content;
  EXPECT_THAT(candidates(probe), testing::ElementsAre(Candidate{old.doc, Shared::kContent, {}}));
  probe.content.reset();
  probe.words = old.words;
  probe.bands = {99, 11};
  EXPECT_THAT(candidates(probe),
              testing::ElementsAre(Candidate{old.doc, Shared::kWords | Shared::kBand, {}}));
  probe.words.reset();
  probe.bands.clear();
  probe.chunks = {ChunkHash{std::byte{6}}, ChunkHash{std::byte{7}}, ChunkHash{std::byte{5}}};
  EXPECT_THAT(candidates(probe), testing::ElementsAre(Candidate{old.doc, Shared::kChunk, {0, 2}}));
}

TEST_P(FingerprintStoreContract, ABatchIsAskedAndAddedAsIfOneByOne) {
  constexpr int kDocuments = 40;
  std::vector<Fingerprint> stored;
  std::vector<Fingerprint> probes;
  for (int i = 0; i < kDocuments; ++i) {
    Fingerprint one = document("stored " + std::to_string(i));
    one.words = hash128("words " + std::to_string(i));
    one.simhash = mix64(static_cast<std::uint64_t>(i + 1));
    one.bands = {static_cast<std::uint64_t>(i % 7), 1'000 + static_cast<std::uint64_t>(i)};
    one.chunks = {ChunkHash{std::byte{static_cast<std::uint8_t>(i % 5)}},
                  ChunkHash{std::byte{static_cast<std::uint8_t>(100 + i)}}};
    stored.push_back(one);
    one.doc = doc_id_of("test", "probe " + std::to_string(i));
    if (i % 2 == 0) one.content.reset();
    if (i % 3 == 0) one.words.reset();
    one.simhash = *one.simhash ^ (i % 4 == 0 ? 0xFULL : 0x7ULL);  // 4 or 3 bits away
    if (i % 5 == 0) one.bands.pop_back();
    probes.push_back(one);
  }
  admit(stored);
  const Found together = *store_->find(probes);
  ASSERT_EQ(together.candidates.size(), probes.size());
  for (std::size_t i = 0; i < probes.size(); ++i) {
    // The shared keys, found by comparing with every document.
    std::vector<Candidate> expected;
    for (const Fingerprint& other : stored) {
      Candidate candidate{.doc = other.doc};
      const auto add = [&](bool shared, Shared kind) {
        if (shared) candidate.shared = candidate.shared | kind;
      };
      const auto any_of = [](const auto& values, const auto& value) {
        return std::find(values.begin(), values.end(), value) != values.end();
      };
      add(probes[i].content && probes[i].content == other.content, Shared::kContent);
      add(probes[i].words && probes[i].words == other.words, Shared::kWords);
      for (const std::uint64_t band : probes[i].bands)
        add(any_of(other.bands, band), Shared::kBand);
      add(std::popcount(*probes[i].simhash ^ *other.simhash) <= 3, Shared::kSimHash);
      for (std::uint32_t chunk = 0; chunk < probes[i].chunks.size(); ++chunk) {
        if (!any_of(other.chunks, probes[i].chunks[chunk])) continue;
        candidate.chunks.push_back(chunk);
        add(true, Shared::kChunk);
      }
      if (candidate.shared != Shared::kNone) expected.push_back(std::move(candidate));
    }
    std::sort(expected.begin(), expected.end(),
              [](const Candidate& a, const Candidate& b) { return a.doc < b.doc; });
    EXPECT_EQ(together.candidates[i], expected) << i;
    if (i % 10 == 0) {
      EXPECT_EQ(candidates(probes[i]), expected) << i;
    }
  }
}

TEST_P(FingerprintStoreContract, FindsSimHashesUpToTheDistanceAndNoFurther) {
  Fingerprint old = document("old");
  old.simhash = 0x0123'4567'89AB'CDEF;
  admit({old});
  Fingerprint probe;
  probe.doc = doc_id_of("test", "probe");
  for (int a = 0; a < 64; a += 5) {
    for (int b = 0; b < 64; b += 7) {
      for (int c = 0; c < 64; c += 11) {
        probe.simhash = *old.simhash ^ (1ULL << a) ^ (1ULL << b) ^ (1ULL << c);
        ASSERT_EQ(candidates(probe).size(), 1U) << a << " " << b << " " << c;
      }
    }
  }
  probe.simhash = *old.simhash ^ 0x0001'0001'0001'0001;
  EXPECT_THAT(candidates(probe), testing::IsEmpty());
}

TEST_P(FingerprintStoreContract, ListsEveryDocumentOfAKeyInTheOrderOfIds) {
  std::vector<Fingerprint> batch;
  for (int i = 0; i < 20; ++i) {
    batch.push_back(document(std::to_string(i)));
    batch.back().bands = {42};
  }
  admit(batch);
  Fingerprint probe;
  probe.bands = {42};
  const auto found = candidates(probe);
  ASSERT_EQ(found.size(), 20U);
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end(),
                             [](const auto& a, const auto& b) { return a.doc < b.doc; }));
}

TEST_P(FingerprintStoreContract, AdmittingAgainChangesNothing) {
  Fingerprint one = document("one");
  one.bands = {1, 2};
  admit({one});
  admit({one});
  EXPECT_EQ(store_->stats()->documents, 1U);
  Fingerprint probe;
  probe.bands = {1, 2};
  EXPECT_EQ(candidates(probe).size(), 1U);
  EXPECT_THAT(*store_->check(), testing::IsEmpty());
  const Found again = *store_->find(std::vector{one, document("two")});
  EXPECT_TRUE(again.stored[0]);
  EXPECT_FALSE(again.stored[1]);
  EXPECT_THAT(again.candidates[0], testing::IsEmpty());
}

TEST_P(FingerprintStoreContract, ADocumentThatIsReplacedIsFoundByItsNewKeysOnly) {
  Fingerprint one = document("one");
  one.bands = {1, 2};
  one.simhash = 0;
  admit({one});
  Fingerprint changed = one;
  changed.content = hash128("other");
  changed.bands = {2, 3};
  changed.simhash = ~0ULL;
  changed.packed_text.clear();
  admit({changed});
  Fingerprint probe;
  probe.doc = doc_id_of("test", "probe");
  for (const std::uint64_t band : {2, 3}) {
    probe.bands = {band};
    EXPECT_EQ(candidates(probe).size(), 1U) << band;
  }
  probe.bands = {1};
  probe.content = one.content;
  probe.simhash = 0;
  EXPECT_THAT(candidates(probe), testing::IsEmpty());
  EXPECT_EQ((*store_->get(std::span(&one.doc, 1)))[0], changed);
  EXPECT_THAT(*store_->check(), testing::IsEmpty());
}

TEST_P(FingerprintStoreContract, OfDuplicatesThatWereLookedUpAtOnceOneIsAdmitted) {
  Fingerprint first = document("first");
  Fingerprint second = document("second");
  first.bands = second.bands = {7};
  const std::vector<Fingerprint> mine = {first};
  const std::vector<Fingerprint> theirs = {second};
  const Found mine_found = *store_->find(mine);
  const Found theirs_found = *store_->find(theirs);
  EXPECT_THAT(admit(mine, mine_found, always()), testing::ElementsAre(Admission{}));
  EXPECT_THAT(admit(theirs, theirs_found, always()), testing::ElementsAre(Admission{first.doc}));
  EXPECT_EQ(store_->stats()->documents, 1U);
}

TEST_P(FingerprintStoreContract, TheJudgeDecidesAndSharedChunksAreNoRivals) {
  Fingerprint first = document("first");
  Fingerprint second = document("second");
  Fingerprint third = document("third");
  first.bands = second.bands = {7};
  first.chunks = third.chunks = {ChunkHash{std::byte{3}}};
  const std::vector<Fingerprint> others = {second, third};
  const Found before = *store_->find(others);
  admit({first});
  EXPECT_THAT(admit({second}, *store_->find(std::vector{second}), always()),
              testing::ElementsAre(Admission{}))
      << "first was there at the look-up";
  std::vector<DocId> judged;
  const auto judge = [&](const Fingerprint& mine, const Fingerprint& theirs) -> Result<bool> {
    EXPECT_EQ(mine, second);
    judged.push_back(theirs.doc);
    EXPECT_EQ(theirs.packed_text, "text of first");
    return false;
  };
  EXPECT_THAT(admit(others, before, judge), testing::ElementsAre(Admission{}, Admission{}));
  EXPECT_THAT(judged, testing::ElementsAre(first.doc));
  const auto failing = [](const Fingerprint&, const Fingerprint&) -> Result<bool> {
    return Error{Code::kDataLoss, "unreadable"};
  };
  const std::vector<std::size_t> chosen = {0};
  EXPECT_EQ(store_->admit(others, before, chosen, failing).error().message, "unreadable");
}

TEST_P(FingerprintStoreContract, ThreadsThatAdmitDuplicatesAtOnceKeepOneOfEach) {
  constexpr int kThreads = 4;
  constexpr int kContents = 50;
  std::vector<int> admitted(kContents);
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int worker = 0; worker < kThreads; ++worker) {
    threads.emplace_back([&, worker] {
      for (int content = 0; content < kContents; ++content) {
        Fingerprint mine = document(std::to_string(worker) + "/" + std::to_string(content));
        mine.content = hash128(std::to_string(content));
        const std::vector<Fingerprint> batch = {mine};
        const Found found = *store_->find(batch);
        if (!found.candidates[0].empty()) continue;
        const std::vector<std::size_t> chosen = {0};
        const auto outcome = *store_->admit(batch, found, chosen, always());
        const std::scoped_lock lock(mutex);
        admitted[static_cast<std::size_t>(content)] += outcome[0].lost_to ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(admitted, testing::Each(1));
  EXPECT_EQ(store_->stats()->documents, std::uint64_t{kContents});
  EXPECT_THAT(*store_->check(), testing::IsEmpty());
}

TEST_P(FingerprintStoreContract, ForgetsWhatIsOlderThanItsRetention) {
  open(std::chrono::days(2));
  Fingerprint old = document("old");
  admit({old});
  clock_.advance(std::chrono::hours(47));
  Fingerprint probe = document("probe");
  probe.content = old.content;
  EXPECT_EQ(candidates(probe).size(), 1U);
  clock_.advance(std::chrono::hours(1));
  EXPECT_THAT(candidates(probe), testing::IsEmpty());
  EXPECT_EQ((*store_->get(std::span(&old.doc, 1)))[0], std::nullopt);
  int visited = 0;
  EXPECT_TRUE(store_->each([&](const Fingerprint&) -> Status {
    ++visited;
    return Done{};
  }));
  EXPECT_EQ(visited, 0);
}

TEST_P(FingerprintStoreContract, RefusesOtherParametersAndNamesThem) {
  close();
  FingerprintParameters other = some_parameters();
  other.settings[1].second = "word:3";
  const auto refused = try_open({}, other);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(refused.error().message,
              testing::HasSubstr("made with --shingle word:5, and this run has --shingle word:3"));
  other = some_parameters();
  other.hamming = 4;
  EXPECT_THAT(try_open({}, other).error().message, testing::HasSubstr("--hamming 3"));
  EXPECT_TRUE(try_open({}, some_parameters()).ok());
}

TEST_P(FingerprintStoreContract, KeepsItsParametersWhenOtherVersionsHaveMoreOrFewer) {
  close();
  FingerprintParameters other = some_parameters();
  other.settings.emplace_back("--later", "1");
  other.settings.erase(other.settings.begin());
  const auto store = try_open({}, other);
  ASSERT_TRUE(store.ok()) << store.error().message;
  EXPECT_EQ((*store)->parameters(), some_parameters());
}

TEST_P(FingerprintStoreContract, VisitsEveryDocumentWithItsText) {
  std::vector<Fingerprint> batch;
  for (int i = 0; i < 5; ++i) batch.push_back(document(std::to_string(i)));
  batch[2].packed_text.clear();
  admit(batch);
  std::vector<Fingerprint> visited;
  EXPECT_TRUE(store_->each([&](const Fingerprint& one) -> Status {
    visited.push_back(one);
    return Done{};
  }));
  EXPECT_THAT(visited, testing::UnorderedElementsAreArray(batch));
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FingerprintStoreContract);

}  // namespace kin::store
