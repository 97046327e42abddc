// A fingerprint store and a ledger in folders of this machine, each on a key-value store.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "kv/store_options.h"
#include "store/fingerprint_store.h"
#include "store/ledger.h"

namespace kin::store {

// The folders of both inside the folder that a user names.
inline constexpr std::string_view kFingerprintsFolder = "fingerprints";
inline constexpr std::string_view kLedgerFolder = "ledger";

struct LocalStoreOptions {
  std::filesystem::path folder = {};
  std::optional<std::chrono::days> retention = {};  // nothing: for ever
  // A fingerprint store keeps the retention that it was last opened with. True: `retention` is not
  // given, and that one counts.
  bool remembers_retention = false;
  bool must_exist = false;  // a missing ledger is kNotFound instead of being made
  Clock* clock = &system_clock();
  std::uint64_t memory_bytes = std::uint64_t{256} << 20;  // for caches and write buffers
  kv::StoreOptions::Engine engine = kv::StoreOptions::Engine::kRocksDb;
  Disk* disk = nullptr;  // nullptr: the system's
};

// Opens the store, or makes one with `parameters`. kFailedPrecondition if it was made with others:
// the message names the first setting that differs. One process at a time has it open.
Result<std::unique_ptr<FingerprintStore>> open_local_fingerprints(
    const LocalStoreOptions& options, const FingerprintParameters& parameters);
// Opens an existing store, with the parameters it has. kNotFound if there is none.
Result<std::unique_ptr<FingerprintStore>> open_local_fingerprints(const LocalStoreOptions& options);

// Opens the ledger, or makes one. One process at a time has it open.
Result<std::unique_ptr<Ledger>> open_local_ledger(const LocalStoreOptions& options);

}  // namespace kin::store
