#include "router/testing/served_calls.h"

#include <utility>

#include "router/testing/watched_moves.h"

namespace kin::router {
namespace {

class WatchedCalls final : public ShardClient {
 public:
  WatchedCalls(std::shared_ptr<ShardClient> client, std::string address, CallWatch watch)
      : client_(std::move(client)), address_(std::move(address)), watch_(std::move(watch)) {}

  Started<Response> start(Request request, const CallOptions& options) override {
    if (watch_.before) watch_.before(address_);
    auto under_way = std::make_shared<Started<Response>>(client_->start(request, options));
    return Started<Response>(
        [under_way, watch = watch_, request = std::move(request)]() -> Reply<Response> {
          watch.waits();
          auto reply = under_way->wait();
          if (!watch.goes_on()) return Error{Code::kCancelled, "the process was stopped"};
          return received(watch, std::get<CopyRequest>(request), std::move(reply));
        });
  }

 private:
  static Reply<Response> received(const CallWatch& watch, const CopyRequest& asked,
                                  Reply<Response> reply) {
    if (!reply.ok() && watch.sabotage == Sabotage::kMissingPageIsLast)
      return std::variant<Response, Refused>(Response(index::ExportPage{}));
    if (!reply.ok()) return reply;
    auto* response = std::get_if<Response>(&*reply);
    if (response == nullptr) return reply;
    auto& page = std::get<index::ExportPage>(*response);
    spoil(watch.sabotage, page);
    watch.got_page(asked, page);
    return reply;
  }

  std::shared_ptr<ShardClient> client_;
  std::string address_;
  CallWatch watch_;
};

}  // namespace

void Outage::begin_stretch(SimulatedDisk& disk) {
  disk.observe([this, &disk](const SimulatedDisk::Step&) {
    if (left_ > 0 && --left_ == 0) after_ = disk.power_cut(cut_);
  });
}

std::unique_ptr<SimulatedDisk> Outage::end_stretch(SimulatedDisk& disk, bool is_done) {
  disk.observe({});
  if (is_done && when_done_) after_ = disk.power_cut(cut_);
  return std::move(after_);
}

Status SimulatedPace::rest(std::chrono::nanoseconds) {
  watch_.waits();
  simulation_.clock().sleep_for(std::chrono::milliseconds{simulation_.random().below(30)});
  if (!watch_.goes_on()) return Error{Code::kCancelled, "the process was stopped"};
  return Done{};
}

Reach watched_calls(Reach reach, CallWatch watch) {
  return [reach = std::move(reach),
          watch = std::move(watch)](const std::string& address) -> std::shared_ptr<ShardClient> {
    return std::make_shared<WatchedCalls>(reach(address), address, watch);
  };
}

bool makes_calls(const Request& request) {
  return std::holds_alternative<PullRequest>(request);
}

}  // namespace kin::router
