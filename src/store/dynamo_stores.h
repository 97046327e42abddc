// A fingerprint store and a ledger in tables of DynamoDB, for any number of workers.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "cloud/cloud_options.h"
#include "store/fingerprint_store.h"
#include "store/ledger.h"

namespace kin::store {

struct DynamoStoreOptions {
  cloud::CloudOptions cloud = {};
  std::string simhash_table = "kindred-simhash";
  std::string minhash_table = "kindred-minhash";  // also the documents themselves
  std::string chunk_table = "kindred-chunk";      // also hashes of whole texts
  std::string processed_table = "kindred-processed";
  std::optional<std::chrono::days> retention = {};  // nothing: for ever
  // A claim older than this was left behind by a worker that died.
  std::chrono::seconds lease{300};
  Clock* clock = &system_clock();
  std::uint64_t seed = 0;  // must differ between workers
};

// Make the tables if they do not exist: paid by the request, with indexes and expiry. False if the
// database does not remove expired items; they count as missing all the same.
Result<bool> create_dynamo_fingerprints(const DynamoStoreOptions& options);
Result<bool> create_dynamo_ledger(const DynamoStoreOptions& options);

// Opens the store, and binds a new one to `parameters`. kNotFound if the tables do not exist;
// kFailedPrecondition if they are bound to others: the message names the first setting that
// differs. A document that is replaced is not judged.
Result<std::unique_ptr<FingerprintStore>> open_dynamo_fingerprints(
    const DynamoStoreOptions& options, const FingerprintParameters& parameters);
// Opens a bound store, with the parameters it has. kNotFound if it is not bound.
Result<std::unique_ptr<FingerprintStore>> open_dynamo_fingerprints(
    const DynamoStoreOptions& options);

// kNotFound if the table does not exist. Lists may miss the most recent entries.
Result<std::unique_ptr<Ledger>> open_dynamo_ledger(const DynamoStoreOptions& options);

}  // namespace kin::store
