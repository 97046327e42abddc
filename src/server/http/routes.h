// The route table: maps requests to handlers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/message.h"

namespace kin::server {

// The threads that run a handler.
enum class Lane {
  kInline,  // the connection's own thread: the handler must not block
  kQuick,   // a pool for handlers that wait for the disk
  kSlow,    // a pool for handlers that wait for other machines
};

// The Content-Type that a request with a body must have.
enum class BodyKind { kJson, kXml };

inline constexpr std::size_t kUsualBody = std::size_t{1} << 20;

using Handler = std::function<Response(const Request&)>;

// How to handle a request. Made from its header.
struct Plan {
  std::optional<Response> refusal{};  // if set, it is the answer and the other fields are ignored
  Handler handler{};
  Lane lane = Lane::kQuick;
  std::size_t most_body = kUsualBody;
  BodyKind body = BodyKind::kJson;
  bool open = false;         // needs no token, because it holds no user data
  std::string tenant{};      // Request::tenant of the request
  std::uint32_t weight = 1;  // of the tenant among those whose requests wait
  std::string_view route{};  // the pattern; empty if there is no route
};

struct Route {
  std::string method;  // GET serves HEAD as well
  // "/api/v1/feeds/{id}/icon": {id} matches a number, {name} any segment. At most one of them.
  std::string pattern;
  // `id` is the number in the path, or 0 if the pattern has no {id}.
  std::function<Response(const Request&, std::uint64_t id)> handler{};
  // Used instead of `handler` for a pattern with {name}.
  std::function<Response(const Request&, const std::string& name)> named_handler{};
  Lane lane = Lane::kQuick;
  std::size_t most_body = kUsualBody;
  BodyKind body = BodyKind::kJson;
  bool open = false;  // as in Plan
};

// Thread-safe once all routes are added.
class RouteTable {
 public:
  void add(Route route);

  // The plan of the matching route. Without one, a refusal: 404, or 405 with Allow if the path
  // exists for other methods. The table must outlive the plan.
  Plan plan(const Request& request) const;

 private:
  struct Entry {
    Route route;
    std::vector<std::string> segments;
  };
  std::vector<Entry> entries_;
};

}  // namespace kin::server
