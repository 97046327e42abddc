// A request's way through the server: access control, route table, compression.
#pragma once

#include "server/http/gatekeeper.h"
#include "server/http/routes.h"
#include "server/http/server.h"

namespace kin::server {

// Thread-safe once all routes are added.
class Site {
 public:
  explicit Site(GateOptions options) : gatekeeper_(std::move(options)) {}

  RouteTable& routes() { return routes_; }
  // The Planner of HttpServer, which must not outlive this.
  Plan plan(const Request& head);

 private:
  Gatekeeper gatekeeper_;
  RouteTable routes_;
};

// Compresses the body with gzip if the client accepts that and it saves bytes. Thread-safe.
void compress(const Request& request, Response& response);

// True if the client accepts gzip.
bool takes_gzip(const Request& request);

}  // namespace kin::server
