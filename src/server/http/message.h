// HTTP requests and answers as plain values.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/header_fields.h"

namespace kin::server {

class EventStream;

struct Parameter {
  std::string name;
  std::string value;
  friend bool operator==(const Parameter&, const Parameter&) = default;
};

struct Request {
  std::string method;              // as sent: "GET"
  std::string target;              // as sent
  std::string path;                // of the target, decoded; starts with '/'
  std::vector<Parameter> query{};  // decoded, in order
  std::vector<net::Header> headers{};
  std::string body{};
  // Whose request it is, as the server knows by the credential; empty: the operator's, or there are
  // no tenants. Nothing that the client writes sets it.
  std::string tenant{};

  // The value of a field; empty if there is none.
  std::string_view header(std::string_view name) const {
    return net::find_header(headers, name).value_or("");
  }
  // The last parameter of the name.
  std::optional<std::string_view> parameter(std::string_view name) const;
};

struct Response {
  int status = 200;
  std::vector<net::Header> headers{};
  std::string body{};
  // If set, there is no body: the connection stays open and carries these events.
  std::shared_ptr<EventStream> events{};
  // Time to wait before sending it, to slow down token guessing.
  std::chrono::milliseconds delay{0};
};

// The reason phrase of a status: "Not Found" for 404.
std::string_view reason_of(int status);

Response json_response(int status, std::string json);
// {"error": {"code": …, "message": …}}; the code follows from the status.
Response error_response(int status, std::string_view message);

// The machine that an error is attributed to.
enum class Blame {
  kOurs,    // this server: 500
  kRemote,  // the server of a feed: 502
};
Response error_response(const Error& error, Blame blame = Blame::kOurs);
// The response, or the answer to its error.
Response or_error(Result<Response> response, Blame blame = Blame::kOurs);

}  // namespace kin::server
