// An HTTP client: many requests at once over connections that are kept, within budgets, and only
// to addresses that the policy permits.
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

#include "base/clock.h"
#include "base/result.h"
#include "net/address.h"
#include "net/header_fields.h"
#include "net/url.h"

namespace kin::net {

struct Credentials {
  enum class Kind { kNone, kBasic, kBearer };
  Kind kind = Kind::kNone;
  std::string user = {};    // for kBasic
  std::string secret = {};  // the password or the token
};

// The credentials in a URL (https://user:password@host/); kNone if it has none. Thread-safe.
Credentials credentials_in(const Url& url);

// Writes the next bytes of a body into `into` and returns their number; 0 at the end. An error
// fails the request.
using BodySource = std::function<Result<std::size_t>(std::span<char> into)>;

// Takes the next bytes of a response's body. False stops the transfer.
using BodySink = std::function<bool(std::string_view bytes)>;

// The body of a request: `bytes`, or what `source` gives.
struct HttpBody {
  std::string type;        // content type; empty for none
  std::string bytes = {};  // ignored if there is a source
  BodySource source = {};
  // Length of the source. Exactly this many bytes are read from it, and it is an error if it ends
  // earlier. Without a length the body is sent in chunks.
  std::optional<std::uint64_t> length = {};
};

// A request that is about to be sent.
struct OutgoingRequest {
  const std::string& method;
  const Url& url;
  const HttpBody* body;          // null if there is none
  std::vector<Header>& headers;  // as they are sent, but for those that libcurl adds (Host,
                                 // User-Agent, Accept, Content-Length); may be changed
};

// Signs a request by adding headers to it. An error fails the request.
using RequestSigner = std::function<Status(const OutgoingRequest&)>;

struct HttpBudgets {
  std::uint64_t bytes = std::uint64_t{16} << 20;  // most bytes of a body, decompressed
  std::uint64_t ratio = 200;  // most decompressed bytes per byte received; checked above 1 MiB
  int redirects = 5;
  std::chrono::milliseconds connect = std::chrono::seconds(10);
  std::chrono::milliseconds total = std::chrono::seconds(30);  // from the start, with redirects
  // A transfer fails if it is slower than `slowest` bytes a second for `slowest_for`; 0: any speed.
  std::uint32_t slowest = 64;
  std::chrono::seconds slowest_for{10};
};

struct HttpRequest {
  std::string url;          // a user and password in it are used if `credentials` has none
  std::string method = {};  // empty: POST if there is a body, else GET
  std::vector<Header> headers = {};
  // Sent to the origin of `url` only: a redirect to another origin is followed without them.
  Credentials credentials = {};
  std::optional<HttpBody> body = {};
  // Called once, when the request leaves the queue and before it is sent.
  RequestSigner signer = {};
  // Gets the body of a 2xx response. Bodies of other responses are collected in the response.
  BodySink sink = {};
  bool decompress = true;                // ask for compression and undo it
  std::optional<HttpBudgets> budgets{};  // instead of the client's
  std::uint64_t most_bytes = 0;          // less than the budget of bytes; 0: the budget
  // The request fails at this time, even if it still waits in the queue.
  std::optional<SteadyTime> deadline = {};
};

struct HttpResponse {
  int status = 0;
  std::string url;               // that answered, after redirects
  std::vector<Header> headers;   // of the last response
  std::string body;              // empty if a sink took it
  std::uint64_t wire_bytes = 0;  // of the body, as received
  bool stopped = false;          // the sink stopped the transfer: the body is not complete
  // The new URL of the resource, if every redirect up to it was permanent (301, 308).
  std::optional<std::string> moved_to;

