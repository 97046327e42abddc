// The contract of ledgers on this machine.
#include "base/file.h"
#include "store/local_stores.h"
#include "store/testing/ledger_contract.h"

namespace kin::store {
namespace {

using Engine = kv::StoreOptions::Engine;

class LocalPlace final : public LedgerPlace {
 public:
  explicit LocalPlace(Engine engine) : engine_(engine) {}
  Result<std::unique_ptr<Ledger>> open(std::optional<std::chrono::days> retention,
                                       Clock& clock) override {
    LocalStoreOptions options;
    options.folder = folder_.path() / "ledger";
    options.retention = retention;
    options.clock = &clock;
    options.engine = engine_;
    return open_local_ledger(options);
  }

 private:
  const Engine engine_;
  TemporaryFolder folder_ = *TemporaryFolder::create();
};

INSTANTIATE_TEST_SUITE_P(
    Ledgers, LedgerContract,
    testing::Values(LedgerKind{"RocksDb",
                               [] { return std::make_unique<LocalPlace>(Engine::kRocksDb); }},
                    LedgerKind{"Log", [] { return std::make_unique<LocalPlace>(Engine::kLog); }}),
    [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace kin::store
