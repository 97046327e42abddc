// A cache in Redis in front of a fingerprint store, shared by the workers that use the store.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "cloud/resp_client.h"
#include "store/fingerprint_store.h"

namespace kin::store {

struct CacheOptions {
  cloud::RespOptions redis = {};
  std::optional<std::chrono::days> retention = {};  // of the store behind it
  std::chrono::seconds keep = std::chrono::hours(24);
  // After a failure the cache is not used for this long.
  std::chrono::seconds pause{10};
  Clock* clock = &system_clock();
};

struct CacheCounts {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t failures = 0;  // the cache did not answer, or answered wrongly
};

// Thread-safe, like the store behind it. Caches only documents: an entry is named by the document
// and a hash of its row, so it is never out of date, and find() of the store itself says which row
// is the present one. The absence of a document is never cached. A cache that fails, forgets or
// lies changes no answer: an entry is compared with its name.
class CachedFingerprints final : public FingerprintStore {
 public:
  CachedFingerprints(std::unique_ptr<FingerprintStore> store, const CacheOptions& options);
  ~CachedFingerprints() override;

  const FingerprintParameters& parameters() const override;
  Result<Found> find(std::span<const Fingerprint> batch) override;
  // Documents that a find() of the last minute returned are given as it saw them, from the cache if
  // it has them.
  Result<std::vector<std::optional<Fingerprint>>> get(std::span<const DocId> ids) override;
  Result<std::vector<Admission>> admit(std::span<const Fingerprint> batch, const Found& found,
                                       std::span<const std::size_t> chosen,
                                       const Judge& judge) override;
  Status each(const Visit& visit) override;
  Result<FingerprintStats> stats() override;
  Result<std::vector<std::string>> check() override;

  CacheCounts counts() const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace kin::store
