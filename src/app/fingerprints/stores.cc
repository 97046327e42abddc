#include "app/fingerprints/stores.h"

#include <fmt/format.h>

#include "store/local_stores.h"

namespace kin::app {
namespace {

// Backends that this program can use.
Status check_backend(const StoresConfig& config) {
  if (!config.enabled) {
    return Error{Code::kFailedPrecondition,
                 "the settings file says enabled: false (say true to use the store)"};
  }
  if (config.backend != StoresConfig::Backend::kLocal || config.redis) {
    return Error{Code::kFailedPrecondition,
                 "this version of Kindred has the backend local alone, without a cache (set "
                 "backend: local and leave cache out)"};
  }
  return Done{};
}

store::LocalStoreOptions local_ledger(const StoresConfig& config, Clock& clock) {
  store::LocalStoreOptions options;
  options.folder = config.root_path / "ledger";
  options.retention = config.processed_ttl;
  options.clock = &clock;
  return options;
}
store::LocalStoreOptions local_fingerprints(const StoresConfig& config, Clock& clock) {
  store::LocalStoreOptions options;
  options.folder = config.root_path / "fingerprints";
  options.retention = config.fingerprints_ttl;
  options.clock = &clock;
  return options;
}

}  // namespace

Result<std::unique_ptr<store::Ledger>> open_ledger(const StoresConfig& config, Clock& clock) {
  KIN_RETURN_IF_ERROR(check_backend(config));
  store::LocalStoreOptions options = local_ledger(config, clock);
  options.must_exist = true;
  return store::open_local_ledger(options);
}

Result<OpenedStores> open_stores(const StoresConfig& config,
                                 const std::optional<store::FingerprintParameters>& parameters,
                                 Clock& clock) {
  KIN_RETURN_IF_ERROR(check_backend(config));
  const store::LocalStoreOptions options = local_fingerprints(config, clock);
  OpenedStores opened;
  if (parameters) {
    std::error_code failure;
    std::filesystem::create_directories(config.root_path, failure);
    if (failure) {
      return Error{Code::kUnavailable,
                   fmt::format("cannot make the folder {}: {} (change root_path)",
                               config.root_path.string(), failure.message())};
    }
    KIN_TRY(opened.fingerprints, store::open_local_fingerprints(options, *parameters));
  } else {
    KIN_TRY(opened.fingerprints, store::open_local_fingerprints(options));
  }
  KIN_TRY(opened.ledger, store::open_local_ledger(local_ledger(config, clock)));
  return opened;
}

}  // namespace kin::app
