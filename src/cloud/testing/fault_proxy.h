// A server behind the proxy of tests/services, which checks signatures and injects faults.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cloud/cloud_options.h"
#include "net/testing/test_server.h"

namespace kin::cloud {

// One thread only.
class FaultProxy {
 public:
  // `service` is a name for start_service(); `more` are arguments of proxy.py, such as "--faults",
  // "throttle=0.1,reset=0.1".
  FaultProxy(const std::string& service, std::vector<std::string> arguments,
             std::vector<std::string> more);
  ~FaultProxy();

  int port() const { return proxy_->port(); }
  // Counts of what the proxy did; see proxy.py.
  std::map<std::string, int> counts() const;
  // Options for clients behind it: patient enough for its faults.
  CloudOptions options() const;

 private:
  std::unique_ptr<net::TestServer> server_;
  std::unique_ptr<net::TestServer> proxy_;
};

// Every fault of HTTP, in a third of all requests.
inline constexpr const char* kHttpFaults =
    "throttle=0.05,error=0.04,error_after=0.04,reset=0.04,reset_after=0.04,truncated=0.04,"
    "slow=0.04,duplicate=0.05";

}  // namespace kin::cloud
