// Requests to the members of an etcd, over HTTP.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/http_client.h"

namespace kin::router {

struct EtcdAccess {
  std::vector<std::string> endpoints = {};  // "host:port"; at least one
  std::string user = {};                    // empty: etcd asks for none
  std::string password = {};
  std::string ca_file = {};  // PEM certificates to trust; empty: no TLS
  std::chrono::milliseconds connect = std::chrono::seconds{2};
  std::chrono::milliseconds timeout = std::chrono::seconds{5};  // of a call, over all endpoints
  const Clock* clock = &system_clock();
};

// Asks the member that answered last, and others if that one does not. Thread-safe.
class EtcdCalls {
 public:
  explicit EtcdCalls(EtcdAccess access);

  // A call that may be sent to several members one after the other. kUnavailable if none answers.
  Result<std::string> read(std::string_view path, const std::string& body);
  // A call that is sent to a second member only if the first did not get it. kUnavailable if it is
  // not known whether it took effect.
  Result<std::string> write(std::string_view path, const std::string& body);
  // Gives `line` each line of an endless answer, until it returns false or `until`.
  using OnLine = std::function<bool(std::string_view line)>;
  Status stream(std::string_view path, const std::string& body, SteadyTime until,
                const OnLine& line);

  // Ends all calls, now and in future, with kCancelled.
  void stop() { client_.cancel(); }

 private:
  enum class Repeat { kAlways, kIfNotSent };
  Result<std::string> call(std::string_view path, const std::string& body, Repeat repeat);
  // The outcome of one try at a member; `sent` if the member may have got it.
  struct Try {
    Result<std::string> answer;
    bool sent = false;
    bool other_may_answer = false;  // the member's fault, and not the request's
    bool token_is_old = false;
  };
  Try attempt(std::size_t member, std::string_view path, const std::string& body,
              SteadyTime deadline);
  net::HttpRequest request(std::size_t member, std::string_view path, const std::string& body,
                           SteadyTime deadline) const;
  // Gets a token if a user is set and there is none.
  Status log_in(std::size_t member, SteadyTime deadline);
  void forget_token();
  Error no_answer(const Error& last) const;

  const EtcdAccess access_;
  net::HttpClient client_;
  std::atomic<std::size_t> preferred_{0};
  mutable std::mutex mutex_;  // guards what follows
  std::string token_;
};

}  // namespace kin::router
