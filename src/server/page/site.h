// Everything that happens to a request, in order: is it let in, who answers, how is it sent.
#pragma once

#include "server/http/gatekeeper.h"
#include "server/http/routes.h"
#include "server/http/server.h"

namespace kin::server {

// Thread-safe once the router is filled.
class Site {
 public:
  explicit Site(GateOptions options) : gatekeeper_(std::move(options)) {}

  Router& router() { return router_; }
  // For HttpServer, which must not outlive this.
  Plan plan(const Request& head);

 private:
  Gatekeeper gatekeeper_;
  Router router_;
};

// Packs the body with gzip if the client takes that and it is worth it. Thread-safe.
void compress(const Request& request, Response& response);

// Does the client take gzip?
bool takes_gzip(const Request& request);

}  // namespace kin::server
