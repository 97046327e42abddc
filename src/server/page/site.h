// A request's way through the server: access control, route table, compression.
#pragma once

#include "server/http/gatekeeper.h"
#include "server/http/routes.h"
#include "server/http/server.h"
#include "server/watch/watch.h"

namespace kin::server {

// Thread-safe once all routes are added.
class Site {
 public:
  // Adds the routes of logging in and out, /api/v1/login, /api/v1/logout and /api/v1/session.
  explicit Site(GateOptions options);

  RouteTable& routes() { return routes_; }
  // The page that browsers get for a missing address, with status 404; other clients get JSON.
  void show_when_lost(Handler page) { lost_ = std::move(page); }
  // The session tells that the indexes are those of the router or server there.
  void show_indexes_at(std::string address) { indexes_at_ = std::move(address); }
  // Counts and logs all requests from now on. `watch` must outlive this.
  void show_to(Watch& watch) { watch_ = &watch; }
  // The Planner of HttpServer, which must not outlive this.
  Plan plan(const Request& head);

 private:
  Plan admit(const Request& head);

  Gatekeeper gatekeeper_;
  RouteTable routes_;
  Handler lost_{};
  std::string indexes_at_{};
  Watch* watch_ = nullptr;
};

// Compresses the body with gzip if the client accepts that and it saves bytes. Thread-safe.
void compress(const Request& request, Response& response);

// True if the client accepts gzip.
bool takes_gzip(const Request& request);

}  // namespace kin::server
