#include "router/clients_first.h"

#include <algorithm>
#include <type_traits>

namespace kin::router {
namespace {

template <typename Asked, typename... Kinds>
constexpr bool kIsOneOf = (std::is_same_v<Asked, Kinds> || ...);

// A new request is in one of the two lists, or this does not compile.
struct IsOfClient {
  template <typename Asked>
  bool operator()(const Asked&) const {
    constexpr bool kOfClient =
        kIsOneOf<Asked, OpenSession, WriteRequest, ClaimRequest, LocateRequest, GetRequest,
                 StatisticsRequest, FindRequest, SumRequest, PresentRequest, HeadsRequest,
                 EdgesRequest, ListRequest, ScopeRequest, AboutRequest, NearRequest>;
    constexpr bool kOfRouters =
        kIsOneOf<Asked, AssignRequest, ReadLogRequest, DigestRequest, StatsRequest, HealthRequest,
                 StoreBlobRequest, ReadBlobRequest, CheckRequest, ReceiveRequest, TakeRequest,
                 FollowRequest, CopyRequest, PlacesRequest, EndMoveRequest, PullRequest,
                 SampleRequest, DivideRequest, LabelsRequest, PlaceRequest, EndDivideRequest>;
    static_assert(kOfClient != kOfRouters);
    return kOfClient;
  }
};

}  // namespace

bool ClientsFirst::has_clients(SteadyTime now) const {
  return serving_ > 0 || (served_ != SteadyTime{} && now - served_ < options_.lately);
}

bool ClientsFirst::has_clients() const {
  const SteadyTime now = clock_.steady_now();
  const std::lock_guard lock(mutex_);
  return has_clients(now);
}

void ClientsFirst::begin() {
  const std::lock_guard lock(mutex_);
  ++serving_;
}

void ClientsFirst::end() {
  const SteadyTime now = clock_.steady_now();
  const std::lock_guard lock(mutex_);
  --serving_;
  served_ = std::max(served_, now);
}

SteadyTime ClientsFirst::next_after(std::chrono::nanoseconds took) {
  const SteadyTime now = clock_.steady_now();
  const std::lock_guard lock(mutex_);
  if (!has_clients(now)) return now;
  const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::max(took, std::chrono::nanoseconds{0}) * options_.rests);
  next_ = std::min(std::max(next_, now) + rest, now + options_.longest);
  return next_;
}

Status ClientsFirst::rest(std::chrono::nanoseconds took) {
  const SteadyTime next = next_after(took);
  const SteadyTime now = clock_.steady_now();
  if (now < next) clock_.sleep_for(next - now);
  return Done{};
}

void ClientsFirst::Turns::go_on() {
  const std::chrono::nanoseconds took = of_.clock_.steady_now() - begun_;
  if (took < of_.options_.turn) return;
  [[maybe_unused]] const Status rested = of_.rest(took);  // which never fails
  begun_ = of_.clock_.steady_now();
}

bool is_of_client(const Request& request) {
  return std::visit(IsOfClient{}, request);
}

}  // namespace kin::router
