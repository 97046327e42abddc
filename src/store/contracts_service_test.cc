// The contracts of fingerprint stores and ledgers on servers: two engines of DynamoDB, S3, and both
// behind a proxy that injects faults; and with a cache in Redis.
#include "store/cached_fingerprints.h"
#include "store/local_stores.h"
#include "store/testing/fingerprint_store_contract.h"
#include "store/testing/ledger_contract.h"
#include "store/testing/places.h"

namespace kin::store {
namespace {

class DynamoPlace final : public FingerprintPlace {
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
  DynamoDatabase database_;
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
  DynamoDatabase database_;
};

class S3Place final : public FingerprintPlace {
 public:
  explicit S3Place(const std::string& name) : place_(name) {}
  Result<std::unique_ptr<FingerprintStore>> open(std::optional<std::chrono::days> retention,
                                                 const FingerprintParameters& parameters,
                                                 Clock& clock) override {
    return open_s3_fingerprints(place_.options(retention, clock), parameters);
  }

 private:
  S3Area place_;
};

class S3LedgerPlace final : public LedgerPlace {
 public:
  explicit S3LedgerPlace(const std::string& name) : place_(name) {}
  Result<std::unique_ptr<Ledger>> open(std::optional<std::chrono::days> retention,
                                       Clock& clock) override {
    return open_s3_ledger(place_.options(retention, clock));
  }

 private:
  S3Area place_;
};

// One for all tests: entries of other tests are harmless.
const RedisServer& redis(const std::string& kind) {
  static std::map<std::string, std::unique_ptr<RedisServer>> servers;
  auto& server = servers[kind];
  if (!server) server = std::make_unique<RedisServer>(kind);
  return *server;
}

// A store on this machine behind a cache: "redis", with TLS and a password, behind a proxy that
// cuts connections, or unreachable.
class CachedPlace final : public FingerprintPlace {
 public:
  explicit CachedPlace(const std::string& kind) : cache_(redis(kind)) {}
  Result<std::unique_ptr<FingerprintStore>> open(std::optional<std::chrono::days> retention,
                                                 const FingerprintParameters& parameters,
                                                 Clock& clock) override {
    LocalStoreOptions local;
    local.folder = folder_.path() / "store";
    local.retention = retention;
    local.clock = &clock;
    local.memory_bytes = 16 << 20;
    KIN_TRY(auto store, open_local_fingerprints(local, parameters));
    CacheOptions options;
    options.redis = cache_.options();
    options.retention = retention;
    options.clock = &clock;
    options.pause = std::chrono::seconds(0);
    return std::unique_ptr<FingerprintStore>(
        std::make_unique<CachedFingerprints>(std::move(store), options));
  }

 private:
  const RedisServer& cache_;
  TemporaryFolder folder_ = *TemporaryFolder::create();
};

StoreKind cached_kind(const std::string& name, const std::string& kind) {
  return {name, [kind] { return std::make_unique<CachedPlace>(kind); }};
}

INSTANTIATE_TEST_SUITE_P(Cached, FingerprintStoreContract,
                         testing::Values(cached_kind("Redis", "plain"), cached_kind("Tls", "tls"),
                                         cached_kind("Faults", "faults"),
                                         cached_kind("Gone", "gone")),
                         [](const auto& kind) { return kind.param.name; });

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

INSTANTIATE_TEST_SUITE_P(
    S3, FingerprintStoreContract,
    testing::Values(StoreKind{"S3rver", [] { return std::make_unique<S3Place>("S3rver"); }},
                    StoreKind{"Faults", [] { return std::make_unique<S3Place>("Faults"); }}),
    [](const auto& kind) { return kind.param.name; });

INSTANTIATE_TEST_SUITE_P(
    S3, LedgerContract,
    testing::Values(LedgerKind{"S3rver", [] { return std::make_unique<S3LedgerPlace>("S3rver"); }},
                    LedgerKind{"Faults", [] { return std::make_unique<S3LedgerPlace>("Faults"); }}),
    [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace kin::store
