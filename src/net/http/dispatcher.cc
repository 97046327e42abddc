#include "net/http/dispatcher.h"

#include <curl/curl.h>

#include <algorithm>

namespace kin::net {
namespace {

// libcurl is set up once for the process and never taken down: other threads may be using it.
void set_up_libcurl() {
  static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
  KIN_CHECK(code == CURLE_OK, "libcurl could not be set up");
}

}  // namespace

Dispatcher::Dispatcher(const HttpOptions& options) : options_(options) {
  KIN_CHECK(options.transfers > 0 && options.transfers_per_host > 0,
            "a client needs room for one transfer");
  set_up_libcurl();
  multi_ = curl_multi_init();
  share_ = curl_share_init();
  KIN_CHECK(multi_ != nullptr && share_ != nullptr, "libcurl has no memory");
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(options.idle_connections));
  // A multi handle shares connections between its transfers, but not their TLS sessions. One thread
  // at a time uses the share, so it needs no locks.
  curl_share_setopt(share_, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
}

Dispatcher::~Dispatcher() {
  // libcurl wants its handles removed before the multi handle is freed.
  for (auto& [easy, job] : running_) curl_multi_remove_handle(multi_, easy);
  running_.clear();
  curl_multi_cleanup(multi_);
  curl_share_cleanup(share_);
}

void Dispatcher::add(Job job) {
  job.transfer = std::make_unique<Transfer>(*job.request, options_);
  const Status prepared = job.transfer->prepare();
  if (!prepared.ok()) return end(job, prepared.error());
  waiting_.push_back(std::move(job));
}

void Dispatcher::wake() {
  curl_multi_wakeup(multi_);
}

void Dispatcher::end(const Job& job, Result<HttpResponse> response) {
  finished_.push_back({job.id, {std::move(response), job.transfer->may_have_been_sent()}});
}

template <typename Chosen>
void Dispatcher::cancel_if(Chosen chosen) {
  const Error error{Code::kCancelled, "cancelled before the answer came"};
  for (auto at = running_.begin(); at != running_.end();) {
    const auto next = std::next(at);
    if (chosen(at->second)) {
      release(at->first, at->second);
      end(at->second, error);
      running_.erase(at);
    }
    at = next;
  }
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    const bool ends = chosen(*at);
    if (ends) end(*at, error);
    at = ends ? waiting_.erase(at) : std::next(at);
  }
}

void Dispatcher::cancel(HttpRequestId id) {
  cancel_if([&](const Job& job) { return job.id == id; });
}

void Dispatcher::cancel_all() {
  cancel_if([](const Job&) { return true; });
}

std::vector<FinishedJob> Dispatcher::run(std::chrono::milliseconds most_wait) {
  start_waiting();
  int active = 0;
  curl_multi_perform(multi_, &active);
  // After a hop another one may be waiting, and libcurl would not wake up for it.
  if (!reap() && finished_.empty()) {
    curl_multi_poll(multi_, nullptr, 0, static_cast<int>(wait_limit(most_wait).count()), nullptr);
    curl_multi_perform(multi_, &active);
    reap();
  }
  return std::exchange(finished_, {});
}

std::chrono::milliseconds Dispatcher::wait_limit(std::chrono::milliseconds most_wait) const {
  // libcurl knows when its transfers need attention, but not the deadlines of queued requests.
  std::chrono::milliseconds limit =
      std::min<std::chrono::milliseconds>(most_wait, std::chrono::hours(1));
  for (const Job& job : waiting_) {
    const auto deadline = job.transfer->queue_deadline();
    if (!deadline) continue;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(*deadline - std::chrono::steady_clock::now());
    limit = std::min(limit, left);
  }
  return std::max(limit, std::chrono::milliseconds(0));
}

void Dispatcher::start_waiting() {
  const SteadyTime now = std::chrono::steady_clock::now();
  for (auto job = waiting_.begin(); job != waiting_.end();) {
    const auto deadline = job->transfer->queue_deadline();
    if (deadline && *deadline <= now) {
      end(*job, job->transfer->too_late());
      job = waiting_.erase(job);
      continue;
    }
    job = start(*job) ? waiting_.erase(job) : std::next(job);
  }
}

bool Dispatcher::start(Job& job) {
  if (running_.size() >= static_cast<std::size_t>(options_.transfers)) return false;
  // Kept, because a redirect may lead to another host and this one must be counted down.
  job.host = job.transfer->host();
  const auto count = per_host_.find(job.host);
  if (count != per_host_.end() && count->second >= options_.transfers_per_host) return false;
  const Result<void*> easy = job.transfer->start(share_);
  if (!easy) {
    end(job, easy.error());
    return true;
  }
  ++per_host_[job.host];
  curl_multi_add_handle(multi_, *easy);
  running_.emplace(*easy, std::move(job));
  return true;
}

bool Dispatcher::reap() {
  bool any = false;
  int left = 0;
  while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    finish(message->easy_handle, message->data.result);
    any = true;
  }
  return any;
}

void Dispatcher::release(void* easy, const Job& job) {
  curl_multi_remove_handle(multi_, easy);
  const auto count = per_host_.find(job.host);
  if (--count->second == 0) per_host_.erase(count);
}

void Dispatcher::finish(void* easy, int code) {
  const auto found = running_.find(easy);
  Job job = std::move(found->second);
  running_.erase(found);
  release(easy, job);
  auto result = job.transfer->finish(code);
  if (result)
    end(job, std::move(*result));
  else
    // A redirect goes on before requests that have not started, or its time would run out in the
    // queue.
    waiting_.push_front(std::move(job));
}

}  // namespace kin::net
