#include "router/meta/etcd_calls.h"

#include <fmt/format.h>

#include <algorithm>

#include "router/meta/etcd_messages.h"

namespace kin::router {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;  // all maps in one answer
constexpr int kMostCalls = 64;                                  // watches among them
// gRPC's status codes.
constexpr int kDeadlineExceeded = 4;
constexpr int kPermissionDenied = 7;
constexpr int kResourceExhausted = 8;
constexpr int kUnavailable = 14;
constexpr int kUnauthenticated = 16;

net::HttpOptions http_options(const EtcdAccess& access) {
  // Whoever configures the router chooses the addresses: private ones are the rule.
  return {.addresses = {.allow_all = true},
          .budgets = {.bytes = kMostBytes, .connect = access.connect, .slowest = 0},
          .transfers = kMostCalls,
          .transfers_per_host = kMostCalls,
          .ca_file = access.ca_file,
          .clock = access.clock};
}

bool is_old_token(const EtcdFailure& failure) {
  return failure.code == kUnauthenticated ||
         failure.message.find("revision of auth store is old") != std::string::npos;
}

Error error_of(const EtcdFailure& failure, int status, const std::string& member) {
  const std::string words =
      fmt::format("etcd at {}: {} (HTTP status {})", member, failure.message, status);
  if (failure.code == kDeadlineExceeded || failure.code == kUnavailable || status >= 500)
    return {Code::kUnavailable, words};
  if (failure.code == kResourceExhausted)
    return {Code::kResourceExhausted,
            words + ": compact it, and end its alarm (etcdctl compact, defrag, alarm disarm)"};
  if (failure.code == kPermissionDenied)
    return {Code::kFailedPrecondition,
            words + ": the user needs a role with readwrite permission on the prefix"};
  return {Code::kFailedPrecondition, words};
}

}  // namespace

EtcdCalls::EtcdCalls(EtcdAccess access)
    : access_(std::move(access)), client_(http_options(access_)) {
  KIN_CHECK(!access_.endpoints.empty(), "an etcd has members");
}

Result<std::string> EtcdCalls::read(std::string_view path, const std::string& body) {
  return call(path, body, Repeat::kAlways);
}

Result<std::string> EtcdCalls::write(std::string_view path, const std::string& body) {
  return call(path, body, Repeat::kIfNotSent);
}

Error EtcdCalls::no_answer(const Error& last) const {
  return {last.code,
          access_.endpoints.size() == 1
              ? last.message
              : fmt::format("no member of etcd answers; the last one: {}", last.message)};
}

Result<std::string> EtcdCalls::call(std::string_view path, const std::string& body, Repeat repeat) {
  const SteadyTime end = access_.clock->steady_now() + access_.timeout;
  const std::size_t members = access_.endpoints.size();
  // A member that hangs must leave time for the others.
  const milliseconds share = access_.timeout / static_cast<int>(members);
  Error last{Code::kUnavailable, "etcd was not asked"};
  bool logged_in_again = false;
  const std::size_t first = preferred_;
  for (std::size_t tried = 0; tried < members && access_.clock->steady_now() < end;) {
    const std::size_t member = (first + tried) % members;
    const SteadyTime deadline =
        repeat == Repeat::kAlways ? std::min(end, access_.clock->steady_now() + share) : end;
    Try one = attempt(member, path, body, deadline);
    if (one.answer.ok()) {
      preferred_ = member;
      return std::move(one.answer);
    }
    last = one.answer.error();
    if (one.token_is_old && !logged_in_again) {
      forget_token();
      logged_in_again = true;
      continue;
    }
    if (!one.other_may_answer) return last;
    preferred_ = (member + 1) % members;
    if (one.sent && repeat == Repeat::kIfNotSent) return last;
    ++tried;
  }
  return no_answer(last);
}

