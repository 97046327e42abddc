// Who watches a process: metrics, and a log of its requests.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "server/http/routes.h"
#include "server/watch/metrics.h"
#include "server/watch/request_log.h"

namespace kin::server {

// Thread-safe.
class Watch {
 public:
  // `log` is the path of RequestLog::open(); empty: there is no log. `clock` must outlive it.
  static Result<std::unique_ptr<Watch>> open(const std::string& log, const Clock& clock);

  Metrics& metrics() { return metrics_; }

  // The plan with its answer counted, logged, and marked with the request's id (X-Request-Id): the
  // client's own, or a new one. Calls to nodes carry it. The time counts from now. Handlers of
  // connections' own threads are left alone: they serve files.
  Plan watched(const Request& head, Plan plan);

  // A call that a node served.
  void served(const rpc::ServedCall& call);

  // For GET /metrics.
  Response metrics_page(std::vector<Gauge> gauges) const;

 private:
  explicit Watch(const Clock& clock) : clock_(clock) {}
  void answered(const AnsweredRequest& request, std::string_view route);

  const Clock& clock_;
  Metrics metrics_;
  std::unique_ptr<RequestLog> log_;
};

}  // namespace kin::server
