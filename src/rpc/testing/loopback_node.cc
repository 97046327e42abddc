#include "rpc/testing/loopback_node.h"

#include "router/testing/shard_client_contract.h"

namespace kin::rpc {

Result<std::shared_ptr<router::ShardHost>> OneIndex::find(const std::string& index, const Hash128&) {
  if (index != served_.name) return Error{Code::kNotFound, "there is no index " + index};
  return host_;
}

Status OneIndex::create(const ServedIndex& index) {
  if (index == served_) return Done{};
  return Error{Code::kFailedPrecondition, "the node has one index"};
}

Status OneIndex::drop(const std::string& index, const Hash128&) {
  if (index != served_.name) return Done{};
  return Error{Code::kFailedPrecondition, "the node keeps its one index"};
}

Result<std::vector<ServedIndex>> OneIndex::list() {
  return std::vector{served_};
}

LoopbackNode::LoopbackNode(NodeServerOptions options) : options_(std::move(options)) {
  start();
}

void LoopbackNode::stop() {
  server_.reset();
  indexes_.reset();
  host_.reset();
}

void LoopbackNode::start() {
  auto host = router::ShardHost::open(folder_.path() / "shard", router::contract_options(),
                                      hash128(folder_.path().string()));
  KIN_CHECK(host.ok(), "the shard opens");
  host_ = std::move(*host);
  indexes_ = std::make_unique<OneIndex>(host_);
  auto server = NodeServer::start(*indexes_, options_);
  KIN_CHECK(server.ok(), "the node listens");
  server_ = std::move(*server);
  options_.port = server_->port();
}

}  // namespace kin::rpc
