// The contracts of fingerprint stores and ledgers on servers: two engines of DynamoDB, S3, and both
// behind a proxy that makes things go wrong.
#include "store/testing/fingerprint_store_contract.h"
#include "store/testing/ledger_contract.h"
#include "store/testing/places.h"

namespace kin::store {
namespace {

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

class S3Place final : public StorePlace {
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
