#include "server/http/routes.h"

#include "base/ascii.h"

namespace kin::server {
namespace {

std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> out;
  // A path begins with a slash, before which there is nothing.
  std::size_t from = 1;
  while (true) {
    const std::size_t slash = path.find('/', from);
    out.emplace_back(path.substr(from, slash - from));
    if (slash == std::string_view::npos) return out;
    from = slash + 1;
  }
}

// The values of {id} and {name} in a path.
struct PathValues {
  std::uint64_t id = 0;
  std::string name{};
};

// Nothing if the path does not match.
std::optional<PathValues> match(const std::vector<std::string>& pattern,
                                const std::vector<std::string>& path) {
  if (pattern.size() != path.size()) return std::nullopt;
  PathValues values;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == "{id}") {
      const auto number = parse_number<std::uint64_t>(path[i]);
      if (!number) return std::nullopt;
      values.id = *number;
    } else if (pattern[i] == "{name}") {
      values.name = path[i];
    } else if (pattern[i] != path[i]) {
      return std::nullopt;
    }
  }
  return values;
}

bool serves(const Route& route, std::string_view method) {
  return route.method == method || (route.method == "GET" && method == "HEAD");
}

Plan refuse(int status, std::string_view message) {
  return {.refusal = error_response(status, message)};
}

}  // namespace

void RouteTable::add(Route route) {
  std::vector<std::string> segments = split(route.pattern);
  entries_.push_back({std::move(route), std::move(segments)});
}

Plan RouteTable::plan(const Request& request) const {
  const std::vector<std::string> path = split(request.path);
  std::string allowed;
  for (const Entry& entry : entries_) {
    const auto values = match(entry.segments, path);
    if (!values) continue;
    const Route& route = entry.route;
    if (serves(route, request.method)) {
      // The table does not change once the server runs, so the reference stays valid.
      return {.handler =
                  [&route, values = *values](const Request& asked) {
                    return route.named_handler ? route.named_handler(asked, values.name)
                                               : route.handler(asked, values.id);
                  },
              .lane = route.lane,
              .most_body = route.most_body,
              .body = route.body,
              .open = route.open,
              .route = route.pattern};
    }
    allowed += (allowed.empty() ? "" : ", ") + route.method;
    if (route.method == "GET") allowed += ", HEAD";
  }
  if (allowed.empty()) return refuse(404, "there is nothing at " + request.path);
  Plan plan = refuse(405, request.path + " takes " + allowed + " only");
  // RFC 9110, 15.5.6 wants it.
  plan.refusal->headers.push_back({"Allow", allowed});
  return plan;
}

}  // namespace kin::server
