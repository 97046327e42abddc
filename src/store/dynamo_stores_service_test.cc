// The contracts of fingerprint store and ledger in DynamoDB: two engines, and one of them behind a
// proxy that makes things go wrong.
#include "store/dynamo_stores.h"

#include <thread>

#include "base/random.h"
#include "cloud/testing/fault_proxy.h"
#include "cloud/testing/services.h"
#include "store/testing/fingerprint_store_contract.h"
#include "store/testing/ledger_contract.h"

namespace kin::store {
namespace {

// A database for one test.
class Database {
 public:
  explicit Database(const std::string& name) {
    const std::string faults = std::string(cloud::kHttpFaults) + ",corrupt=0.04,unprocessed=0.3";
    if (name == "proxy")
      proxy_ = std::make_unique<cloud::FaultProxy>("dynoxide", std::vector<std::string>{},
                                                   std::vector<std::string>{"--faults", faults});
    else
      server_ = cloud::start_service(name);
  }
  DynamoStoreOptions options(std::optional<std::chrono::days> retention, Clock& clock) {
    return {.cloud = proxy_ ? proxy_->options() : cloud::test_options(server_->url("")),
            .retention = retention,
            .clock = &clock,
            .seed = ++seed_};
  }

 private:
  std::unique_ptr<net::TestServer> server_;
  std::unique_ptr<cloud::FaultProxy> proxy_;
  std::uint64_t seed_ = 0;
};

class DynamoPlace final : public StorePlace {
 public:
  explicit DynamoPlace(const std::string& name) : database_(name) {}
  Result<std::unique_ptr<FingerprintStore>> open(std::optional<std::chrono::days> retention,
                                                 const FingerprintParameters& parameters,
                                                 Clock& clock) override {
    const DynamoStoreOptions options = database_.options(retention, clock);
    const auto made = create_dynamo_fingerprints(options);
    if (!made) return made.error();
    return open_dynamo_fingerprints(options, parameters);
  }

 private:
  Database database_;
};

class DynamoLedgerPlace final : public LedgerPlace {
 public:
  explicit DynamoLedgerPlace(const std::string& name) : database_(name) {}
  Result<std::unique_ptr<Ledger>> open(std::optional<std::chrono::days> retention,
                                       Clock& clock) override {
    const DynamoStoreOptions options = database_.options(retention, clock);
    const auto made = create_dynamo_ledger(options);
    if (!made) return made.error();
    return open_dynamo_ledger(options);
  }

 private:
  Database database_;
};

INSTANTIATE_TEST_SUITE_P(
    Dynamo, FingerprintStoreContract,
    testing::Values(StoreKind{"Dynoxide", [] { return std::make_unique<DynamoPlace>("dynoxide"); }},
                    StoreKind{"Dynalite", [] { return std::make_unique<DynamoPlace>("dynalite"); }},
                    StoreKind{"Faults", [] { return std::make_unique<DynamoPlace>("proxy"); }}),
    [](const auto& kind) { return kind.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Dynamo, LedgerContract,
    testing::Values(
        LedgerKind{"Dynoxide", [] { return std::make_unique<DynamoLedgerPlace>("dynoxide"); }},
        LedgerKind{"Dynalite", [] { return std::make_unique<DynamoLedgerPlace>("dynalite"); }},
        LedgerKind{"Faults", [] { return std::make_unique<DynamoLedgerPlace>("proxy"); }}),
    [](const auto& kind) { return kind.param.name; });

// Documents in a row, each a duplicate of its three neighbours on both sides, brought by workers
// that have stores of their own: no two that are kept are duplicates, and every other one is a
// duplicate of one that is.
TEST(DynamoFingerprints, WorkersKeepOneOfTheDuplicatesThatArriveTogether) {
  for (const char* name : {"dynoxide", "proxy"}) {
    Database database(name);
    const DynamoStoreOptions options = database.options({}, system_clock());
    ASSERT_TRUE(create_dynamo_fingerprints(options).ok());
    constexpr std::size_t kWorkers = 4;
    constexpr int kDocuments = 60;
    std::vector<Fingerprint> documents;
    std::uint64_t simhash = 0;
    for (int i = 0; i < kDocuments; ++i) {
      documents.push_back(document(std::to_string(i)));
      documents.back().content.reset();
      if (i > 0) simhash |= std::uint64_t{1} << (i - 1);
      documents.back().simhash = simhash;
    }
    std::mutex mutex;
    std::set<int> kept;
    std::vector<std::thread> threads;
    for (std::size_t worker = 0; worker < kWorkers; ++worker) {
      threads.emplace_back([&, worker] {
        DynamoStoreOptions own = options;
        own.seed = 100 + worker;
        const auto store = *open_dynamo_fingerprints(own, some_parameters());
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
    const auto store = *open_dynamo_fingerprints(options);
    EXPECT_EQ(store->stats()->documents, kept.size());
    EXPECT_THAT(*store->check(), testing::IsEmpty());
  }
}

TEST(DynamoFingerprints, KeepTextsThatAreLongerThanAnItem) {
  Database database("dynoxide");
  ManualClock clock;
  const DynamoStoreOptions options = database.options({}, clock);
  ASSERT_TRUE(create_dynamo_fingerprints(options).ok());
  const auto store = *open_dynamo_fingerprints(options, some_parameters());
  Fingerprint large = document("large");
  large.packed_text = std::string(1'000'000, '\0');
  const std::vector<Fingerprint> batch{large};
  const std::vector<std::size_t> chosen{0};
  ASSERT_TRUE(store->admit(batch, *store->find(batch), chosen, never()).ok());
  EXPECT_TRUE((*store->get(std::span(&large.doc, 1)))[0] == large);
}

TEST(DynamoFingerprints, SayThatTheirTablesAreMissing) {
  Database database("dynoxide");
  const DynamoStoreOptions options = database.options({}, system_clock());
  EXPECT_EQ(open_dynamo_fingerprints(options).error().code, Code::kNotFound);
  EXPECT_EQ(open_dynamo_ledger(options).error().code, Code::kNotFound);
}

}  // namespace
}  // namespace kin::store
