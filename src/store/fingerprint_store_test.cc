// The contract of fingerprint stores on this machine, and properties of the local one.
#include <thread>

#include "base/file.h"
#include "base/testing/durability.h"
#include "store/local_stores.h"
#include "store/testing/fingerprint_store_contract.h"

namespace kin::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;
using Engine = kv::StoreOptions::Engine;

class LocalPlace final : public FingerprintPlace {
 public:
  explicit LocalPlace(Engine engine) : engine_(engine) {}
  Result<std::unique_ptr<FingerprintStore>> open(std::optional<std::chrono::days> retention,
                                                 const FingerprintParameters& parameters,
                                                 Clock& clock) override {
    LocalStoreOptions options;
    options.folder = folder_.path() / "store";
    options.retention = retention;
    options.clock = &clock;
    options.engine = engine_;
    options.memory_bytes = 16 << 20;
    return open_local_fingerprints(options, parameters);
  }

 private:
  const Engine engine_;
  TemporaryFolder folder_ = *TemporaryFolder::create();
};

INSTANTIATE_TEST_SUITE_P(
    Stores, FingerprintStoreContract,
    testing::Values(StoreKind{"RocksDb",
                              [] { return std::make_unique<LocalPlace>(Engine::kRocksDb); }},
                    StoreKind{"Log", [] { return std::make_unique<LocalPlace>(Engine::kLog); }}),
    [](const auto& kind) { return kind.param.name; });

TEST(LocalFingerprints, AStoreThatIsNotThereIsNotMadeWithoutParameters) {
  const TemporaryFolder folder = *TemporaryFolder::create();
  const auto missing = open_local_fingerprints({.folder = folder.path() / "none"});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, Code::kNotFound);
}

TEST(LocalFingerprints, AKeyListsAThousandDocumentsAndCountsTheRest) {
  const TemporaryFolder folder = *TemporaryFolder::create();
  auto store = *open_local_fingerprints({.folder = folder.path()}, some_parameters());
  std::vector<Fingerprint> batch;
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < 1'003; ++i) {
    batch.push_back(document(std::to_string(i)));
    batch.back().bands = {42};
    chosen.push_back(i);
  }
  ASSERT_TRUE(store->admit(batch, *store->find(batch), chosen, never()).ok());
  EXPECT_EQ(store->stats()->capped_keys, 3U);
  Fingerprint probe;
  probe.bands = {42};
  EXPECT_EQ(store->find(std::span(&probe, 1))->candidates[0].size(), 1'000U);
  EXPECT_THAT(*store->check(), IsEmpty());
}

TEST(LocalFingerprints, KeysAreMadeAgainIfTheirFolderIsGone) {
  const TemporaryFolder folder = *TemporaryFolder::create();
  const LocalStoreOptions options{.folder = folder.path() / "store", .memory_bytes = 1 << 10};
  {
    auto store = *open_local_fingerprints(options, some_parameters());
    for (int i = 0; i < 50; ++i) {
      const std::vector<Fingerprint> batch = {document(std::to_string(i))};
      const std::vector<std::size_t> chosen = {0};
      ASSERT_TRUE(store->admit(batch, *store->find(batch), chosen, never()).ok());
    }
  }
  EXPECT_TRUE(std::filesystem::exists(options.folder / "keys" / "manifest"));
  std::filesystem::remove_all(options.folder / "keys");
  auto store = *open_local_fingerprints(options);
  EXPECT_THAT(*store->check(), IsEmpty());
  Fingerprint copy = document("17");
  copy.doc = doc_id_of("test", "copy");
  EXPECT_THAT(store->find(std::span(&copy, 1))->candidates[0],
              ElementsAre(Candidate{document("17").doc, Shared::kContent, {}}));
}

// Admits pairs of documents on a simulated disk. An admission is there as a whole or not at all.
class FingerprintsUnderTest final : public StoreUnderTest {
 public:
  Status open(SimulatedDisk& disk) override {
    LocalStoreOptions options;
    options.folder = "store";
    options.engine = kv::StoreOptions::Engine::kLog;
    options.disk = &disk;
    options.memory_bytes = 0;  // so that a few admissions fill it, and runs of keys are merged
    KIN_TRY(store_, open_local_fingerprints(options, some_parameters()));
    return Done{};
  }
  bool is_open() const override { return store_ != nullptr; }
  Status write_on(std::uint64_t count) override {
    for (std::uint64_t done = 0; done < count; done += 2) {
      std::vector<Fingerprint> batch;
      for (const char* half : {"a", "b"}) {
        batch.push_back(document(std::to_string(attempted_) + half));
        batch.back().bands = {attempted_ % 5, attempted_ + 100};
      }
      const std::vector<std::size_t> chosen = {0, 1};
      KIN_TRY(const Found found, store_->find(batch));
      unsure_.push_back(attempted_++);
      KIN_RETURN_IF_ERROR(store_->admit(batch, found, chosen, never()));
      kept_.push_back(unsure_.back());
      unsure_.pop_back();
    }
    return Done{};
  }
  Status close() override {
    store_.reset();
    return Done{};
  }
  void drop() override { store_.reset(); }
  void expect_kept() override {
    for (const std::uint64_t number : kept_) EXPECT_EQ(halves(number), 2) << number;
    for (const std::uint64_t number : unsure_) {
      if (halves(number) == 0) continue;
      EXPECT_EQ(halves(number), 2) << number;
      kept_.push_back(number);
    }
    unsure_.clear();
    EXPECT_EQ(store_->stats()->documents, 2 * kept_.size());
    EXPECT_THAT(*store_->check(), IsEmpty());
  }
  std::optional<Hash128> expected() const override {
    std::string all;
    for (const auto* numbers : {&kept_, &unsure_}) {
      append_le(all, numbers->size());
      for (const std::uint64_t number : *numbers) append_le(all, number);
    }
    return hash128(all);
  }
  void expect_after(const Error& error) override {
    EXPECT_TRUE(error.code == Code::kUnavailable || error.code == Code::kResourceExhausted ||
                error.code == Code::kFailedPrecondition)
        << error.message;
  }
  std::unique_ptr<StoreUnderTest> after_crash() const override {
    auto copy = std::make_unique<FingerprintsUnderTest>();
    copy->attempted_ = attempted_;
    copy->kept_ = kept_;
    copy->unsure_ = unsure_;
    return copy;
  }

 private:
  // The number of documents of an admission that exist.
  int halves(std::uint64_t number) const {
    const std::vector<DocId> ids = {document(std::to_string(number) + "a").doc,
                                    document(std::to_string(number) + "b").doc};
    const auto found = *store_->get(ids);
    return (found[0] ? 1 : 0) + (found[1] ? 1 : 0);
  }

  std::unique_ptr<FingerprintStore> store_;
  std::uint64_t attempted_ = 0;
  std::vector<std::uint64_t> kept_;    // acknowledged, or found after a crash
  std::vector<std::uint64_t> unsure_;  // failed: there as a whole, or not at all
};

TEST(LocalFingerprints, AdmissionsSurvivePowerCutsWhole) {
  Durability durability(std::make_unique<FingerprintsUnderTest>());
  durability.cut_power_at_every_step(12);
}

TEST(LocalFingerprints, AdmissionsSurviveFailingCalls) {
  Durability durability(std::make_unique<FingerprintsUnderTest>());
  durability.fail_every_call({}, 12);
  durability.fail_every_call({.for_good = true}, 12);
}

}  // namespace
}  // namespace kin::store
