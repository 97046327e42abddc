#include "server/http/message.h"

#include "base/json_writer.h"

namespace kin::server {
namespace {

struct StatusWords {
  int status;
  std::string_view reason;
  std::string_view code;  // of errors
};

constexpr StatusWords kStatuses[] = {
    {200, "OK", ""},
    {201, "Created", ""},
    {202, "Accepted", ""},
    {204, "No Content", ""},
    {303, "See Other", ""},
    {304, "Not Modified", ""},
    {400, "Bad Request", "invalid"},
    {401, "Unauthorized", "unauthorised"},
    {403, "Forbidden", "forbidden"},
    {404, "Not Found", "not_found"},
    {405, "Method Not Allowed", "method_not_allowed"},
    {409, "Conflict", "conflict"},
    {413, "Content Too Large", "too_large"},
    {415, "Unsupported Media Type", "unsupported_type"},
    {429, "Too Many Requests", "too_many_requests"},
    {431, "Request Header Fields Too Large", "too_large"},
    {500, "Internal Server Error", "internal"},
    {502, "Bad Gateway", "unavailable"},
    {503, "Service Unavailable", "busy"},
};

const StatusWords& words_of(int status) {
  for (const StatusWords& words : kStatuses) {
    if (words.status == status) return words;
  }
  static constexpr StatusWords kOther{0, "Unknown", "internal"};
  return kOther;
}

int status_of(Code code, Blame blame) {
  // 502 tells the client that the feed's server is at fault, not this one.
  const int fault = blame == Blame::kRemote ? 502 : 500;
  switch (code) {
    case Code::kInvalidArgument: return 400;
    case Code::kNotFound: return 404;
    case Code::kFailedPrecondition: return 409;
    case Code::kCancelled: return 503;
    case Code::kUnavailable:
    case Code::kResourceExhausted:
    case Code::kDataLoss: return fault;
    case Code::kInternal: return 500;
  }
  return 500;
}

}  // namespace

std::optional<std::string_view> Request::parameter(std::string_view name) const {
  std::optional<std::string_view> found;
  for (const Parameter& parameter : query) {
    if (parameter.name == name) found = parameter.value;
  }
  return found;
}

std::string_view reason_of(int status) {
  return words_of(status).reason;
}

Response json_response(int status, std::string json) {
  return {.status = status,
          .headers = {{"Content-Type", "application/json; charset=utf-8"},
                      {"Cache-Control", "no-store"}},
          .body = std::move(json)};
}

Response error_response(int status, std::string_view message) {
  JsonWriter json;
  json.begin_object().key("error").begin_object();
  json.field("code", words_of(status).code).field("message", message).end().end();
  return json_response(status, json.take());
}

Response error_response(const Error& error, Blame blame) {
  return error_response(status_of(error.code, blame), error.message);
}

Response or_error(Result<Response> response, Blame blame) {
  return response ? std::move(*response) : error_response(response.error(), blame);
}

}  // namespace kin::server
