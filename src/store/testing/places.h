// Places for stores on the servers of tests/services, each for one test.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "cloud/resp_client.h"
#include "cloud/testing/fault_proxy.h"
#include "cloud/testing/services.h"
#include "store/dynamo_stores.h"
#include "store/s3_stores.h"

namespace kin::store {

// A new database: "dynoxide", "dynalite", or "proxy", which injects faults.
class DynamoDatabase {
 public:
  explicit DynamoDatabase(const std::string& name) {
    const std::string faults = std::string(cloud::kHttpFaults) + ",corrupt=0.04,unprocessed=0.3";
    if (name == "proxy")
      proxy_ = std::make_unique<cloud::FaultProxy>("dynoxide", std::vector<std::string>{},
                                                   std::vector<std::string>{"--faults", faults});
    else
      server_ = cloud::start_service(name);
  }
  DynamoStoreOptions options(std::optional<std::chrono::days> retention, Clock& clock) {
    return {.cloud = proxy_ ? proxy_->options() : cloud::test_options(server_->url("")),
            .retention = retention,
            .clock = &clock,
            .seed = ++seed_};
  }

 private:
  std::unique_ptr<net::TestServer> server_;
  std::unique_ptr<cloud::FaultProxy> proxy_;
  std::uint64_t seed_ = 0;
};

// s3rver behind a proxy that adds If-None-Match, which s3rver lacks; "Faults" injects faults too.
// One for all tests of a program: a server takes a second to start.
inline const cloud::FaultProxy& s3_server(const std::string& name) {
  static std::map<std::string, std::unique_ptr<cloud::FaultProxy>> servers;
  auto& server = servers[name];
  if (!server) {
    server = std::make_unique<cloud::FaultProxy>(
        "s3rver", std::vector<std::string>{"bucket"},
        std::vector<std::string>{"--faults", name == "Faults" ? cloud::kHttpFaults : ""});
  }
  return *server;
}

// A part of the bucket, and a folder, for one test.
// KINDRED_TEST_S3 is the endpoint of another server to use instead, without faults; it has an empty
// bucket "bucket" (tests/services/radosgw.py).
class S3Area {
 public:
  explicit S3Area(const std::string& name) {
    static int places = 0;
    prefix_ = "place " + std::to_string(++places) + "/";
    const auto other = cloud::process_environment("KINDRED_TEST_S3");
    cloud_ = other ? cloud::test_options(*other) : s3_server(name).options();
  }
  S3StoreOptions options(std::optional<std::chrono::days> retention, Clock& clock) {
    return {.cloud = cloud_,
            .bucket = {.bucket = "bucket", .style = cloud::S3Options::Style::kPath},
            .prefix = prefix_,
            .cache_folder = folder_.path() / "cache",
            .retention = retention,
            .clock = &clock,
            .seed = ++seed_};
  }
  std::filesystem::path cache() const { return folder_.path() / "cache"; }

 private:
  cloud::CloudOptions cloud_;
  std::string prefix_;
  TemporaryFolder folder_ = *TemporaryFolder::create();
  std::uint64_t seed_ = 0;
};

// Redis: "plain"; "tls", with a password; "faults", behind a proxy that cuts connections; "gone",
// which does not answer.
class RedisServer {
 public:
  explicit RedisServer(const std::string& kind) {
    if (kind == "faults") {
      proxy_ = std::make_unique<cloud::FaultProxy>(
          "redis", std::vector<std::string>{},
          std::vector<std::string>{"--faults", "reset=0.5,slow=0.1"});
      options_.port = static_cast<std::uint16_t>(proxy_->port());
      return;
    }
    std::vector<std::string> arguments;
    if (kind == "tls") arguments = {"--secure", folder_.path().string(), "--password", "pass word"};
    server_ = cloud::start_service("redis", arguments);
    options_.port = static_cast<std::uint16_t>(server_->port());
    if (kind == "tls") {
      options_.tls = true;
      options_.ca_file = folder_.path() / "cert.pem";
      options_.password = "pass word";
    }
    if (kind == "gone") stop();
  }
  const cloud::RespOptions& options() const { return options_; }
  void stop() { server_.reset(); }

 private:
  TemporaryFolder folder_ = *TemporaryFolder::create();
  std::unique_ptr<net::TestServer> server_;
  std::unique_ptr<cloud::FaultProxy> proxy_;
  cloud::RespOptions options_ = {.connect = std::chrono::minutes(1),
                                 .answer = std::chrono::minutes(1)};
};

}  // namespace kin::store
