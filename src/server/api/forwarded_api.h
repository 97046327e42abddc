// The JSON API of indexes, answered by a router or another server: requests are passed on.
#pragma once

#include <memory>

#include "base/result.h"
#include "net/http_client.h"
#include "server/http/routes.h"
#include "server/web_service.h"

namespace kin::server {

// The way to the server that has the indexes. Thread-safe.
class ForwardedIndexes {
 public:
  // kInvalidArgument if the origin is not one of http or https. The server need not be there yet.
  static Result<std::unique_ptr<ForwardedIndexes>> open(RemoteIndexes remote);

  // Its answer, or 502 with what is wrong: it does not answer, does not speak Kindred's API, or refuses
  // our token. The caller's own credentials are not passed on.
  Response ask(const Request& request);
  // Ends running requests, and refuses later ones.
  void stop() { client_.cancel(); }

 private:
  explicit ForwardedIndexes(RemoteIndexes remote);

  const RemoteIndexes remote_;
  net::HttpClient client_;
};

// Adds the routes of add_index_api() and of add_router_api(). `indexes` must outlive the table.
void add_forwarded_api(RouteTable& routes, ForwardedIndexes& indexes);

}  // namespace kin::server
