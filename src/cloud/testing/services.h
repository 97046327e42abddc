// The servers of tests/services, for tests.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/testing/source_folder.h"
#include "cloud/cloud_options.h"
#include "net/testing/test_server.h"

namespace kin::cloud {

// A program of tests/services.
inline std::unique_ptr<net::TestServer> start_program(const std::string& program,
                                                      std::vector<std::string> arguments = {}) {
  std::vector<std::string> words{"python3",
                                 std::string(source_folder()) + "/tests/services/" + program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return std::make_unique<net::TestServer>(std::move(words));
}

// "dynoxide", "dynalite", "s3rver" with its buckets, or "redis".
inline std::unique_ptr<net::TestServer> start_service(const std::string& name,
                                                      std::vector<std::string> arguments = {}) {
  arguments.insert(arguments.begin(), name);
  return start_program("serve.py", std::move(arguments));
}

// An environment of these variables only.
inline Environment environment_of(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

// For the servers of tests, with long timeouts, because the machine may be busy.
inline CloudOptions test_options(const std::string& endpoint) {
  return {.credentials = {.fixed = AwsCredentials{.access_key = "S3RVER", .secret_key = "S3RVER"}},
          .endpoint = endpoint,
          .retry = {.base = std::chrono::milliseconds(1), .longest = std::chrono::milliseconds(20)},
          .one_try = std::chrono::minutes(1)};
}

}  // namespace kin::cloud
