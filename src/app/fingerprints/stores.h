// Opens the stores that a settings file names.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/fingerprints/config.h"
#include "base/clock.h"
#include "base/result.h"
#include "store/cached_fingerprints.h"
#include "store/fingerprint_store.h"
#include "store/ledger.h"

namespace kin::app {

struct OpenedStores {
  std::unique_ptr<store::FingerprintStore> fingerprints;
  std::unique_ptr<store::Ledger> ledger;
  // Counts calls of the services behind the stores.
  std::shared_ptr<cloud::CallMeter> requests = std::make_shared<cloud::CallMeter>();
  const store::CachedFingerprints* cache = nullptr;  // `fingerprints`, if that is one
};

// Makes the tables, the bucket or the folder of the stores, if they are missing. Returns the text
// to print.
Result<std::string> create_stores(const StoresConfig& config, Clock& clock);

// With `parameters`, a new store is bound to them, and an existing one made with others is refused.
// Without, the store is opened as it is; kNotFound if there is none. DynamoDB tables must exist.
// Local ones use up to `memory_bytes` for buffers, caches and filters.
Result<OpenedStores> open_stores(const StoresConfig& config,
                                 const std::optional<store::FingerprintParameters>& parameters,
                                 Clock& clock,
                                 std::uint64_t memory_bytes = std::uint64_t{512} << 20);
// kNotFound if there is no ledger.
Result<std::unique_ptr<store::Ledger>> open_ledger(const StoresConfig& config, Clock& clock);

}  // namespace kin::app
