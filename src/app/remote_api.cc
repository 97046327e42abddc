#include "app/remote_api.h"

#include <fmt/format.h>

#include "app/listen_flags.h"
#include "app/options.h"
#include "base/ascii.h"
#include "net/http_client.h"
#include "net/url.h"

namespace kin::app {
namespace {

Code code_of(int status) {
  switch (status) {
    case 400:
    case 413: return Code::kInvalidArgument;
    case 404: return Code::kNotFound;
    case 401:
    case 403:
    case 409: return Code::kFailedPrecondition;
    default: return Code::kUnavailable;
  }
}

class HttpApi final : public RemoteApi {
 public:
  HttpApi(std::string origin, std::string token, net::HttpOptions options)
      : origin_(std::move(origin)), token_(std::move(token)), client_(std::move(options)) {}

  Result<std::string> get(const std::string& path) override { return ask({.url = url(path)}); }
  Result<std::string> post(const std::string& path, std::string json) override {
    return ask({.url = url(path), .body = net::HttpBody{"application/json", std::move(json)}});
  }
  Status remove(const std::string& path) override {
    KIN_TRY([[maybe_unused]] const std::string body, ask({.url = url(path), .method = "DELETE"}));
    return Done{};
  }

 private:
  std::string url(const std::string& path) const { return origin_ + "/api/v1" + path; }

  Result<std::string> ask(net::HttpRequest request) {
    if (!token_.empty())
      request.credentials = {.kind = net::Credentials::Kind::kBearer, .secret = token_};
    auto response = client_.send(request).response;
    if (!response) return with_context(origin_, response.error());
    if (response->status >= 200 && response->status < 300) return std::move(response->body);
    const auto json = data::parse_json(response->body);
    const std::string message =
        json ? std::string((*json)["error"]["message"].text()) : std::string();
    return with_context(origin_,
                        {code_of(response->status),
                         message.empty() ? fmt::format("status {}", response->status) : message});
  }

  const std::string origin_;
  const std::string token_;
  net::HttpClient client_;
};

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain =
        is_ascii_alpha(c) || is_ascii_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
    out += plain ? std::string(1, c) : percent_escape(c);
  }
  return out;
}

void add_at_flags(Verb verb, AtFlags& flags) {
  verb.add_option("--at", flags.at,
                  "Router or server whose indexes are meant, instead of those of the data folder")
      .type_name("HOST:PORT");
  verb.add_option("--at-token-file", flags.token_file, "File whose first line is the token of --at")
      .type_name("FILE");
  verb.add_option("--at-ca", flags.certificates,
                  "Certificates to trust instead of the system's (PEM)")
      .type_name("FILE");
}

Result<RemoteAddress> understand(const AtFlags& flags) {
  RemoteAddress address{.origin = flags.at, .certificates = flags.certificates};
  std::string& origin = address.origin;
  if (origin.find("://") == std::string::npos) origin.insert(0, "http://");
  while (origin.ends_with('/')) origin.pop_back();
  if (const auto url = net::Url::parse(origin); !url)
    return with_context("--at " + flags.at, url.error());
  if (!flags.token_file.empty()) {
    KIN_TRY(address.token, read_token(flags.token_file));
  }
  return address;
}

Result<std::unique_ptr<RemoteApi>> RemoteApi::open(const AtFlags& flags) {
  KIN_TRY(RemoteAddress address, understand(flags));
  // The user of the command line can reach that address without Kindred, too.
  net::HttpOptions options{.addresses = {.allow_all = true}};
  options.ca_file = address.certificates;
  options.budgets.total = std::chrono::minutes(2);
  return std::unique_ptr<RemoteApi>(std::make_unique<HttpApi>(
      std::move(address.origin), std::move(address.token), std::move(options)));
}

}  // namespace kin::app