net::HttpRequest EtcdCalls::request(std::size_t member, std::string_view path,
                                    const std::string& body, SteadyTime deadline) const {
  const std::lock_guard lock(mutex_);
  net::HttpRequest asked{.url = fmt::format("{}://{}{}", access_.ca_file.empty() ? "http" : "https",
                                            access_.endpoints[member], path),
                         .body = net::HttpBody{.type = "application/json", .bytes = body},
                         .deadline = deadline};
  if (!token_.empty()) asked.headers.push_back({"Authorization", token_});
  return asked;
}

EtcdCalls::Try EtcdCalls::attempt(std::size_t member, std::string_view path,
                                  const std::string& body, SteadyTime deadline) {
  const std::string& address = access_.endpoints[member];
  if (const Status done = log_in(member, deadline); !done.ok())
    return {.answer = done.error(), .other_may_answer = done.error().code == Code::kUnavailable};
  net::HttpOutcome outcome = client_.send(request(member, path, body, deadline));
  if (!outcome.response.ok()) {
    const Error& why = outcome.response.error();
    return {.answer = Error{why.code, fmt::format("etcd at {}: {}", address, why.message)},
            .sent = outcome.may_have_been_sent,
            .other_may_answer = why.code == Code::kUnavailable};
  }
  if (outcome.response->status == 200) return {.answer = std::move(outcome.response->body)};
  const EtcdFailure failure = parse_failure(outcome.response->body);
  const Error error = error_of(failure, outcome.response->status, address);
  return {.answer = error,
          .sent = true,
          .other_may_answer = error.code == Code::kUnavailable,
          .token_is_old = is_old_token(failure)};
}

Status EtcdCalls::log_in(std::size_t member, SteadyTime deadline) {
  if (access_.user.empty()) return Done{};
  {
    const std::lock_guard lock(mutex_);
    if (!token_.empty()) return Done{};
  }
  const std::string& address = access_.endpoints[member];
  const auto answered = client_.get(request(
      member, "/v3/auth/authenticate", login_request(access_.user, access_.password), deadline));
  if (!answered.ok())
    return Error{answered.error().code,
                 fmt::format("etcd at {}: {}", address, answered.error().message)};
  if (answered->status != 200)
    return error_of(parse_failure(answered->body), answered->status, address);
  KIN_TRY(std::string token, parse_login(answered->body));
  const std::lock_guard lock(mutex_);
  token_ = std::move(token);
  return Done{};
}

void EtcdCalls::forget_token() {
  const std::lock_guard lock(mutex_);
  token_.clear();
}

Status EtcdCalls::stream(std::string_view path, const std::string& body, SteadyTime until,
                         const OnLine& line) {
  const std::size_t member = preferred_;
  KIN_RETURN_IF_ERROR(log_in(member, access_.clock->steady_now() + access_.timeout));
  net::HttpRequest asked = request(member, path, body, until);
  asked.decompress = false;
  // The answer has no end, and may be silent for long.
  asked.budgets = client_.options().budgets;
  asked.budgets->total = std::chrono::hours{24};
  std::string rest;
  asked.sink = [&](std::string_view bytes) {
    rest.append(bytes);
    std::size_t from = 0;
    for (std::size_t end = rest.find('\n'); end != std::string::npos; end = rest.find('\n', from)) {
      if (!line(std::string_view(rest).substr(from, end - from))) return false;
      from = end + 1;
    }
    rest.erase(0, from);
    return true;
  };
  const auto answered = client_.get(asked);
  if (answered.ok() && answered->stopped) return Done{};
  if (!answered.ok() && access_.clock->steady_now() >= until) return Done{};
  preferred_ = (member + 1) % access_.endpoints.size();
  const std::string& address = access_.endpoints[member];
  if (!answered.ok())
    return Error{answered.error().code,
                 fmt::format("etcd at {}: {}", address, answered.error().message)};
  if (answered->status == 200)
    return Error{Code::kUnavailable, fmt::format("etcd at {} ended a watch", address)};
  const EtcdFailure failure = parse_failure(answered->body);
  if (is_old_token(failure)) forget_token();
  return error_of(failure, answered->status, address);
}

}  // namespace kin::router
