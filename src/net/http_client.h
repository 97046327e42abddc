// HTTP for fetching from strangers: within budgets, and only where one may connect.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/address.h"
#include "net/header_fields.h"
#include "net/url.h"

namespace kin::net {

struct Credentials {
  enum class Kind { kNone, kBasic, kBearer };
  Kind kind = Kind::kNone;
  std::string user = {};    // of kBasic
  std::string secret = {};  // the password or the token
};

// Those that an address brings along (https://user:password@host/); none if it brings none.
// Thread-safe.
Credentials credentials_in(const Url& url);

struct HttpBody {
  std::string type;  // its content type
  std::string bytes;
};

struct HttpRequest {
  std::string url;  // user and password in it serve as basic credentials if there are no others
  std::vector<Header> headers = {};
  // Sent to the origin of `url` only: a redirect elsewhere goes on without them.
  Credentials credentials = {};
  // Less than the client's budget of bytes, for one request; 0 for the client's own.
  std::uint64_t most_bytes = 0;
  // Of post(). What was sent there is not sent on: a redirect is an answer like any other.
  std::optional<HttpBody> body = {};
};

struct HttpResponse {
  int status = 0;
  std::string url;               // that answered, after redirects
  std::vector<Header> headers;   // of the last answer
  std::string body;              // decompressed
  std::uint64_t wire_bytes = 0;  // of the body as it was sent
  // Where the resource moved for good, if every redirect on the way from the start to there was a
  // permanent one (301, 308).
  std::optional<std::string> moved_to;

  // The value of a field; empty if there is none.
  std::string_view header(std::string_view name) const {
    return find_header(headers, name).value_or("");
  }
};

struct HttpBudgets {
  std::uint64_t bytes = std::uint64_t{16} << 20;  // of a body, decompressed
  std::uint64_t ratio = 200;                      // decompressed to sent; counts above 1 MiB
  int redirects = 5;
  std::chrono::milliseconds connect = std::chrono::seconds(10);
  std::chrono::milliseconds total = std::chrono::seconds(30);  // with redirects
  // Slower than so many bytes a second over the time is given up. Whole seconds.
  std::uint32_t slowest = 64;
  std::chrono::seconds slowest_for{10};
};

struct HttpOptions {
  std::string user_agent = "Kindred";
  AddressPolicy addresses = {};
  HttpBudgets budgets = {};
  int transfers = 16;          // at once, in one call
  int transfers_per_host = 2;  // at once, in all calls together
  std::string ca_file = {};    // certificates to trust instead of the system's
};

// Thread-safe.
//
// Only http and https, over connections opened to addresses that the policy permits: the address
// is checked as the socket is opened, for every hop, so that no name can hide it. No proxy, cookie,
// credential or other setting is taken from the environment. Redirects are followed by 301, 302,
// 303, 307 and 308, never from https to http with credentials. Answers of any status are answers;
// an error is the want of one, in plain words: kUnavailable if another try may help,
// kResourceExhausted for a budget, kFailedPrecondition for what is refused on principle,
// kInvalidArgument for an address that is none.
class HttpClient {
 public:
  explicit HttpClient(HttpOptions options);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  Result<HttpResponse> get(const HttpRequest& request);
  // The same with POST, for a request that has a body.
  Result<HttpResponse> post(const HttpRequest& request);

  // Several at once. `done` is called on this thread with each request's number and result, in the
  // order in which they end; returns after the last.
  using OnResult = std::function<void(std::size_t, Result<HttpResponse>)>;
  void get_all(std::span<const HttpRequest> requests, const OnResult& done);

  // Ends every call, running or to come, soon: what has no answer yet gets kCancelled.
  void cancel();

  const HttpOptions& options() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kin::net
