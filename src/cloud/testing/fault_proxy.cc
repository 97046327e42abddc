#include "cloud/testing/fault_proxy.h"

#include "cloud/testing/services.h"
#include "data/json_value.h"
#include "net/http_client.h"

namespace kin::cloud {

FaultProxy::FaultProxy(const std::string& service, std::vector<std::string> arguments,
                       std::vector<std::string> more)
    : server_(start_service(service, std::move(arguments))) {
  const char* const protocol = service == "s3rver" ? "s3" : service == "redis" ? "tcp" : "dynamodb";
  more.insert(more.begin(), {protocol, std::to_string(server_->port())});
  proxy_ = start_program("proxy.py", std::move(more));
}

FaultProxy::~FaultProxy() = default;

std::map<std::string, int> FaultProxy::counts() const {
  net::HttpClient client({.addresses = {.allow_all = true}});
  const auto answer = client.get({.url = proxy_->url("/__counts")});
  std::map<std::string, int> out;
  if (!answer) return out;
  const auto json = data::parse_json(answer->body);
  if (!json || json->object() == nullptr) return out;
  for (const auto& [name, value] : *json->object()) {
    if (value.number() != nullptr) out.emplace(name, static_cast<int>(*value.number()));
  }
  return out;
}

CloudOptions FaultProxy::options() const {
  CloudOptions options = test_options("http://localhost:" + std::to_string(port()));
  options.retry.tries = 40;
  options.retry.budget = 100'000;
  options.retry.deadline = std::chrono::minutes(10);
  return options;
}

}  // namespace kin::cloud
