#include "server/routed/measured_client.h"

namespace kin::server {

router::Started<router::Response> MeasuredClient::start(router::Request request,
                                                        const router::CallOptions& options) {
  using Call = router::Started<router::Response>;
  const std::string_view kind = router::kind_of(request);
  const SteadyTime begun = clock_.steady_now();
  const auto call = std::make_shared<Call>(client_->start(std::move(request), options));
  // The call may outlive the client, if the map changes meanwhile.
  return Call(
      [node = node_, &metrics = metrics_, &clock = clock_, kind, begun, call] {
        auto reply = call->wait();
        const SteadyTime ended = call->arrived().value_or(clock.steady_now());
        metrics.called(node, kind, router::outcome_of(reply), ended - begun);
        return reply;
      },
      [call](SteadyTime until) { return call->is_ready_by(until); },
      [call] { return call->arrived(); });
}

}  // namespace kin::server
