// Counts the calls to a node, with their times.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "router/shard_client.h"
#include "server/watch/metrics.h"

namespace kin::server {

// A call lasts until its reply arrives, and is counted when that is taken. Thread-safe.
class MeasuredClient final : public router::ShardClient {
 public:
  // `metrics` and `clock` must outlive it.
  MeasuredClient(std::shared_ptr<router::ShardClient> client, std::string node, Metrics& metrics,
                 const Clock& clock)
      : client_(std::move(client)), node_(std::move(node)), metrics_(metrics), clock_(clock) {}

  router::Started<router::Response> start(router::Request request,
                                          const router::CallOptions& options) override;

 private:
  std::shared_ptr<router::ShardClient> client_;
  std::string node_;
  Metrics& metrics_;
  const Clock& clock_;
};

}  // namespace kin::server
