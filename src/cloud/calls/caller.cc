#include "cloud/calls/caller.h"

#include <algorithm>

#include "base/ascii.h"
#include "cloud/signing/digest.h"

namespace kin::cloud {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

net::HttpOptions http_options(const CloudOptions& options) {
  return {.user_agent = "Kindred",
          // Endpoints come from the operator's configuration, and private ones are usual.
          .addresses = {.allow_all = true},
          .budgets = {.bytes = std::uint64_t{1} << 40, .redirects = 0, .total = options.one_try},
          .transfers = options.in_flight,
          .transfers_per_host = options.in_flight,
          .idle_connections = options.in_flight,
          .ca_file = options.ca_file};
}

// "host" or "host:port", as libcurl writes it.
std::string host_of(const net::Url& url) {
  return url.origin().substr(url.scheme().size() + 3);
}

// The wait that a server requests; nothing if it requests none.
std::optional<nanoseconds> retry_after(const net::HttpResponse& response) {
  const auto seconds = parse_number<std::uint32_t>(response.header("retry-after"));
  if (!seconds) return std::nullopt;
  return std::chrono::seconds(*seconds);
}

}  // namespace

std::optional<Error> unfinished(Verdict verdict, const std::string& text) {
  switch (verdict) {
    case Verdict::kThrottled: return Error{Code::kResourceExhausted, text};
    case Verdict::kRetry: return Error{Code::kUnavailable, text};
    case Verdict::kSkewed:
      return Error{Code::kFailedPrecondition, text + " (the machine's clock is wrong)"};
    case Verdict::kDone:
    case Verdict::kFailed: return std::nullopt;
  }
  KIN_UNREACHABLE();
}

Caller::Caller(CloudOptions options, Service service, Clock& clock, std::uint64_t seed)
    : options_(std::move(options)),
      service_(std::move(service)),
      clock_(clock),
      credentials_(options_.credentials, clock),
      signer_({.region = options_.region, .service = service_.name}),
      budget_(options_.retry.budget),
      random_(seed),
      meter_(options_.meter ? options_.meter : std::make_shared<CallMeter>()),
      http_(http_options(options_)) {}

std::uint64_t Caller::random_number() {
  const std::lock_guard lock(random_mutex_);
  return random_.next();
}

nanoseconds Caller::jitter(int tries) {
  const std::lock_guard lock(random_mutex_);
  return full_jitter(options_.retry, tries, random_);
}

Result<Answer> Caller::call(Call call) {
  std::optional<Result<Answer>> answer;
  CallBatch batch(*this);
  batch.add(std::move(call), [&](Result<Answer> given) { answer.emplace(std::move(given)); });
  batch.run();
  return std::move(*answer);
}

Status Caller::sign(const net::OutgoingRequest& request, std::string_view payload_hash,
                    const AwsCredentials& credentials) {
  const std::string host = host_of(request.url);
  const SignedParts parts{
      .method = request.method,
      .host = host,
      .path = request.url.path(),
      .query = request.url.query() ? std::string_view(*request.url.query()) : std::string_view(),
      .payload_hash = payload_hash,
      .headers = request.headers};
  auto added = signer_.sign(parts, credentials, clock_.now() + milliseconds(skew_ms_.load()));
  std::ranges::move(added, std::back_inserter(request.headers));
  return Done{};
}

void Caller::learn_time(const net::HttpResponse& response) {
  if (const auto date = net::parse_http_date(response.header("date")))
    skew_ms_ = (WallTime(*date) - clock_.now()).count();
}

CallBatch::CallBatch(Caller& caller)
    : caller_(caller), http_(caller.http_), counted_until_(caller.clock_.steady_now()) {}

void CallBatch::count_time() {
  using std::chrono::microseconds;
  const auto passed =
      std::chrono::floor<microseconds>(caller_.clock_.steady_now() - counted_until_);
  counted_until_ += passed;
  const auto most = static_cast<std::size_t>(caller_.options_.in_flight);
  const auto in_flight = static_cast<std::int64_t>(std::min(sent_.size(), most));
  caller_.meter_->in_flight_microseconds += static_cast<std::uint64_t>(passed.count() * in_flight);
}

void CallBatch::add(Call call, Done done, nanoseconds delay) {
  const SteadyTime now = caller_.clock_.steady_now();
  auto pending = std::make_unique<Pending>();
  pending->judge = std::move(call.judge);
  pending->done = std::move(done);
  pending->payload_hash = to_hex(sha256(call.body ? std::string_view(*call.body) : ""));
  pending->deadline = now + caller_.options_.retry.deadline;
  net::HttpRequest& request = pending->request;
  request.url = std::move(call.url);
  request.method = std::move(call.method);
  request.headers = std::move(call.headers);
  request.decompress = false;
  request.most_bytes = call.most_bytes;
  if (call.body) request.body = net::HttpBody{.type = "", .bytes = std::move(*call.body)};
  request.signer = [&caller = caller_, &self = *pending](const net::OutgoingRequest& outgoing) {
    return caller.sign(outgoing, self.payload_hash, self.credentials);
  };
  delayed_.push_back({now + delay, std::move(pending)});
}

