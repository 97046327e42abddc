#include "server/watch/watch.h"

#include <fmt/format.h>
#include <openssl/rand.h>

#include <array>

#include "rpc/request_id.h"

namespace kin::server {
namespace {

constexpr const char* kIdHeader = "X-Request-Id";

std::string new_id() {
  std::array<unsigned char, 8> bytes{};
  // If there is no randomness, ids repeat, which makes logs harder to read and nothing else.
  (void)RAND_bytes(bytes.data(), static_cast<int>(bytes.size()));
  std::string id;
  for (const unsigned char byte : bytes) id += fmt::format("{:02x}", byte);
  return id;
}

std::string id_of(const Request& head) {
  const std::string_view sent = head.header(kIdHeader);
  return rpc::is_request_id(sent) ? std::string(sent) : new_id();
}

}  // namespace

Result<std::unique_ptr<Watch>> Watch::open(const std::string& log, const Clock& clock) {
  std::unique_ptr<Watch> watch(new Watch(clock));
  if (!log.empty()) {
    KIN_TRY(watch->log_, RequestLog::open(log, clock));
  }
  return watch;
}

void Watch::answered(const AnsweredRequest& request, std::string_view route) {
  metrics_.answered(route, request.method, request.status, request.took);
  if (log_) log_->write(request);
}

Plan Watch::watched(const Request& head, Plan plan) {
  const std::string id = id_of(head);
  if (plan.refusal) {
    plan.refusal->headers.push_back({kIdHeader, id});
    answered({.id = id, .method = head.method, .path = head.path, .status = plan.refusal->status},
             "");
    return plan;
  }
  if (plan.lane == Lane::kInline) return plan;
  plan.handler = [this, id, begun = clock_.steady_now(), route = plan.route,
                  handler = std::move(plan.handler)](const Request& request) {
    const rpc::RequestScope scope(id);
    Response response = handler(request);
    response.headers.push_back({kIdHeader, id});
    answered({.id = id,
              .method = request.method,
              .path = request.path,
              .status = response.status,
              .took = clock_.steady_now() - begun},
             route);
    return response;
  };
  return plan;
}

void Watch::served(const rpc::ServedCall& call) {
  metrics_.served(call.index, call.kind, call.outcome, call.took);
  if (log_) log_->write(call);
}

Response Watch::metrics_page(std::vector<Gauge> gauges) const {
  if (log_)
    gauges.push_back({.name = "kindred_log_lines_lost",
                      .help = "Lines of the log that could not be written.",
                      .value = static_cast<double>(log_->lost())});
  return {.headers = {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}},
          .body = metrics_.text(gauges)};
}

}  // namespace kin::server
