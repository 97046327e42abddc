// One request on its way through its redirects, one hop at a time.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "net/http_client.h"
#include "net/url.h"

namespace kin::net {

// One thread only. start() makes libcurl's handle for the next hop, to be run by a multi handle;
// finish() takes what libcurl said of it.
class Transfer {
 public:
  using Clock = std::chrono::steady_clock;

  Transfer(const HttpRequest& request, const HttpOptions& options);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // An error if the request's address is none, or is refused.
  Status prepare();
  // The host of the next hop.
  const std::string& host() const { return url_->host(); }

  // libcurl's handle (CURL*), ready to run. The clock starts with the first.
  void* start();
  // The result after libcurl's code for the hop, or nothing if another hop follows.
  std::optional<Result<HttpResponse>> finish(int code);

  // Called by libcurl.
  std::size_t take_header(std::string_view line);
  std::size_t take_body(std::string_view bytes);
  // A socket for `address` (curl_sockaddr*), or -1.
  int open_socket(const void* address);

 private:
  void set_options();
  void set_headers();
  void set_body(const HttpBody& body);
  void set_credentials();
  Status follow(std::string_view location);
  Status check_address() const;
  Error failure(int code) const;
  std::chrono::milliseconds time_left() const;
  std::uint64_t most_bytes() const;
  bool is_redirect() const;

  struct Handle;

  const HttpRequest& request_;
  const HttpOptions& options_;
  std::unique_ptr<Handle> handle_;
  Credentials credentials_;
  std::optional<Url> url_;
  std::string origin_;  // that credentials are for
  std::optional<Clock::time_point> deadline_;
  HttpResponse response_;
  std::size_t header_bytes_ = 0;
  int hops_ = 0;
  bool all_permanent_ = true;
  std::optional<Error> refusal_;  // why we stopped the hop ourselves
};

}  // namespace kin::net
