#include "server/node/other_nodes.h"

namespace kin::server {
namespace {

class NoShard final : public router::ShardClient {
 public:
  explicit NoShard(Error error) : error_(std::move(error)) {}
  router::Started<router::Response> start(router::Request, const router::CallOptions&) override {
    return router::Started<router::Response>(
        [error = error_] { return router::Reply<router::Response>(error); });
  }

 private:
  Error error_;
};

}  // namespace

std::shared_ptr<router::ShardClient> OtherNodes::reach(const std::string& index,
                                                       const std::string& address) {
  const std::lock_guard lock(mutex_);
  auto& known = connections_[address];
  if (!known) {
    auto opened = rpc::NodeConnection::open(address, options_);
    if (!opened) return std::make_shared<NoShard>(opened.error());
    known = std::move(*opened);
  }
  return std::make_shared<rpc::GrpcClient>(known, index);
}

}  // namespace kin::server
