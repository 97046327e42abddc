#include "server/http/routes.h"

#include <charconv>

namespace kin::server {
namespace {

std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> out;
  std::size_t from = 1;
  while (true) {
    const std::size_t slash = path.find('/', from);
    out.emplace_back(path.substr(from, slash - from));
    if (slash == std::string_view::npos) return out;
    from = slash + 1;
  }
}

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
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
      const auto number = number_in(path[i]);
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
      return {.handler =
                  [&route, values = *values](const Request& asked) {
                    return route.named_handler ? route.named_handler(asked, values.name)
                                               : route.handler(asked, values.id);
                  },
              .lane = route.lane,
              .most_body = route.most_body,
              .body = route.body,
              .open = route.open};
    }
    allowed += (allowed.empty() ? "" : ", ") + route.method;
    if (route.method == "GET") allowed += ", HEAD";
  }
  if (allowed.empty()) return refuse(404, "there is nothing at " + request.path);
  Plan plan = refuse(405, request.path + " takes " + allowed + " only");
  plan.refusal->headers.push_back({"Allow", allowed});
  return plan;
}

}  // namespace kin::server
