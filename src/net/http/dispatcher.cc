#include "net/http/dispatcher.h"

#include <curl/curl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace kin::net {
namespace {

// libcurl is set up once for the process and never taken down: other threads may be using it.
void set_up_libcurl() {
  static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
  KIN_CHECK(code == CURLE_OK, "libcurl could not be set up");
}

// Sockets that are ready and are handled before the next look at the clock.
constexpr int kEventsAtOnce = 64;

std::uint32_t epoll_events(int what) {
  std::uint32_t events = 0;
  if (what == CURL_POLL_IN || what == CURL_POLL_INOUT) events |= EPOLLIN;
  if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT) events |= EPOLLOUT;
  return events;
}

// 0 for an error: libcurl examines the socket itself then.
int curl_events(std::uint32_t events) {
  int what = 0;
  if ((events & EPOLLIN) != 0) what |= CURL_CSELECT_IN;
  if ((events & EPOLLOUT) != 0) what |= CURL_CSELECT_OUT;
  return what;
}

bool control(int events, int operation, int descriptor, std::uint32_t wanted) {
  epoll_event event{};
  event.events = wanted;
  event.data.fd = descriptor;
  return ::epoll_ctl(events, operation, descriptor, &event) == 0;
}

}  // namespace

Dispatcher::Dispatcher(const HttpOptions& options) : options_(options) {
  KIN_CHECK(options.transfers > 0 && options.transfers_per_host > 0,
            "a client needs room for one transfer");
  set_up_libcurl();
  events_ = ::epoll_create1(EPOLL_CLOEXEC);
  woken_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  KIN_CHECK(events_ >= 0 && woken_ >= 0, "no descriptor is left for a client");
  KIN_CHECK(control(events_, EPOLL_CTL_ADD, woken_, EPOLLIN), "a client cannot be woken up");
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
}

Dispatcher::~Dispatcher() {
  // libcurl wants its handles removed before the multi handle is freed.
  for (auto& [easy, job] : running_) curl_multi_remove_handle(multi_, easy);
  running_.clear();
  waiting_.clear();
  // The share is freed after the handles that use it.
  handles_.clear();
  curl_multi_cleanup(multi_);
  curl_share_cleanup(share_);
  ::close(woken_);
  ::close(events_);
}

int Dispatcher::on_socket(void*, int socket, int what, void* self, void* watched) {
  auto& dispatcher = *static_cast<Dispatcher*>(self);
  if (what == CURL_POLL_REMOVE) {
    // A socket that is closed already is not watched any more, so a failure does not matter.
    control(dispatcher.events_, EPOLL_CTL_DEL, socket, 0);
    return 0;
  }
  const std::uint32_t wanted = epoll_events(what);
  const bool changed =
      watched != nullptr && control(dispatcher.events_, EPOLL_CTL_MOD, socket, wanted);
  if (changed) return 0;
  // -1 fails the transfer.
  if (!control(dispatcher.events_, EPOLL_CTL_ADD, socket, wanted)) return -1;
  // Any value but null marks the socket as watched.
  curl_multi_assign(dispatcher.multi_, socket, self);
  return 0;
}

int Dispatcher::on_timer(void*, long milliseconds, void* self) {
  auto& timer = static_cast<Dispatcher*>(self)->timer_;
  timer.reset();
  if (milliseconds >= 0)
    timer = system_clock().steady_now() + std::chrono::milliseconds(milliseconds);
  return 0;
}

void Dispatcher::add(Job job) {
  job.transfer = std::make_unique<Transfer>(*job.request, options_);
  const Status prepared = job.transfer->prepare();
  if (!prepared.ok()) return end(job, prepared.error());
  waiting_.push_back(std::move(job));
}

void Dispatcher::wake() {
  const std::uint64_t one = 1;
  // It fails only if the counter is full, and then the next run() does not wait either.
  [[maybe_unused]] const auto written = ::write(woken_, &one, sizeof(one));
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
  std::array<epoll_event, kEventsAtOnce> ready;
  const int count =
      ::epoll_wait(events_, ready.data(), kEventsAtOnce, static_cast<int>(most_wait.count()));
  int active = 0;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = ready[static_cast<std::size_t>(i)];
    if (event.data.fd == woken_) {
      std::uint64_t number = 0;
      [[maybe_unused]] const auto emptied = ::read(woken_, &number, sizeof(number));
    } else {
      // A socket that an earlier one of this loop has closed is unknown to libcurl and ignored.
      curl_multi_socket_action(multi_, event.data.fd, curl_events(event.events), &active);
    }
  }
  run_timers();
}

std::chrono::milliseconds Dispatcher::wait_limit(std::chrono::milliseconds most_wait) const {
  // libcurl knows when its transfers need attention, but not the deadlines of queued requests.
  std::chrono::milliseconds limit =
      std::min<std::chrono::milliseconds>(most_wait, std::chrono::hours(1));
  if (options_.clock != &system_clock()) limit = std::min(limit, kLookAtClock);
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
    const auto deadline = job->transfer->queue_deadline();
    if (deadline && *deadline <= now) {
      end(*job, job->transfer->too_late());
      job = waiting_.erase(job);
      continue;
    }
    job = start(*job) ? waiting_.erase(job) : std::next(job);
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
  if (running_.size() >= static_cast<std::size_t>(options_.transfers)) return false;
  // Kept, because a redirect may lead to another host and this one must be counted down.
  job.host = job.transfer->host();
  const auto count = per_host_.find(job.host);
  if (count != per_host_.end() && count->second >= options_.transfers_per_host) return false;
  const Result<void*> easy = job.transfer->start(share_, handles_);
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
