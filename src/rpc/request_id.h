// The id by which the logs of routers and nodes are put together: a client's request has one, and
// every call to a node that is made for it carries it.
#pragma once

#include <string>
#include <string_view>

namespace kin::rpc {

// The field of a call's metadata that carries the id.
inline constexpr const char* kRequestIdField = "x-request-id";

// While it lives, calls that this thread starts carry the id. Scopes of a thread are nested. The
// answers do not depend on ids, which is why they are no parameter of every call.
class RequestScope {
 public:
  explicit RequestScope(std::string id);
  ~RequestScope();
  RequestScope(const RequestScope&) = delete;
  RequestScope& operator=(const RequestScope&) = delete;

 private:
  std::string before_;
};

// The id of the innermost scope of this thread; empty outside of any.
const std::string& current_request_id();

// Whether an id that came from outside may go into logs and headers: 1 to 64 letters, digits, and
// the characters -_. of ASCII.
bool is_request_id(std::string_view id);

}  // namespace kin::rpc
