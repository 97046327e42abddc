#include "server/api/forwarded_api.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "net/url.h"
#include "server/api/index_requests.h"

namespace kin::server {
namespace {

constexpr int kMostAtOnce = 64;

net::HttpOptions client_options(const RemoteIndexes& remote) {
  net::HttpOptions options{
      .transfers = kMostAtOnce, .transfers_per_host = kMostAtOnce, .ca_file = remote.ca_file};
  // The operator names the address, and it is often a private one.
  options.addresses.allow_all = true;
  options.budgets.bytes = std::uint64_t{64} << 20;
  options.budgets.redirects = 0;
  options.budgets.total = std::chrono::minutes(2);
  options.budgets.slowest = 0;  // a check of an index takes long, and sends nothing meanwhile
  return options;
}

Response unavailable(std::string_view origin, std::string_view what) {
  return error_response(502, fmt::format("the indexes are at {}, which {}", origin, what));
}

}  // namespace

Result<std::unique_ptr<ForwardedIndexes>> ForwardedIndexes::open(RemoteIndexes remote) {
  if (const auto url = net::Url::parse(remote.origin); !url)
    return with_context(remote.origin, url.error());
  return std::unique_ptr<ForwardedIndexes>(new ForwardedIndexes(std::move(remote)));
}

ForwardedIndexes::ForwardedIndexes(RemoteIndexes remote)
    : remote_(std::move(remote)), client_(client_options(remote_)) {}

Response ForwardedIndexes::ask(const Request& request) {
  net::HttpRequest passed{.url = remote_.origin + request.target,
                          .method = request.method == "HEAD" ? "GET" : request.method};
  if (!request.body.empty())
    passed.body = net::HttpBody{.type = "application/json", .bytes = request.body};
  if (!remote_.token.empty())
    passed.credentials = {.kind = net::Credentials::Kind::kBearer, .secret = remote_.token};
  auto answer = client_.send(passed).response;
  if (!answer)
    return unavailable(remote_.origin, fmt::format("does not answer: {}", answer.error().message));
  // Otherwise a browser would think that its own token is wrong.
  if (answer->status == 401 || answer->status == 403)
    return unavailable(remote_.origin, "refuses the token (see --at-token-file)");
  if (answer->status == 204) return {.status = 204};
  if (!answer->header("Content-Type").starts_with("application/json"))
    return unavailable(remote_.origin, "is no router and no server of Kindred");
  return json_response(answer->status, std::move(answer->body));
}

void add_forwarded_api(RouteTable& routes, ForwardedIndexes& indexes) {
  static constexpr auto kRoutes = std::to_array<std::pair<const char*, const char*>>({
      {"GET", ""},
      {"POST", ""},
      {"GET", "/{name}"},
      {"DELETE", "/{name}"},
      {"GET", "/{name}/documents"},
      {"POST", "/{name}/documents"},
      {"GET", "/{name}/document"},
      {"DELETE", "/{name}/document"},
      {"GET", "/{name}/search"},
      {"POST", "/{name}/search"},
      {"GET", "/{name}/neighbours"},
      {"GET", "/{name}/path"},
      {"GET", "/{name}/shards"},
      {"POST", "/{name}/check"},
      {"GET", "/{name}/moves"},
      {"POST", "/{name}/moves"},
      {"POST", "/{name}/drain"},
      {"POST", "/{name}/split"},
      {"POST", "/{name}/balance"},
      {"POST", "/{name}/abort"},
  });
  for (const auto& [method, below] : kRoutes) {
    const auto ask = [&indexes](const Request& request, const auto&) {
      return indexes.ask(request);
    };
    routes.add({.method = method,
                .pattern = std::string("/api/v1/indexes") + below,
                .handler = ask,
                .named_handler = ask,
                .lane = Lane::kSlow,
                .most_body = kLargestBatch});
  }
}

}  // namespace kin::server
