// Which code answers which request.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/message.h"

namespace kin::server {

// On whose time an answer is made.
enum class Lane {
  kInline,  // at once, on the thread of the connection: must not wait for anything
  kQuick,   // may wait for the disk
  kSlow,    // may wait for other machines
};

// What a request that changes something has to carry.
enum class BodyKind { kJson, kXml };

inline constexpr std::size_t kUsualBody = std::size_t{1} << 20;

using Answer = std::function<Response(const Request&)>;

// What is to become of a request, known when its header is.
struct Plan {
  std::optional<Response> refusal{};  // if there is one, nothing else counts
  Answer answer{};
  Lane lane = Lane::kQuick;
  std::size_t most_body = kUsualBody;
  BodyKind body = BodyKind::kJson;
  bool open = false;  // to everybody: it tells nothing of the user's
};

struct Route {
  std::string method;  // GET serves HEAD as well
  // "/api/v1/feeds/{id}/icon": {id} is a number, {name} anything but a slash; one of them at most.
  std::string pattern;
  // Gets the number, or 0 if the pattern has none.
  std::function<Response(const Request&, std::uint64_t id)> answer{};
  // Instead, for a pattern with a name: gets that.
  std::function<Response(const Request&, const std::string& name)> named{};
  Lane lane = Lane::kQuick;
  std::size_t most_body = kUsualBody;
  BodyKind body = BodyKind::kJson;
  bool open = false;  // as in Plan
};

// Filled first, then thread-safe.
class Router {
 public:
  void add(Route route);

  // The plan of the route that fits; a refusal of 404, or of 405 with Allow, if none does.
  // The router must outlive the plan.
  Plan plan(const Request& request) const;

 private:
  struct Entry {
    Route route;
    std::vector<std::string> segments;
  };
  std::vector<Entry> entries_;
};

}  // namespace kin::server
