// Signed requests with retries, many at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "cloud/call_counts.h"
#include "cloud/calls/retry.h"
#include "cloud/cloud_options.h"
#include "cloud/credentials/chain.h"
#include "cloud/signing/sigv4.h"
#include "net/http_client.h"

namespace kin::cloud {

// The meaning of an answer for its request.
enum class Verdict {
  kDone,       // succeeded
  kFailed,     // would fail again
  kRetry,      // the service had a problem
  kThrottled,  // too many requests
  kSkewed,     // our clock is wrong; the answer's Date is right
};

// The error of an answer that further tries might change; nothing for other verdicts.
std::optional<Error> unfinished(Verdict verdict, const std::string& text);

// How requests of one service are signed and its answers interpreted.
struct Service {
  std::string name;  // in signatures: "s3"
  std::function<Verdict(const net::HttpResponse&)> judge;
};

struct Call {
  std::string method = "POST";
  std::string url;  // percent codes in place
  std::vector<net::Header> headers = {};
  std::optional<std::string> body = {};
  std::uint64_t most_bytes = std::uint64_t{16} << 20;  // of the answer's body
  // Interprets answers, instead of the service's function.
  std::function<Verdict(const net::HttpResponse&)> judge = {};
};

struct Answer {
  net::HttpResponse response;
  Verdict verdict = Verdict::kDone;
  // An earlier try got no answer and may have taken effect.
  bool ambiguous = false;
};

// Thread-safe. Borrows the clock.
class Caller {
 public:
  Caller(CloudOptions options, Service service, Clock& clock, std::uint64_t seed);

  // Sends `call` until its answer is final, its tries or its time are used up, or the client's
  // budget of retries is. Returns the last answer, whatever it says; an error if there was none.
  Result<Answer> call(Call call);

  CallCounts counts() const { return meter_->counts(); }
  const CloudOptions& options() const { return options_; }
  Clock& clock() { return clock_; }
  // A random number, for unique names.
  std::uint64_t random_number();
  // For services that report throttling inside an answer.
  void count_throttle() { ++meter_->throttles; }
  // The wait before another try after `tries` failures.
  std::chrono::nanoseconds jitter(int tries);

 private:
  friend class CallBatch;
  Status sign(const net::OutgoingRequest& request, std::string_view payload_hash,
              const AwsCredentials& credentials);
  void learn_time(const net::HttpResponse& response);

  const CloudOptions options_;
  const Service service_;
  Clock& clock_;
  CredentialChain credentials_;
  Signer signer_;
  RetryBudget budget_;
  std::mutex random_mutex_;
  Random random_;
  std::atomic<std::int64_t> skew_ms_{0};  // the service's clock less ours
  const std::shared_ptr<CallMeter> meter_;
  net::HttpClient http_;
};

// Calls of one thread that are in flight together. One thread only. Borrows the caller.
class CallBatch {
 public:
  using Done = std::function<void(Result<Answer>)>;

  explicit CallBatch(Caller& caller);

  // `done` is called by run(), and may add calls. With a `delay` the first try waits that long.
  void add(Call call, Done done, std::chrono::nanoseconds delay = {});
  // Returns when every call is done. `more` is called whenever there is room for another call; it
  // adds some and returns true, or returns false after the last. So any number of calls takes the
  // memory of few, and the time of each begins when it can be sent.
  using More = std::function<bool()>;
  void run(const More& more = {});

 private:
  struct Pending {
    net::HttpRequest request;  // the same for every try; its signer has a pointer to this struct
    std::function<Verdict(const net::HttpResponse&)> judge;
    Done done;
    std::string payload_hash;
    AwsCredentials credentials;  // of this try
    SteadyTime deadline;
    int tries = 0;
    bool ambiguous = false;
  };
  using PendingCall = std::unique_ptr<Pending>;
  struct Delayed {
    SteadyTime at;
    PendingCall pending;
  };

  bool has_room() const;
  void start(PendingCall pending);
  void start_due();
  void finish(PendingCall pending, net::HttpOutcome outcome);
  // False if there is no further try.
  bool try_again(PendingCall& pending, const Result<Answer>& answer);
  SteadyTime first_due() const;
  // Counts the time since the last call, in which as many requests were in flight as may be, or
  // all.
  void count_time();

  Caller& caller_;
  std::unordered_map<net::HttpRequestId, PendingCall> sent_;
  net::HttpBatch http_;  // has pointers to the requests of `sent_`
  std::vector<Delayed> delayed_;
  SteadyTime counted_until_;
};

}  // namespace kin::cloud