SteadyTime CallBatch::first_due() const {
  return std::ranges::min_element(delayed_, {}, &Delayed::at)->at;
}

void CallBatch::start_due() {
  if (delayed_.empty()) return;
  const SteadyTime now = caller_.clock_.steady_now();
  // Taken out first: start() may finish a call at once, and its `done` may add more.
  const auto due = std::ranges::stable_partition(
      delayed_, [&](const Delayed& delayed) { return delayed.at > now; });
  std::vector<Delayed> starting(std::make_move_iterator(due.begin()),
                                std::make_move_iterator(due.end()));
  delayed_.erase(due.begin(), due.end());
  for (Delayed& delayed : starting) start(std::move(delayed.pending));
}

bool CallBatch::has_room() const {
  // As many wait as are in flight, so that the next one is ready when one ends.
  const auto in_flight = static_cast<std::size_t>(caller_.options_.in_flight);
  return http_.pending() + delayed_.size() < 2 * in_flight;
}

void CallBatch::run(const More& more) {
  bool ended = !more;
  while (true) {
    while (!ended && has_room()) ended = !more();
    if (delayed_.empty() && http_.pending() == 0) return;
    start_due();
    std::optional<nanoseconds> left;
    if (!delayed_.empty()) left = first_due() - caller_.clock_.steady_now();
    if (http_.pending() == 0) {
      if (left) caller_.clock_.sleep_for(std::max(*left, nanoseconds(0)));
      continue;
    }
    std::optional<milliseconds> timeout;
    if (left) timeout = std::max(std::chrono::ceil<milliseconds>(*left), milliseconds(0));
    auto finished = http_.next(timeout);
    if (!finished) continue;
    count_time();
    auto pending = sent_.extract(finished->id);
    finish(std::move(pending.mapped()), std::move(finished->outcome));
  }
}

void CallBatch::start(PendingCall pending) {
  // Every try gets fresh credentials and a new signature: both expire.
  auto credentials = caller_.credentials_.get();
  if (!credentials) return pending->done(credentials.error());
  pending->credentials = std::move(*credentials);
  ++pending->tries;
  ++caller_.meter_->requests;
  count_time();
  const auto id = http_.add_borrowed(pending->request);
  sent_.emplace(id, std::move(pending));
}

void CallBatch::finish(PendingCall pending, net::HttpOutcome outcome) {
  Result<Answer> answer = Error{Code::kInternal, "no answer"};
  if (outcome.response) {
    const auto& judge = pending->judge ? pending->judge : caller_.service_.judge;
    const Verdict verdict = judge(*outcome.response);
    if (verdict == Verdict::kThrottled) ++caller_.meter_->throttles;
    if (verdict == Verdict::kSkewed) caller_.learn_time(*outcome.response);
    // Only a success pays a retry back.
    if (verdict == Verdict::kDone) caller_.budget_.give_back();
    // A server that failed may have done its work before.
    if (verdict == Verdict::kRetry) pending->ambiguous = true;
    answer = Answer{.response = std::move(*outcome.response),
                    .verdict = verdict,
                    .ambiguous = pending->ambiguous};
  } else {
    answer = outcome.response.error();
    // Without an answer it is unknown whether the service acted on the request.
    pending->ambiguous = pending->ambiguous || outcome.may_have_been_sent;
  }
  if (!try_again(pending, answer)) pending->done(std::move(answer));
}

bool CallBatch::try_again(PendingCall& pending, const Result<Answer>& answer) {
  const bool helps = answer ? answer->verdict == Verdict::kRetry ||
                                  answer->verdict == Verdict::kThrottled ||
                                  answer->verdict == Verdict::kSkewed
                            : answer.error().code == Code::kUnavailable;
  if (!helps || pending->tries >= caller_.options_.retry.tries) return false;
  // A retry with a corrected clock needs no wait.
  nanoseconds wait{0};
  if (!answer || answer->verdict != Verdict::kSkewed) wait = caller_.jitter(pending->tries);
  if (answer) {
    const nanoseconds longest = caller_.options_.retry.longest;
    wait = std::max(wait, std::min(retry_after(answer->response).value_or(wait), longest));
  }
  const SteadyTime at = caller_.clock_.steady_now() + wait;
  // A wait beyond the deadline would only delay the error.
  if (at >= pending->deadline || !caller_.budget_.take()) return false;
  ++caller_.meter_->retries;
  delayed_.push_back({at, std::move(pending)});
  return true;
}

}  // namespace kin::cloud
