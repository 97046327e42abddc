// All indexes that a router serves, by name.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "router/meta_store.h"
#include "rpc/grpc_client.h"
#include "search/index_config.h"
#include "search/search_index.h"
#include "server/routed/routed_index.h"
#include "server/watch/metrics.h"

namespace kin::server {

struct RoutedOptions {
  std::vector<std::string> nodes = {};  // addresses: new indexes are spread over them
  rpc::ConnectionOptions connection = {};
  router::RouterOptions routing = {};
  search::OpenOptions embedders = {};  // where embedders are, and what they may reach
  Metrics* metrics = nullptr;  // gets the calls to nodes; must outlive the indexes
};

// Maps and settings are in the meta store: `map/` and `settings/` before the name. Thread-safe.
class RoutedIndexes {
 public:
  // `meta` must outlive it.
  RoutedIndexes(router::MetaStore& meta, RoutedOptions options)
      : meta_(meta), options_(std::move(options)) {}

  Result<std::vector<std::string>> names();
  // kFailedPrecondition if the name is taken, or nodes cannot serve such an index; kUnavailable if
  // a node does not answer. Then it can be tried again.
  Status create(const std::string& name, const search::IndexConfig& config, std::size_t partitions);
  // kNotFound if there is no such index.
  Result<std::shared_ptr<RoutedIndex>> open(const std::string& name);

 private:
  Result<std::shared_ptr<rpc::NodeConnection>> connection(const std::string& address);
  router::Connect connect_to(const std::string& name);
  // Settings are written before the map, which makes the index exist.
  Status keep_settings(const std::string& name, const std::string& settings);

  router::MetaStore& meta_;
  const RoutedOptions options_;
  std::mutex creating_;
  std::mutex mutex_;  // guards what follows
  std::map<std::string, std::shared_ptr<rpc::NodeConnection>> connections_;
  std::map<std::string, std::shared_ptr<RoutedIndex>> opened_;
};

}  // namespace kin::server
