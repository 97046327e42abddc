#include "cloud/credentials/metadata.h"

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/file.h"
#include "data/json_value.h"
#include "data/timestamp.h"
#include "net/http_client.h"

namespace kin::cloud {
namespace {

using net::Network;

// Metadata services are near and fast. Where there is none, nothing answers.
net::HttpBudgets metadata_budgets() {
  return {.bytes = std::uint64_t{64} << 10,
          .redirects = 0,
          .connect = std::chrono::seconds(2),
          .total = std::chrono::seconds(10),
          .slowest = 0};
}

Result<std::string> ask(net::HttpClient& client, const net::HttpRequest& request) {
  KIN_TRY(net::HttpResponse response, client.get(request));
  if (response.status != 200)
    return Error{Code::kUnavailable,
                 fmt::format("{} answered with status {}", request.url, response.status)};
  return std::move(response.body);
}

// Tokens must not be sent to any host that the environment may name, unless TLS protects them.
net::AddressPolicy container_policy(std::string_view url) {
  if (url.starts_with("https:")) return {.allow_all = true};
  net::AddressPolicy policy;
  for (const char* network :
       {"127.0.0.0/8", "::1", "169.254.170.2", "169.254.170.23", "fd00:ec2::23"})
    policy.allowed.push_back(Network::parse(network).value());
  return policy;
}

Result<std::string> authorization_token(const Environment& environment) {
  if (const auto file = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
      file && !file->empty()) {
    KIN_TRY(const std::string token, read_file(*file));
    return std::string(trimmed(token));
  }
  return environment("AWS_CONTAINER_AUTHORIZATION_TOKEN").value_or("");
}

}  // namespace

Result<AwsCredentials> parse_metadata_answer(std::string_view json) {
  const auto answer = data::parse_json(json);
  if (!answer) return Error{Code::kUnavailable, "the metadata service's answer is not JSON"};
  const std::string_view outcome = (*answer)["Code"].text();
  AwsCredentials credentials{.access_key = std::string((*answer)["AccessKeyId"].text()),
                             .secret_key = std::string((*answer)["SecretAccessKey"].text()),
                             .session_token = std::string((*answer)["Token"].text())};
  const bool failed = !outcome.empty() && outcome != "Success";
  if (failed || credentials.access_key.empty() || credentials.secret_key.empty())
    return Error{Code::kUnavailable,
                 fmt::format("the metadata service gave no credentials{}{}", failed ? ": " : "",
                             failed ? (*answer)["Message"].text() : std::string_view())};
  if (const auto expires = data::parse_timestamp((*answer)["Expiration"].text()))
    credentials.expires = WallTime(std::chrono::seconds(*expires));
  return credentials;
}

Result<std::optional<AwsCredentials>> container_credentials(const CredentialOptions& options) {
  const auto relative = options.environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  const auto full = options.environment("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  const bool has_relative = relative && !relative->empty();
  if (!has_relative && (!full || full->empty())) return std::optional<AwsCredentials>();
  const std::string url = has_relative ? options.container_url + *relative : *full;
  net::HttpRequest request{.url = url};
  KIN_TRY(const std::string token, authorization_token(options.environment));
  if (!token.empty()) request.headers.push_back({"Authorization", token});
  net::HttpClient client({.addresses = container_policy(url), .budgets = metadata_budgets()});
  KIN_TRY(const std::string answer, ask(client, request));
  KIN_TRY(AwsCredentials credentials, parse_metadata_answer(answer));
  return std::optional(std::move(credentials));
}

Result<AwsCredentials> instance_credentials(const CredentialOptions& options) {
  net::HttpClient client({.addresses = {.allow_all = true}, .budgets = metadata_budgets()});
  KIN_TRY(const std::string token,
          ask(client, {.url = options.instance_url + "/latest/api/token",
                       .method = "PUT",
                       .headers = {{"X-aws-ec2-metadata-token-ttl-seconds", "21600"}},
                       .body = net::HttpBody{.type = ""}}));
  const std::vector<net::Header> headers{{"X-aws-ec2-metadata-token", std::string(trimmed(token))}};
  const std::string folder = options.instance_url + "/latest/meta-data/iam/security-credentials/";
  KIN_TRY(const std::string roles, ask(client, {.url = folder, .headers = headers}));
  std::string_view lines = roles;
  const std::string role(trimmed(take_until(lines, "\n")));
  if (role.empty())
    return Error{Code::kUnavailable, fmt::format("{} names no role of this machine", folder)};
  KIN_TRY(const std::string answer, ask(client, {.url = folder + role, .headers = headers}));
  return parse_metadata_answer(answer);
}

}  // namespace kin::cloud