  // The value of a header field; empty if there is none.
  std::string_view header(std::string_view name) const {
    return find_header(headers, name).value_or("");
  }
};

struct HttpOutcome {
  Result<HttpResponse> response;
  // False if no byte of the request left this machine: then it is safe to send it again, whatever
  // it does.
  bool may_have_been_sent = false;
};

struct HttpOptions {
  std::string user_agent = "Kindred";
  AddressPolicy addresses = {};
  HttpBudgets budgets = {};
  int transfers = 16;          // most requests in flight; others wait in a queue
  int transfers_per_host = 2;  // most requests in flight to one host
  int idle_connections = 32;   // kept open for later requests
  std::string ca_file = {};    // certificates to trust instead of the system's
  // "http://host:port"; empty: none, whatever the environment says. With a proxy the address policy
  // is applied to the proxy and not to the servers behind it.
  std::string proxy = {};
  // Says when deadlines and budgets of time are over; must outlive the client. With another clock
  // than the machine's, calls that wait look at it every few milliseconds. How long a connection
  // may take, and how slow a transfer may be, libcurl measures by the machine's.
  const Clock* clock = &system_clock();
};

enum class HttpRequestId : std::uint64_t {};

// Thread-safe. Has no thread of its own: requests make progress while some thread is in poll() or
// in a blocking call. One thread at a time drives all requests; the others wait for it. Sources,
// sinks and signers are called on the driving thread; they must be quick, and may call submit() and
// cancel() only.
//
// Connections and TLS sessions are kept and used again. Nothing is ever sent twice: retries are the
// caller's. Only http and https are spoken. The policy is checked against the real address whenever
// a socket is opened, on every redirect too, so that no host name can hide it. No proxy, cookie,
// credential or other setting is taken from the environment.
//
// GET and HEAD requests without a signer follow redirects (301, 302, 303, 307, 308), but not from
// https to http with credentials. For other requests a redirect is a response like any other.
//
// A response of any status is a response. Errors: kUnavailable if another try may help,
// kResourceExhausted for a budget, kFailedPrecondition for what is refused on principle,
// kInvalidArgument for a request that is not valid, kCancelled after cancel().
class HttpClient {
 public:
  explicit HttpClient(HttpOptions options);
  // No call may be running. Requests that have not completed are dropped without a call of `done`.
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Queues a request. `done` is called once, by poll(); it may call the client.
  using Done = std::function<void(HttpOutcome)>;
  HttpRequestId submit(HttpRequest request, Done done);
  // Drives requests until one that was submitted completes or `timeout` passes; returns at once if
  // there are none. Calls `done` for each that has completed and returns their number.
  std::size_t poll(std::chrono::milliseconds timeout);
  // How many submitted requests have not been completed by poll().
  std::size_t submitted() const;
  // Ends a submitted request with kCancelled. No effect if it has completed.
  void cancel(HttpRequestId id);

  // Sends a request and waits for its outcome.
  HttpOutcome send(const HttpRequest& request);
  // The same, for requests that may be sent again anyway.
  Result<HttpResponse> get(const HttpRequest& request) { return send(request).response; }
  // Sends several requests. `done` is called on this thread with the number and result of each, in
  // the order in which they complete. Returns after the last.
  using OnResult = std::function<void(std::size_t, Result<HttpResponse>)>;
  void get_all(std::span<const HttpRequest> requests, const OnResult& done);

  // Ends all requests, now and in future, with kCancelled.
  void cancel();

  const HttpOptions& options() const;

 private:
  friend class HttpBatch;
  struct State;
  std::unique_ptr<State> state_;
};

struct Job;

// The requests of one thread: their outcomes come to it alone, while other threads use the same
// client. Requests may be added while others are on their way, so that a caller can follow an
// answer with the next page, or a failure with another try. One thread only. Borrows the client.
class HttpBatch {
 public:
  explicit HttpBatch(HttpClient& client);
  // Cancels the requests that have not completed, and waits for them.
  ~HttpBatch();
  HttpBatch(const HttpBatch&) = delete;
  HttpBatch& operator=(const HttpBatch&) = delete;

  HttpRequestId add(HttpRequest request);
  // The same without a copy: `request` must live until next() has given its outcome, or the batch
  // is gone.
  HttpRequestId add_borrowed(const HttpRequest& request);
  // Requests that were added and not given out by next().
  std::size_t pending() const { return pending_; }

  struct Finished {
    HttpRequestId id;
    HttpOutcome outcome;
  };
  // The next outcome, in the order in which requests complete. Drives requests until there is one,
  // for `timeout` at most. Nothing after that time, and nothing if no request is pending.
  std::optional<Finished> next(std::optional<std::chrono::milliseconds> timeout = {});

 private:
  HttpRequestId enqueue(Job job);

  struct Inbox;
  HttpClient& client_;
  std::unique_ptr<Inbox> inbox_;
  std::size_t pending_ = 0;
};

}  // namespace kin::net
