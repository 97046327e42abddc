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
  // By events: curl_multi_perform() would examine every transfer whenever one of them can go on.
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &Dispatcher::on_socket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &Dispatcher::on_timer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  // A multi handle shares connections between its transfers, but not their TLS sessions. One thread
  // at a time uses the share, so it needs no locks.
  curl_share_setopt(share_, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
  handles_.emplace(options, sockets_, share_);
}

Dispatcher::~Dispatcher() {
  // libcurl wants its handles removed before the multi handle is freed.
  for (auto& [easy, job] : running_) curl_multi_remove_handle(multi_, easy);
  running_.clear();
  waiting_.clear();
  // The share is freed after the handles that use it.
  handles_.reset();
  curl_multi_cleanup(multi_);
  curl_share_cleanup(share_);
}

int Dispatcher::on_socket(void*, int socket, int what, void* self, void*) {
  // -1 fails the transfer.
  return static_cast<Dispatcher*>(self)->sockets_.watch(socket, what) ? 0 : -1;
}

int Dispatcher::on_timer(void*, long milliseconds, void* self) {
  auto& timer = static_cast<Dispatcher*>(self)->timer_;
  timer.reset();
  if (milliseconds >= 0)
    timer = system_clock().steady_now() + std::chrono::milliseconds(milliseconds);
  return 0;
}

Result<Url> Dispatcher::parsed(const std::string& url) {
  if (!last_parsed_ || url != last_url_) {
    KIN_TRY(last_parsed_, Url::parse(url));
    last_url_ = url;
  }
  return *last_parsed_;
}

void Dispatcher::add(Job job) {
  job.transfer = std::make_unique<Transfer>(*job.request, options_, *handles_, sockets_);
  const Status prepared = job.transfer->prepare(parsed(job.request->url));
  if (!prepared.ok()) return end(job, prepared.error());
  queue(waiting_.end(), std::move(job));
}

void Dispatcher::queue(Queue::iterator before, Job job) {
  with_deadline_ += job.request->deadline ? 1 : 0;
  waiting_.insert(before, std::move(job));
}

// Returns the job after it.
Dispatcher::Queue::iterator Dispatcher::unqueue(Queue::iterator job) {
  with_deadline_ -= job->request->deadline ? 1 : 0;
  return waiting_.erase(job);
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
    at = ends ? unqueue(at) : std::next(at);
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
  end_overdue();
  run_timers();
  // After a hop another one may be waiting, and libcurl would not wake up for it.
  const bool wait = !reap() && finished_.empty();
  run_sockets(wait ? wait_limit(most_wait) : std::chrono::milliseconds(0));
  reap();
  return std::exchange(finished_, {});
}

void Dispatcher::run_timers() {
  // libcurl sets the timer again while it works; one that is due again waits for the next round.
  if (!timer_ || *timer_ > system_clock().steady_now()) return;
  timer_.reset();
  int active = 0;
  curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &active);
}

void Dispatcher::run_sockets(std::chrono::milliseconds most_wait) {
  using std::chrono::milliseconds;
  if (timer_ && most_wait > milliseconds(0)) {
    const auto left = std::chrono::ceil<milliseconds>(*timer_ - system_clock().steady_now());
    most_wait = std::clamp(left, milliseconds(0), most_wait);
  }
  sockets_.wait(most_wait, [&](int socket, int what) {
    int active = 0;
    curl_multi_socket_action(multi_, socket, what, &active);
  });
  run_timers();
}

std::chrono::milliseconds Dispatcher::wait_limit(std::chrono::milliseconds most_wait) const {
  // libcurl knows when its transfers need attention, but not the deadlines of queued requests.
  std::chrono::milliseconds limit =
      std::min<std::chrono::milliseconds>(most_wait, std::chrono::hours(1));
  if (options_.clock != &system_clock()) limit = std::min(limit, kLookAtClock);
  if (with_deadline_ == 0) return std::max(limit, std::chrono::milliseconds(0));
  for (const Job& job : waiting_) {
    const auto deadline = job.transfer->queue_deadline();
    if (!deadline) continue;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(*deadline - options_.clock->steady_now());
    limit = std::min(limit, left);
  }
  return std::max(limit, std::chrono::milliseconds(0));
}

void Dispatcher::start_waiting() {
  const SteadyTime now = options_.clock->steady_now();
  for (auto job = waiting_.begin(); job != waiting_.end();) {
    // Without room, only deadlines are left to look at.
    if (is_full() && with_deadline_ == 0) return;
    const auto deadline = job->transfer->queue_deadline();
    if (deadline && *deadline <= now) {
      end(*job, job->transfer->too_late());
      job = unqueue(job);
      continue;
    }
    job = start(*job) ? unqueue(job) : std::next(job);
  }
}

void Dispatcher::end_overdue() {
  if (options_.clock == &system_clock()) return;  // libcurl does it, without a look at each
  std::vector<void*> overdue;
  for (const auto& [easy, job] : running_) {
    if (job.transfer->is_overdue()) overdue.push_back(easy);
  }
  for (void* easy : overdue) finish(easy, CURLE_OPERATION_TIMEDOUT);
}

bool Dispatcher::start(Job& job) {
  if (is_full()) return false;
  // Kept, because a redirect may lead to another host and this one must be counted down.
  job.host = job.transfer->host();
  const auto count = per_host_.find(job.host);
  if (count != per_host_.end() && count->second >= options_.transfers_per_host) return false;
  const Result<void*> easy = job.transfer->start();
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
    queue(waiting_.begin(), std::move(job));
}

}  // namespace kin::net
