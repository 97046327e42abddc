// The JSON API of a router or a server (docs/api.md), for verbs that work on its indexes.
//
//   KIN_TRY(const auto api, RemoteApi::open(flags));
//   KIN_TRY(const data::JsonValue answer, api->get("/indexes"));
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "app/options.h"
#include "base/result.h"
#include "data/json_value.h"

namespace kin::app {

struct AtFlags {
  std::string at = {};  // HOST:PORT or a URL; empty: this machine's own indexes
  std::string token_file = {};
  std::string certificates = {};
};
// --at, --at-token-file and --at-ca.
void add_at_flags(Verb verb, AtFlags& flags);

// What the options say.
struct RemoteAddress {
  std::string origin = {};  // "http://10.0.0.7:8723"
  std::string token = {};   // empty: none
  std::string certificates = {};
};
// kInvalidArgument if the address or the token is not one.
Result<RemoteAddress> understand(const AtFlags& flags);

// A name or a value as a part of a path or a query: all but letters, digits and -._~ is escaped.
std::string escaped(std::string_view text);
// "/indexes/NAME".
inline std::string index_path(std::string_view name) {
  return "/indexes/" + escaped(name);
}

// One thread only.
class RemoteApi {
 public:
  // kInvalidArgument if the address or the token is not one.
  static Result<std::unique_ptr<RemoteApi>> open(const AtFlags& flags);
  virtual ~RemoteApi() = default;

  // `path` is what follows /api/v1. A refusal of the server is an error with its message.
  virtual Result<std::string> get(const std::string& path) = 0;
  virtual Result<std::string> post(const std::string& path, std::string json) = 0;
  virtual Status remove(const std::string& path) = 0;

 protected:
  RemoteApi() = default;
};

}  // namespace kin::app
