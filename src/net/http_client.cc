#include "net/http_client.h"

#include <curl/curl.h>
#include <algorithm>

#include <atomic>
#include <list>
#include <map>
#include <mutex>
#include <unordered_map>

#include "net/http/transfer.h"

namespace kin::net {
namespace {

// libcurl is set up once for the process and never taken down: other threads may be using it.
void set_up_libcurl() {
  static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
  KIN_CHECK(code == CURLE_OK, "libcurl could not be set up");
}

// How many transfers each host has, over all calls. Thread-safe.
class HostSlots {
 public:
  explicit HostSlots(int per_host) : per_host_(per_host) {}

  bool take(const std::string& host) {
    const std::lock_guard lock(mutex_);
    int& used = used_[host];
    if (used >= per_host_) return false;
    ++used;
    return true;
  }
  void give_back(const std::string& host) {
    const std::lock_guard lock(mutex_);
    const auto found = used_.find(host);
    if (--found->second == 0) used_.erase(found);
  }

 private:
  std::mutex mutex_;
  const int per_host_;
  std::unordered_map<std::string, int> used_;
};

struct Job {
  std::size_t number;
  std::unique_ptr<Transfer> transfer;
  std::string host;  // whose slot it holds while it runs
};

// One call of get_all(). One thread only.
class Round {
 public:
  struct Shared {
    const HttpOptions& options;
    HostSlots& slots;
    const std::atomic<bool>& cancelled;
  };

  Round(Shared shared, const HttpClient::OnResult& done)
      : options_(shared.options),
        slots_(shared.slots),
        cancelled_(shared.cancelled),
        done_(done),
        multi_(curl_multi_init()) {
    KIN_CHECK(multi_ != nullptr, "libcurl has no memory");
  }
  ~Round() { curl_multi_cleanup(multi_); }
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;

  void add(std::size_t number, const HttpRequest& request) {
    auto transfer = std::make_unique<Transfer>(request, options_);
    const Status prepared = transfer->prepare();
    if (prepared.ok())
      waiting_.push_back({number, std::move(transfer), ""});
    else
      done_(number, prepared.error());
  }

  void run() {
    while (!waiting_.empty() || !running_.empty()) {
      if (cancelled_) return cancel();
      start_waiting();
      int active = 0;
      curl_multi_perform(multi_, &active);
      const bool progress = take_finished();
      // Neither cancel() nor another call that gives back a host's slot can wake us.
      constexpr int kLookAgainMs = 50;
      if (!progress) curl_multi_poll(multi_, nullptr, 0, kLookAgainMs, nullptr);
    }
  }

 private:
  void cancel() {
    const Error error{Code::kCancelled, "stopped before the answer came"};
    for (auto& [easy, job] : running_) {
      curl_multi_remove_handle(multi_, easy);
      slots_.give_back(job.host);
      done_(job.number, error);
    }
    for (const Job& job : waiting_) done_(job.number, error);
    running_.clear();
    waiting_.clear();
  }

  void start_waiting() {
    for (auto job = waiting_.begin(); job != waiting_.end();) {
      if (running_.size() >= static_cast<std::size_t>(options_.transfers)) return;
      if (!slots_.take(job->transfer->host())) {
        ++job;
        continue;
      }
      job->host = job->transfer->host();
      void* const easy = job->transfer->start();
      running_.emplace(easy, std::move(*job));
      curl_multi_add_handle(multi_, easy);
      job = waiting_.erase(job);
    }
  }

  bool take_finished() {
    bool any = false;
    int left = 0;
    while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      any = true;
      finish(message->easy_handle, message->data.result);
    }
    return any;
  }

  void finish(CURL* easy, CURLcode code) {
    const auto found = running_.find(easy);
    Job job = std::move(found->second);
    running_.erase(found);
    curl_multi_remove_handle(multi_, easy);
    slots_.give_back(job.host);
    auto result = job.transfer->finish(code);
    if (result)
      done_(job.number, std::move(*result));
    else
      waiting_.push_front(std::move(job));
  }

  const HttpOptions& options_;
  HostSlots& slots_;
  const std::atomic<bool>& cancelled_;
  const HttpClient::OnResult& done_;
  CURLM* multi_;
  std::list<Job> waiting_;
  std::map<void*, Job> running_;
};

}  // namespace

struct HttpClient::State {
  explicit State(HttpOptions given)
      : options(std::move(given)), slots(options.transfers_per_host) {}
  HttpOptions options;
  HostSlots slots;
  std::atomic<bool> cancelled = false;
};

HttpClient::HttpClient(HttpOptions options) : state_(std::make_unique<State>(std::move(options))) {
  KIN_CHECK(state_->options.transfers > 0 && state_->options.transfers_per_host > 0,
            "a client needs room for one transfer");
  set_up_libcurl();
}

HttpClient::~HttpClient() = default;

void HttpClient::cancel() {
  state_->cancelled = true;
}

const HttpOptions& HttpClient::options() const {
  return state_->options;
}

Result<HttpResponse> HttpClient::post(const HttpRequest& request) {
  KIN_CHECK(request.body.has_value(), "what is posted has a body");
  return get(request);
}

Result<HttpResponse> HttpClient::get(const HttpRequest& request) {
  std::optional<Result<HttpResponse>> result;
  get_all(std::span(&request, 1),
          [&](std::size_t, Result<HttpResponse> response) { result = std::move(response); });
  return std::move(*result);
}

void HttpClient::get_all(std::span<const HttpRequest> requests, const OnResult& done) {
  Round round({state_->options, state_->slots, state_->cancelled}, done);
  for (std::size_t i = 0; i < requests.size(); ++i) round.add(i, requests[i]);
  round.run();
}

Credentials credentials_in(const Url& url) {
  if (url.user().empty()) return {};
  const std::size_t colon = std::min(url.user().find(':'), url.user().size());
  return {.kind = Credentials::Kind::kBasic,
          .user = url.user().substr(0, colon),
          .secret = url.user().substr(std::min(colon + 1, url.user().size()))};
}

}  // namespace kin::net
