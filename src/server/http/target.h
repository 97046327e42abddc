// The target of a request line: path and query.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/http/message.h"

namespace kin::server {

struct Target {
  std::string path;  // decoded; starts with '/', holds no controls
  std::vector<Parameter> query;
};

// Parses "/path?name=value&…" as browsers and forms write it ('+' is a space in the query). An
// error if it does not start with '/', has a broken percent escape, or is not UTF-8 when decoded.
// Thread-safe.
Result<Target> parse_target(std::string_view target);

}  // namespace kin::server
