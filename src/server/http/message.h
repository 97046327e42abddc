// Requests and answers of HTTP as the rest of the room sees them: plain values.
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
  // Instead of a body: the connection stays open and gets these events.
  std::shared_ptr<EventStream> events{};
  // How long to wait before it is sent: for guessers.
  std::chrono::milliseconds delay{0};
};

// "Not Found" of 404.
std::string_view reason_of(int status);

Response json_response(int status, std::string json);
// {"error": {"code": …, "message": …}} with the code that goes with the status.
Response error_response(int status, std::string_view message);

// Whose fault a failure can be.
enum class Blame {
  kOurs,    // nobody else was asked
  kRemote,  // a feed's server was: what it did wrong is 502
};
Response error_response(const Error& error, Blame blame = Blame::kOurs);

}  // namespace kin::server
