// One request on its way through its redirects, one hop at a time.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "net/http/handle_pool.h"
#include "net/http_client.h"
#include "net/url.h"

namespace kin::net {

// One thread at a time. start() makes libcurl's handle for the next hop, to be run by a multi
// handle; finish() takes libcurl's result of the hop. Borrows all that it is given.
class Transfer {
 public:
  Transfer(const HttpRequest& request, const HttpOptions& options, HandlePool& handles,
           SocketWatch& sockets);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // An error if the request is not valid or is refused. `url` is the request's, parsed.
  Status prepare(Result<Url> url);
  // The host of the next hop.
  const std::string& host() const { return url_->host(); }
  // When a transfer that has not started fails.
  std::optional<SteadyTime> queue_deadline() const { return request_.deadline; }
  Error too_late() const;
  // Whether the time of a transfer that has started is over.
  bool is_overdue() const { return started_ && options_.clock->steady_now() >= deadline(); }

  // libcurl's handle (CURL*), ready to run. The time budget starts with the first hop.
  Result<void*> start();
  // The result after libcurl's code for the hop, or nothing if another hop follows.
  std::optional<Result<HttpResponse>> finish(int code);
  bool may_have_been_sent() const { return sent_; }

  // Called by libcurl.
  std::size_t take_header(std::string_view line);
  std::size_t take_body(std::string_view bytes);
  std::size_t give_body(std::span<char> into);
  // A socket for `address` (curl_sockaddr*), or -1.
  int open_socket(const void* address);
  // Before a request is sent on a connection; false stops it.
  bool about_to_send();

 private:
  Status sign();
  HandleUse use() const;
  void release();
  void set_options();
  void set_limits();
  void set_headers();
  void set_method();
  void set_credentials();
  Status follow(std::string_view location);
  Status check_port() const;
  Error failure(int code) const;
  SteadyTime deadline() const;
  std::chrono::milliseconds time_left() const;
  std::uint64_t most_bytes() const;
  int status() const;
  bool is_redirect() const;
  std::size_t refuse(Error error);

  const HttpRequest& request_;
  const HttpOptions& options_;
  HandlePool& handles_;
  SocketWatch& sockets_;
  const HttpBudgets& budgets_;
  std::string method_;
  std::unique_ptr<Handle> handle_;
  std::vector<Header> headers_;
  Credentials credentials_;
  std::optional<Url> url_;
  std::string origin_;      // that credentials are sent to
  bool at_origin_ = false;  // whether the next hop goes there
  std::optional<SteadyTime> started_;
  HttpResponse response_;
  std::size_t header_bytes_ = 0;
  std::uint64_t body_bytes_ = 0;   // received in this hop, decompressed
  std::uint64_t given_bytes_ = 0;  // of the request's body
  int hops_ = 0;
  bool all_permanent_ = true;
  bool done_ = false;             // this hop succeeded
  bool sending_ = false;          // this hop was sent, or is being sent
  bool sent_ = false;             // some hop was
  std::optional<Error> refusal_;  // why we stopped the hop ourselves
};

}  // namespace kin::net
