#include "router/shard_host.h"

#include "base/file.h"
#include "router/testing/shard_client_contract.h"

namespace kin::router {
namespace {

class LocalShard final : public ReachableShard {
 public:
  LocalShard() { restart(); }
  ShardClient& client() override { return *client_; }
  Clock& clock() override { return system_clock(); }
  void restart() override {
    client_.reset();
    host_.reset();
    auto opened = ShardHost::open(folder_.path() / "shard", contract_options(), {.low = 7});
    KIN_CHECK(opened.ok(), "the shard opens");
    host_ = std::move(*opened);
    client_ = std::make_unique<LocalClient>(*host_);
  }

 private:
  TemporaryFolder folder_ = std::move(*TemporaryFolder::create());
  std::unique_ptr<ShardHost> host_;
  std::unique_ptr<LocalClient> client_;
};

std::unique_ptr<ReachableShard> make_local() {
  return std::make_unique<LocalShard>();
}

INSTANTIATE_TEST_SUITE_P(InThisProcess, ShardClientContract, testing::Values(&make_local));

}  // namespace
}  // namespace kin::router
