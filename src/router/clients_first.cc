#include "router/clients_first.h"

#include <algorithm>

namespace kin::router {
namespace {

struct IsOfClient {
  bool operator()(const OpenSession&) const { return true; }
  bool operator()(const WriteRequest&) const { return true; }
  bool operator()(const ClaimRequest&) const { return true; }
  bool operator()(const LocateRequest&) const { return true; }
  bool operator()(const GetRequest&) const { return true; }
  bool operator()(const StatisticsRequest&) const { return true; }
  bool operator()(const FindRequest&) const { return true; }
  bool operator()(const SumRequest&) const { return true; }
  bool operator()(const PresentRequest&) const { return true; }
  bool operator()(const HeadsRequest&) const { return true; }
  bool operator()(const EdgesRequest&) const { return true; }
  bool operator()(const ListRequest&) const { return true; }
  bool operator()(const ScopeRequest&) const { return true; }
  bool operator()(const AboutRequest&) const { return true; }
  bool operator()(const NearRequest&) const { return true; }
  template <typename Other>
  bool operator()(const Other&) const {
    return false;
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
