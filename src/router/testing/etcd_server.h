// A real etcd on a loopback port, for tests.
#pragma once

#include <memory>
#include <string>

#include "base/file.h"
#include "base/testing/source_folder.h"
#include "net/testing/test_server.h"
#include "router/etcd_meta_store.h"

namespace kin::router {

// One thread only.
class EtcdServer {
 public:
  enum class Security { kNone, kTls };
  explicit EtcdServer(Security security = Security::kNone) : security_(security) { start(); }

  // As a power cut does it.
  void stop() { server_.reset(); }
  // At the same port, with the same data.
  void start() {
    std::vector<std::string> words{"python3",
                                   std::string(source_folder()) + "/tests/services/serve.py",
                                   "etcd", "--data", (folder_.path() / "data").string()};
    if (port_ != 0) words.insert(words.end(), {"--port", std::to_string(port_)});
    if (security_ == Security::kTls)
      words.insert(words.end(), {"--secure", folder_.path().string()});
    server_ = std::make_unique<net::TestServer>(std::move(words));
    port_ = server_->port();
  }

  int port() const { return port_; }
  std::string endpoint() const { return "127.0.0.1:" + std::to_string(port_); }
  // With a timeout that a busy machine does not reach.
  EtcdOptions options() const {
    EtcdOptions options{.access = {.endpoints = {endpoint()},
                                   .connect = std::chrono::minutes{1},
                                   .timeout = std::chrono::minutes{1}}};
    if (security_ == Security::kTls)
      options.access.ca_file = (folder_.path() / "cert.pem").string();
    return options;
  }

 private:
  const Security security_;
  TemporaryFolder folder_ = std::move(*TemporaryFolder::create());
  int port_ = 0;
  std::unique_ptr<net::TestServer> server_;
};

}  // namespace kin::router
