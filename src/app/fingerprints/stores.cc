#include "app/fingerprints/stores.h"

#include <fmt/format.h>

#include <random>

#include "store/cached_fingerprints.h"
#include "store/dynamo_stores.h"
#include "store/local_stores.h"
#include "store/s3_stores.h"

namespace kin::app {
namespace {

using Backend = StoresConfig::Backend;

Status check_enabled(const StoresConfig& config) {
  if (!config.enabled) {
    return Error{Code::kFailedPrecondition,
                 "the store is disabled in the settings file (set enabled: true to use it)"};
  }
  return Done{};
}

store::LocalStoreOptions local_ledger(const StoresConfig& config, Clock& clock) {
  store::LocalStoreOptions options;
  options.folder = config.root_path / store::kLedgerFolder;
  options.retention = config.processed_ttl;
  options.clock = &clock;
  return options;
}
store::LocalStoreOptions local_fingerprints(const StoresConfig& config, Clock& clock) {
  store::LocalStoreOptions options;
  options.folder = config.root_path / store::kFingerprintsFolder;
  options.retention = config.fingerprints_ttl;
  options.clock = &clock;
  return options;
}

std::uint64_t new_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

// Most requests to DynamoDB at once. Some steps of a batch have fewer requests; on average 64 and
// more are in flight.
constexpr int kDynamoInFlight = 96;

store::DynamoStoreOptions in_dynamo(const StoresConfig& config,
                                    const std::optional<std::chrono::days>& retention,
                                    Clock& clock) {
  store::DynamoStoreOptions options;
  options.cloud = cloud::options_of_environment("DYNAMODB");
  options.cloud.in_flight = kDynamoInFlight;
  if (!config.dynamodb.region.empty()) options.cloud.region = config.dynamodb.region;
  if (!config.dynamodb.endpoint.empty()) options.cloud.endpoint = config.dynamodb.endpoint;
  options.simhash_table = config.dynamodb.simhash_table;
  options.minhash_table = config.dynamodb.minhash_table;
  options.chunk_table = config.dynamodb.chunk_table;
  options.processed_table = config.dynamodb.processed_table;
  options.retention = retention;
  options.clock = &clock;
  options.seed = new_seed();
  return options;
}

store::S3StoreOptions in_s3(const StoresConfig& config,
                            const std::optional<std::chrono::days>& retention, Clock& clock) {
  using Style = StoresConfig::Storage::Style;
  const StoresConfig::Storage& storage = config.storage;
  store::S3StoreOptions options;
  options.cloud = cloud::options_of_environment("S3");
  if (!storage.region.empty()) options.cloud.region = storage.region;
  if (!storage.endpoint.empty()) options.cloud.endpoint = storage.endpoint;
  options.bucket.bucket = storage.bucket;
  const bool path = storage.style == Style::kPath ||
                    (storage.style == Style::kByEndpoint && !options.cloud.endpoint.empty());
  options.bucket.style =
      path ? cloud::S3Options::Style::kPath : cloud::S3Options::Style::kVirtualHost;
  options.prefix = storage.prefix;
  if (!options.prefix.empty() && !options.prefix.ends_with('/')) options.prefix += '/';
  options.cache_folder = config.root_path / "cache";
  if (storage.cache_bytes) options.cache_bytes = *storage.cache_bytes / 2;  // for each of the two
  options.retention = retention;
  options.clock = &clock;
  options.seed = new_seed();
  return options;
}

Result<OpenedStores> open_in_s3(const StoresConfig& config,
                                const std::optional<store::FingerprintParameters>& parameters,
                                Clock& clock) {
  OpenedStores opened;
  auto options = in_s3(config, config.fingerprints_ttl, clock);
  options.cloud.meter = opened.requests;
  if (parameters) {
    KIN_TRY(opened.fingerprints, store::open_s3_fingerprints(options, *parameters));
  } else {
    KIN_TRY(opened.fingerprints, store::open_s3_fingerprints(options));
  }
  auto ledger = in_s3(config, config.processed_ttl, clock);
  ledger.cloud.meter = opened.requests;
  KIN_TRY(opened.ledger, store::open_s3_ledger(ledger));
  return opened;
}

Result<OpenedStores> open_in_dynamo(const StoresConfig& config,
                                    const std::optional<store::FingerprintParameters>& parameters,
                                    Clock& clock) {
  OpenedStores opened;
  auto options = in_dynamo(config, config.fingerprints_ttl, clock);
  options.cloud.meter = opened.requests;
  if (parameters) {
    KIN_TRY(opened.fingerprints, store::open_dynamo_fingerprints(options, *parameters));
  } else {
    KIN_TRY(opened.fingerprints, store::open_dynamo_fingerprints(options));
  }
  auto ledger = in_dynamo(config, config.processed_ttl, clock);
  ledger.cloud.meter = opened.requests;
  KIN_TRY(opened.ledger, store::open_dynamo_ledger(ledger));
  return opened;
}

Status make_folder(const std::filesystem::path& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (!failure) return Done{};
  return Error{Code::kUnavailable, fmt::format("cannot make the folder {}: {} (change root_path)",
                                               folder.string(), failure.message())};
}

Result<OpenedStores> open_backend(const StoresConfig& config,
                                  const std::optional<store::FingerprintParameters>& parameters,
                                  Clock& clock, std::uint64_t memory_bytes) {
  if (config.backend == Backend::kDynamoDb) return open_in_dynamo(config, parameters, clock);
  if (config.backend == Backend::kS3) return open_in_s3(config, parameters, clock);
  store::LocalStoreOptions options = local_fingerprints(config, clock);
  options.memory_bytes = memory_bytes / 2;
  store::LocalStoreOptions ledger = local_ledger(config, clock);
  ledger.memory_bytes = memory_bytes / 2;
  OpenedStores opened;
  if (parameters) {
    KIN_RETURN_IF_ERROR(make_folder(config.root_path));
    KIN_TRY(opened.fingerprints, store::open_local_fingerprints(options, *parameters));
  } else {
    KIN_TRY(opened.fingerprints, store::open_local_fingerprints(options));
  }
  KIN_TRY(opened.ledger, store::open_local_ledger(ledger));
  return opened;
}

Result<store::CacheOptions> cache_of(const StoresConfig& config, Clock& clock) {
  const StoresConfig::Redis& redis = *config.redis;
  store::CacheOptions options;
  options.redis.host = redis.host;
  options.redis.port = redis.port;
  options.redis.tls = redis.tls;
  if (!redis.password_env.empty()) {
    const auto password = cloud::process_environment(redis.password_env);
    if (!password) {
      return Error{Code::kFailedPrecondition,
                   fmt::format("cache.redis.password_env names the variable {}, which is not set",
                               redis.password_env)};
    }
    options.redis.password = *password;
  }
  // A store that is faster than its cache needs no cache.
  options.redis.connect = std::chrono::seconds(1);
  options.redis.answer = std::chrono::seconds(1);
  options.retention = config.fingerprints_ttl;
  options.clock = &clock;
  return options;
}

}  // namespace

Result<std::unique_ptr<store::Ledger>> open_ledger(const StoresConfig& config, Clock& clock) {
  KIN_RETURN_IF_ERROR(check_enabled(config));
  if (config.backend == Backend::kDynamoDb)
    return store::open_dynamo_ledger(in_dynamo(config, config.processed_ttl, clock));
  if (config.backend == Backend::kS3) {
    store::S3StoreOptions options = in_s3(config, config.processed_ttl, clock);
    options.must_exist = true;
    return store::open_s3_ledger(options);
  }
  store::LocalStoreOptions options = local_ledger(config, clock);
  options.must_exist = true;
  return store::open_local_ledger(options);
}

Result<OpenedStores> open_stores(const StoresConfig& config,
                                 const std::optional<store::FingerprintParameters>& parameters,
                                 Clock& clock, std::uint64_t memory_bytes) {
  KIN_RETURN_IF_ERROR(check_enabled(config));
  KIN_TRY(OpenedStores opened, open_backend(config, parameters, clock, memory_bytes));
  if (config.redis) {
    KIN_TRY(const store::CacheOptions cache, cache_of(config, clock));
    auto cached =
        std::make_unique<store::CachedFingerprints>(std::move(opened.fingerprints), cache);
    opened.cache = cached.get();
    opened.fingerprints = std::move(cached);
  }
  return opened;
}

Result<std::string> create_stores(const StoresConfig& config, Clock& clock) {
  KIN_RETURN_IF_ERROR(check_enabled(config));
  if (config.backend == Backend::kLocal) {
    KIN_RETURN_IF_ERROR(make_folder(config.root_path));
    return fmt::format("the folder {} exists; the first run creates the store in it",
                       config.root_path.string());
  }
  if (config.backend == Backend::kS3) {
    KIN_RETURN_IF_ERROR(store::create_s3_bucket(in_s3(config, {}, clock)));
    return fmt::format("the bucket {} exists; the first run creates the store in it",
                       config.storage.bucket);
  }
  KIN_TRY(const bool expires,
          store::create_dynamo_fingerprints(in_dynamo(config, config.fingerprints_ttl, clock)));
  KIN_RETURN_IF_ERROR(store::create_dynamo_ledger(in_dynamo(config, config.processed_ttl, clock)));
  return fmt::format("the tables {}, {}, {} and {} exist{}", config.dynamodb.simhash_table,
                     config.dynamodb.minhash_table, config.dynamodb.chunk_table,
                     config.dynamodb.processed_table,
                     expires ? "" : " (the database does not remove expired items by itself)");
}

}  // namespace kin::app
