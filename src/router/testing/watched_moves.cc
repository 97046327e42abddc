#include "router/testing/watched_moves.h"

namespace kin::router {
namespace {

Started<Response> answered(Response response) {
  return Started<Response>([response = std::move(response)] {
    return Reply<Response>(std::variant<Response, Refused>(response));
  });
}

bool is_deleted(const index::Record& record) {
  return std::visit(
      [](const auto& one) {
        if constexpr (requires { one.deleted; }) return one.deleted;
        return false;
      },
      record);
}

void drop_records(Sabotage sabotage, std::vector<index::Record>& records) {
  if (sabotage == Sabotage::kDropsTombstones) std::erase_if(records, is_deleted);
  if (sabotage == Sabotage::kDropsEdges)
    std::erase_if(records, [](const index::Record& record) {
      return std::holds_alternative<index::EdgeRecord>(record);
    });
}

void spoil(Sabotage sabotage, Request& request) {
  auto* take = std::get_if<TakeRequest>(&request);
  if (take == nullptr) return;
  drop_records(sabotage, take->records);
  if (sabotage == Sabotage::kDropsPlaces) take->places.clear();
}

void spoil(Sabotage sabotage, Response& response) {
  if (auto* page = std::get_if<FollowPage>(&response)) {
    if (sabotage == Sabotage::kNoFence) page->owned = false;
    if (sabotage == Sabotage::kLosesLog) page->records.clear();
  }
  if (auto* page = std::get_if<index::ExportPage>(&response)) router::spoil(sabotage, *page);
  if (auto* digest = std::get_if<DigestReply>(&response);
      digest != nullptr && sabotage >= Sabotage::kDropsTombstones)
    *digest = {};
}

class WatchedMoverClient final : public ShardClient {
 public:
  WatchedMoverClient(std::shared_ptr<ShardClient> client, std::string address, MoverWatch watch)
      : client_(std::move(client)), address_(std::move(address)), watch_(std::move(watch)) {}

  Started<Response> start(Request request, const CallOptions& options) override {
    const auto* assign = std::get_if<AssignRequest>(&request);
    if (assign != nullptr && assign->owners.size() == 1 && watch_.sabotage == Sabotage::kNoFence)
      return answered(Assigned{});
    if (std::holds_alternative<PlaceRequest>(request) && watch_.sabotage == Sabotage::kDropsClaims)
      return answered(PlacesKept{});
    clean_early(request, options);
    spoil(watch_.sabotage, request);
    if (watch_.before) watch_.before(address_);
    auto under_way =
        std::make_shared<Started<Response>>(client_->start(std::move(request), options));
    return Started<Response>(
        [under_way, sabotage = watch_.sabotage, client = client_] {
          auto reply = under_way->wait();
          if (!reply.ok()) return reply;
          if (auto* response = std::get_if<Response>(&*reply)) spoil(sabotage, *response);
          return reply;
        },
        [under_way](SteadyTime until) { return under_way->is_ready_by(until); },
        [under_way] { return under_way->arrived(); });
  }

 private:
  // The last page of directory entries was read: the source has nothing to send any more.
  void clean_early(const Request& request, const CallOptions& options) {
    if (watch_.sabotage != Sabotage::kCleansEarly) return;
    if (const auto* places = std::get_if<PlacesRequest>(&request)) last_ = places->move;
    const auto* digest = std::get_if<DigestRequest>(&request);
    if (digest == nullptr || !last_ || last_->partition != digest->partition) return;
    [[maybe_unused]] const auto early =
        client_->start(EndMoveRequest{.move = *last_}, options).wait();
  }

  std::shared_ptr<ShardClient> client_;
  std::string address_;
  MoverWatch watch_;
  std::optional<MoveName> last_;
};

}  // namespace

void spoil(Sabotage sabotage, index::ExportPage& page) {
  drop_records(sabotage, page.records);
  if (sabotage == Sabotage::kStopsCopyEarly) page.next.reset();
}

Connect watched(Connect connect, MoverWatch watch) {
  return [connect = std::move(connect), watch = std::move(watch)](
             const std::string& address) -> std::shared_ptr<ShardClient> {
    return std::make_shared<WatchedMoverClient>(connect(address), address, watch);
  };
}

Result<std::optional<MetaValue>> WatchedMeta::get(std::string_view key) {
  if (watch_.before) watch_.before("meta");
  return meta_.get(key);
}

Result<std::optional<std::uint64_t>> WatchedMeta::swap(std::string_view key, std::uint64_t expected,
                                                       std::optional<std::string_view> bytes) {
  if (watch_.before) watch_.before("meta");
  return meta_.swap(key, expected, bytes);
}

Result<MetaChanges> WatchedMeta::watch(std::string_view prefix, std::uint64_t after,
                                       SteadyTime until) {
  if (watch_.before) watch_.before("meta");
  return meta_.watch(prefix, after, until);
}

}  // namespace kin::router
