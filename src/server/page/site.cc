#include "server/page/site.h"

#include <cstdlib>

#include "base/ascii.h"
#include "base/json_writer.h"
#include "data/compressor.h"
#include "data/json_fields.h"
#include "server/http/parameters.h"

namespace kin::server {
namespace {

// Shorter answers fit into one packet anyway.
constexpr std::size_t kLeastToPack = 1'024;

bool is_text(std::string_view type) {
  return type.starts_with("text/") || type.find("json") != std::string_view::npos ||
         type.find("xml") != std::string_view::npos;
}

// True for a quality of zero ("q=0", "q=0.0"), which refuses the encoding.
bool refuses(std::string_view parameters) {
  const std::size_t at = parameters.find("q=");
  return at != std::string_view::npos &&
         std::strtod(std::string(parameters.substr(at + 2)).c_str(), nullptr) <= 0;
}

// True for a browser that opens an address, false for a program that requests data.
bool is_for_a_person(const Request& request) {
  return (request.method == "GET" || request.method == "HEAD") &&
         !request.path.starts_with("/api/") && !request.path.starts_with("/assets/") &&
         request.header("Accept").find("text/html") != std::string_view::npos;
}

constexpr std::size_t kLargestLogin = 4'096;

}  // namespace

bool takes_gzip(const Request& request) {
  std::string_view list = request.header("Accept-Encoding");
  while (!list.empty()) {
    const std::string_view one = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), one.size() + 1));
    const std::size_t semicolon = std::min(one.find(';'), one.size());
    if (trimmed(one.substr(0, semicolon)) == "gzip") return !refuses(one.substr(semicolon));
  }
  return false;
}

void compress(const Request& request, Response& response) {
  if (response.body.size() < kLeastToPack || response.events) return;
  if (!is_text(net::find_header(response.headers, "Content-Type").value_or(""))) return;
  response.headers.push_back({"Vary", "Accept-Encoding"});
  if (!takes_gzip(request)) return;
  data::Compressor compressor(data::Compression::kGzip);
  const auto packed = compressor.pack(response.body);
  // If there is not enough memory to compress it, it is sent as it is.
  if (!packed || packed->size() >= response.body.size()) return;
  response.body = std::string(*packed);
  response.headers.push_back({"Content-Encoding", "gzip"});
}

Site::Site(GateOptions options) : gatekeeper_(std::move(options)) {
  const auto log_in = [this](const Request& request) -> Result<Response> {
    KIN_TRY(const data::JsonValue json, parse_json_body(request));
    data::JsonFields body(json);
    std::string token;
    body.require("token");
    body.read("token", token);
    KIN_RETURN_IF_ERROR(body.finish());
    return gatekeeper_.log_in(request, token);
  };
  routes_.add({.method = "POST",
               .pattern = "/api/v1/login",
               .handler = [log_in](const Request& request,
                                   std::uint64_t) { return or_error(log_in(request)); },
               .most_body = kLargestLogin,
               .open = true});
  routes_.add({.method = "POST",
               .pattern = "/api/v1/logout",
               .handler = [this](const Request&, std::uint64_t) { return gatekeeper_.log_out(); },
               .open = true});
  routes_.add({.method = "GET",
               .pattern = "/api/v1/session",
               .handler = [this](const Request&, std::uint64_t) {
                 const std::string token = gatekeeper_.feed_token();
                 JsonWriter json;
                 json.begin_object().field("token", !token.empty()).key("feed_token");
                 token.empty() ? json.null() : json.value(token);
                 json.key("indexes_at");
                 indexes_at_.empty() ? json.null() : json.value(indexes_at_);
                 return json_response(200, json.end().take());
               }});
}

Plan Site::plan(const Request& head) {
  Plan plan = admit(head);
  return watch_ == nullptr ? plan : watch_->watched(head, std::move(plan));
}

Plan Site::admit(const Request& head) {
  if (auto refusal = gatekeeper_.check_sender(head)) return {.refusal = std::move(refusal)};
  Plan plan = routes_.plan(head);
  if (lost_ && plan.refusal && plan.refusal->status == 404 && is_for_a_person(head))
    return {.handler =
                [this](const Request& request) {
                  Response page = lost_(request);
                  if (page.status == 200) page.status = 404;
                  return page;
                },
            .lane = Lane::kInline,
            .open = true};
  // The page is open to everybody, but a token in its address is a log-in.
  if (!plan.open || (head.path == "/" && head.parameter("token"))) {
    auto admission = gatekeeper_.admit(head);
    if (admission.refusal) return {.refusal = std::move(admission.refusal)};
    plan.tenant = std::move(admission.tenant);
  }
  if (plan.refusal) return plan;
  if (auto refusal = gatekeeper_.check_body(head, plan.body))
    return {.refusal = std::move(refusal)};
  // These run on the threads of all connections, and the page's files are packed already.
  if (plan.lane == Lane::kInline) return plan;
  plan.handler = [handler = std::move(plan.handler)](const Request& request) {
    Response response = handler(request);
    compress(request, response);
    return response;
  };
  return plan;
}

}  // namespace kin::server
