// A fingerprint store and a ledger in a bucket of S3, or of a store that speaks its protocol, for
// any number of workers. docs/adr/0023-segments-in-a-bucket.md has the protocol.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "cloud/cloud_options.h"
#include "cloud/s3_client.h"
#include "store/fingerprint_store.h"
#include "store/ledger.h"

namespace kin::store {

struct S3StoreOptions {
  cloud::CloudOptions cloud = {};
  cloud::S3Options bucket = {};
  std::string prefix = {};  // of the keys; empty or with a "/" at its end
  // Copies of objects of the bucket. Workers of one machine may share it.
  std::filesystem::path cache_folder = {};
  std::uint64_t cache_bytes = std::uint64_t{10} << 30;  // each, of fingerprints and ledger
  std::optional<std::chrono::days> retention = {};      // nothing: for ever
  bool must_exist = false;  // a missing ledger is kNotFound instead of being made
  // Objects that are not needed any more are removed at this age. A look-up must not take longer.
  std::chrono::milliseconds grace = std::chrono::hours(1);
  Clock* clock = &system_clock();
  std::uint64_t seed = 0;  // must differ between workers
};

// Makes the bucket, if it does not exist.
Status create_s3_bucket(const S3StoreOptions& options);

// Opens the store, or makes one with `parameters`. kNotFound if the bucket does not exist;
// kFailedPrecondition if the store was made with others: the message names the first setting that
// differs. Reads one object, however large the store is.
Result<std::unique_ptr<FingerprintStore>> open_s3_fingerprints(
    const S3StoreOptions& options, const FingerprintParameters& parameters);
// Opens an existing store, with the parameters it has. kNotFound if there is none.
Result<std::unique_ptr<FingerprintStore>> open_s3_fingerprints(const S3StoreOptions& options);

// Opens the ledger, or makes one.
Result<std::unique_ptr<Ledger>> open_s3_ledger(const S3StoreOptions& options);

}  // namespace kin::store
