// The page's files, which are part of the program.
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
  std::string_view gzip;  // the same, packed; empty where that does not help
};

// Sorted by path. Made by tools/embed_assets.py. Thread-safe.
std::span<const Asset> embedded_assets();

// Adds a route for each file, and for the page's own addresses, which are all /index.html: "/",
// "/story/{id}", "/feeds", "/search". Files under /assets/ have a hash in their name and are kept
// for ever. What the assets point to must outlive the router.
void add_asset_routes(Router& router, std::span<const Asset> assets);

// Does `If-None-Match` say that the client has what `etag` (with its quotes) stands for?
bool has_etag(const Request& request, std::string_view etag);

}  // namespace kin::server
