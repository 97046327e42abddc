#include "server/page/assets.h"

#include <algorithm>

#include "base/ascii.h"
#include "server/page/site.h"

namespace kin::server {
namespace {

struct Page {
  std::string_view file;
  std::vector<std::string_view> addresses;
};

Page page_of(PageKind kind) {
  switch (kind) {
    case PageKind::kReader:
      return {.file = "/index.html", .addresses = {"/", "/story/{id}", "/feeds", "/search"}};
    case PageKind::kShards: return {.file = "/shards.html", .addresses = {"/", "/shards", "/search"}};
  }
  return {};
}

Response serve(const Asset& asset, const Request& request) {
  const bool hashed = asset.path.starts_with("/assets/");
  Response response;
  response.headers = {
      {"Content-Type", std::string(asset.content_type)},
      // Weak: the packed bytes have the same tag.
      {"ETag", "W/" + std::string(asset.etag)},
      {"Cache-Control", hashed ? "public, max-age=31536000, immutable" : "no-cache"}};
  if (!asset.gzip.empty()) response.headers.push_back({"Vary", "Accept-Encoding"});
  if (has_etag(request, asset.etag)) {
    response.status = 304;
  } else if (!asset.gzip.empty() && takes_gzip(request)) {
    response.headers.push_back({"Content-Encoding", "gzip"});
    response.body = asset.gzip;
  } else {
    response.body = asset.bytes;
  }
  return response;
}

void add_route(RouteTable& routes, std::string_view pattern, const Asset& asset) {
  routes.add(
      {.method = "GET",
       .pattern = std::string(pattern),
       .handler = [asset](const Request& request, std::uint64_t) { return serve(asset, request); },
       .lane = Lane::kInline,
       .open = true});
}

}  // namespace

void add_asset_routes(RouteTable& routes, std::span<const Asset> assets, PageKind kind) {
  const Page page = page_of(kind);
  for (const Asset& asset : assets) {
    add_route(routes, asset.path, asset);
    if (asset.path != page.file) continue;
    for (const std::string_view address : page.addresses) add_route(routes, address, asset);
  }
}

Handler page_handler(std::span<const Asset> assets, PageKind kind) {
  const auto index = std::ranges::find(assets, page_of(kind).file, &Asset::path);
  if (index == assets.end()) return {};
  return [asset = *index](const Request& request) { return serve(asset, request); };
}

bool has_etag(const Request& request, std::string_view etag) {
  std::string_view known = request.header("If-None-Match");
  if (known == "*") return true;
  while (!known.empty()) {
    std::string_view one = known.substr(0, known.find(','));
    known.remove_prefix(std::min(known.size(), one.size() + 1));
    one = trimmed(one);
    // RFC 9110, 13.1.2: If-None-Match compares weakly.
    if (one.starts_with("W/")) one.remove_prefix(2);
    if (one == etag) return true;
  }
  return false;
}

}  // namespace kin::server
