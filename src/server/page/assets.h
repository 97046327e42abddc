// The page's files, embedded in the program.
#pragma once

#include <span>
#include <string_view>

#include "server/http/routes.h"

namespace kin::server {

struct Asset {
  std::string_view path;  // "/index.html", "/assets/app-1a2b3c.js"
  std::string_view content_type;
  std::string_view etag;  // with its quotes
  std::string_view bytes;
  std::string_view gzip;  // `bytes` compressed; empty if that saves nothing
};

// Sorted by path. Made by tools/embed_assets.py. Thread-safe.
std::span<const Asset> embedded_assets();

enum class PageKind {
  kReader,  // of `kindred serve`: /index.html, at "/", "/story/{id}", "/feeds", "/search"
  kShards,  // of `kindred router`: /shards.html, at "/", "/shards" and "/search"
};

// Adds a route for each file, and for the page's own addresses. Files under /assets/ have a hash in
// their name, so browsers may cache them for ever. The assets' bytes must outlive the table.
void add_asset_routes(RouteTable& routes, std::span<const Asset> assets,
                      PageKind page = PageKind::kReader);

// Serves the page itself. Empty if there is none.
Handler page_handler(std::span<const Asset> assets, PageKind page = PageKind::kReader);

// True if If-None-Match names `etag` (given with its quotes).
bool has_etag(const Request& request, std::string_view etag);

}  // namespace kin::server
