#include "stories/feeds/finder.h"

#include <fmt/format.h>

#include "net/url.h"
#include "stories/feed_parser.h"
#include "stories/feeds/fetcher.h"

namespace kin::stories {
namespace {

Result<net::HttpResponse> get(net::HttpClient& client, const std::string& url,
                              const FindOptions& options) {
  KIN_TRY(net::HttpResponse response,
          client.get(
              {.url = url, .headers = feed_request_headers(), .credentials = options.credentials}));
  if (response.status == 200) return response;
  return Error{Code::kNotFound,
               fmt::format("{}: the server answered with status {}", url, response.status)};
}

Result<net::HttpResponse> get_typed(net::HttpClient& client, std::string_view typed,
                                    const FindOptions& options) {
  if (has_scheme(typed)) return get(client, std::string(typed), options);
  const std::string rest(typed);
  auto secure = get(client, "https://" + rest, options);
  // Credentials are not sent unencrypted on a guess.
  if (secure.ok() || options.credentials.kind != net::Credentials::Kind::kNone) return secure;
  // A refused address is also refused over http.
  if (secure.error().code == Code::kFailedPrecondition) return secure;
  auto plain = get(client, "http://" + rest, options);
  if (plain.ok()) return plain;
  return Error{secure.error().code, fmt::format("neither https nor http worked: {}; {}",
                                                secure.error().message, plain.error().message)};
}

std::optional<FeedLink> as_feed(const net::HttpResponse& response, Time now) {
  const auto feed = parse_feed({.bytes = response.body,
                                .content_type = response.header("content-type"),
                                .address = response.url,
                                .now = now});
  if (!feed.ok()) return std::nullopt;
  return FeedLink{response.url, feed->title};
}

std::vector<FeedLink> try_common(net::HttpClient& client, const net::Url& page,
                                 const FindOptions& options) {
  std::vector<net::HttpRequest> requests;
  for (std::string& url : common_feed_addresses(page)) {
    requests.push_back({.url = std::move(url), .headers = feed_request_headers()});
    const auto target = net::Url::parse(requests.back().url);
    // Credentials never go to another origin.
    if (target.ok() && target->origin() == page.origin())
      requests.back().credentials = options.credentials;
  }
  // Answers come in any order. Kept by number, so that the most likely path wins.
  std::vector<std::optional<FeedLink>> answers(requests.size());
  client.get_all(requests, [&](std::size_t number, Result<net::HttpResponse> response) {
    if (response.ok() && response->status == 200) answers[number] = as_feed(*response, options.now);
  });
  std::vector<FeedLink> found;
  for (std::optional<FeedLink>& answer : answers) {
    // Several paths may lead to one feed by redirects.
    if (answer && std::ranges::find(found, answer->url, &FeedLink::url) == found.end())
      found.push_back(std::move(*answer));
  }
  return found;
}

}  // namespace

bool has_scheme(std::string_view address) {
  return address.find("://") != std::string_view::npos || address.starts_with("feed:");
}

Result<std::vector<FeedLink>> find_feeds(net::HttpClient& client, std::string_view address,
                                         const FindOptions& options) {
  KIN_TRY(const net::HttpResponse response, get_typed(client, address, options));
  const auto itself = as_feed(response, options.now);
  if (itself) return std::vector<FeedLink>{*itself};
  KIN_TRY(const net::Url page, net::Url::parse(response.url));
  std::vector<FeedLink> found = find_page_links(response, page).feeds;
  if (found.empty()) found = try_common(client, page, options);
  if (found.empty())
    return Error{
        Code::kNotFound,
        fmt::format("{}: no feed was found here (give the feed's own address)", response.url)};
  return found;
}

}  // namespace kin::stories
