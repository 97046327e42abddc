#include "net/http_client.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <unordered_map>

#include "net/http/dispatcher.h"

namespace kin::net {
namespace {

// Where the outcomes of some requests go: those of one blocking call, or those that poll() waits
// for.
using Inbox = std::deque<FinishedJob>;

}  // namespace

// At any time at most one thread drives the dispatcher: the first that needs an outcome. The others
// leave their requests in `incoming` and wait until the driver has their outcome or has left.
struct HttpClient::State {
  explicit State(HttpOptions given) : options(std::move(given)), dispatcher(options) {}

  // With a `done`, poll() calls it.
  HttpRequestId enqueue(Job job, Inbox& inbox, Done done = {}) {
    const std::lock_guard lock(mutex);
    const HttpRequestId id{++last_id};
    job.id = id;
    inboxes.emplace(id, &inbox);
    if (done) submitted.emplace(id, std::move(done));
    incoming.push_back(std::move(job));
    // The driver may wait in libcurl, and looks at `incoming` between its rounds only.
    if (driving) dispatcher.wake();
    return id;
  }

  // Takes the outcomes in `inbox`; waits for the first one, until `limit` at most.
  Inbox wait(Inbox& inbox, std::optional<SteadyTime> limit = {}) {
    std::unique_lock lock(mutex);
    for (bool late = false; inbox.empty() && !late;) {
      // Read before the round, so that a call without any time still makes one.
      late = limit && options.clock->steady_now() >= *limit;
      if (!driving)
        drive(lock, limit);
      else if (!limit)
        changed.wait(lock);
      else
        changed.wait_for(lock, time_until(*limit));
    }
    return std::exchange(inbox, {});
  }

  const HttpOptions options;
  std::mutex mutex;
  Inbox polled;
  std::unordered_map<HttpRequestId, Done> submitted;
  std::vector<HttpRequestId> cancels;
  bool cancelled = false;
  Dispatcher dispatcher;

 private:
  // At most the time after which the clock has to be looked at again.
  std::chrono::milliseconds time_until(SteadyTime limit) const {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(limit - options.clock->steady_now());
    return options.clock == &system_clock() ? left : std::min(left, kLookAtClock);
  }

  // One round. The lock is released while libcurl works.
  void drive(std::unique_lock<std::mutex>& lock, std::optional<SteadyTime> limit) {
    using std::chrono::milliseconds;
    driving = true;
    auto jobs = std::exchange(incoming, {});
    const auto ended = std::exchange(cancels, {});
    const bool all_end = cancelled;
    lock.unlock();
    for (Job& job : jobs) dispatcher.add(std::move(job));
    for (const HttpRequestId id : ended) dispatcher.cancel(id);
    if (all_end) dispatcher.cancel_all();
    const milliseconds most_wait = limit ? time_until(*limit) : milliseconds::max();
    auto finished = dispatcher.run(std::max(most_wait, milliseconds(0)));
    lock.lock();
    driving = false;
    for (FinishedJob& job : finished) {
      const auto inbox = inboxes.extract(job.id);
      inbox.mapped()->push_back(std::move(job));
    }
    changed.notify_all();
  }

  std::condition_variable changed;  // the driver has left, perhaps with outcomes
  bool driving = false;
  std::uint64_t last_id = 0;
  std::deque<Job> incoming;
  std::unordered_map<HttpRequestId, Inbox*> inboxes;
};

HttpClient::HttpClient(HttpOptions options) : state_(std::make_unique<State>(std::move(options))) {}

HttpClient::~HttpClient() = default;

const HttpOptions& HttpClient::options() const {
  return state_->options;
}

HttpRequestId HttpClient::submit(HttpRequest request, Done done) {
  Job job{.owned = std::make_unique<const HttpRequest>(std::move(request))};
  job.request = job.owned.get();
  return state_->enqueue(std::move(job), state_->polled, std::move(done));
}

std::size_t HttpClient::poll(std::chrono::milliseconds timeout) {
  if (submitted() == 0) return 0;
  Inbox finished = state_->wait(state_->polled, state_->options.clock->steady_now() + timeout);
  for (FinishedJob& job : finished) {
    std::unique_lock lock(state_->mutex);
    // `done` is called without the lock, because it may use the client.
    const auto entry = state_->submitted.extract(job.id);
    lock.unlock();
    entry.mapped()(std::move(job.outcome));
  }
  return finished.size();
}

std::size_t HttpClient::submitted() const {
  const std::lock_guard lock(state_->mutex);
  return state_->submitted.size();
}

void HttpClient::cancel(HttpRequestId id) {
  const std::lock_guard lock(state_->mutex);
  state_->cancels.push_back(id);
  state_->dispatcher.wake();
}

void HttpClient::cancel() {
  const std::lock_guard lock(state_->mutex);
  state_->cancelled = true;
  state_->dispatcher.wake();
}

HttpOutcome HttpClient::send(const HttpRequest& request) {
  Inbox inbox;
  state_->enqueue({.request = &request}, inbox);
  return std::move(state_->wait(inbox).front().outcome);
}

void HttpClient::get_all(std::span<const HttpRequest> requests, const OnResult& done) {
  Inbox inbox;
  std::unordered_map<HttpRequestId, std::size_t> numbers;
  for (std::size_t i = 0; i < requests.size(); ++i)
    numbers.emplace(state_->enqueue({.request = &requests[i]}, inbox), i);
  for (std::size_t left = requests.size(); left > 0;) {
    for (FinishedJob& job : state_->wait(inbox)) {
      done(numbers.at(job.id), std::move(job.outcome.response));
      --left;
    }
  }
}

struct HttpBatch::Inbox {
  net::Inbox waiting;            // filled by whichever thread drives
  net::Inbox taken;              // ours
  std::set<HttpRequestId> open;  // not completed yet
};

HttpBatch::HttpBatch(HttpClient& client) : client_(client), inbox_(std::make_unique<Inbox>()) {}

HttpBatch::~HttpBatch() {
  for (const HttpRequestId id : inbox_->open) client_.cancel(id);
  // The client holds a pointer to the inbox until the last of them has ended.
  while (next()) {
  }
}

HttpRequestId HttpBatch::add(HttpRequest request) {
  Job job{.owned = std::make_unique<const HttpRequest>(std::move(request))};
  job.request = job.owned.get();
  return enqueue(std::move(job));
}

HttpRequestId HttpBatch::add_borrowed(const HttpRequest& request) {
  return enqueue({.request = &request});
}

HttpRequestId HttpBatch::enqueue(Job job) {
  const HttpRequestId id = client_.state_->enqueue(std::move(job), inbox_->waiting);
  inbox_->open.insert(id);
  ++pending_;
  return id;
}

std::optional<HttpBatch::Finished> HttpBatch::next(
    std::optional<std::chrono::milliseconds> timeout) {
  if (pending_ == 0) return std::nullopt;
  if (inbox_->taken.empty()) {
    std::optional<SteadyTime> limit;
    if (timeout) limit = client_.state_->options.clock->steady_now() + *timeout;
    inbox_->taken = client_.state_->wait(inbox_->waiting, limit);
  }
  if (inbox_->taken.empty()) return std::nullopt;
  FinishedJob job = std::move(inbox_->taken.front());
  inbox_->taken.pop_front();
  inbox_->open.erase(job.id);
  --pending_;
  return Finished{job.id, std::move(job.outcome)};
}

Credentials credentials_in(const Url& url) {
  if (url.user().empty()) return {};
  const std::size_t colon = std::min(url.user().find(':'), url.user().size());
  return {.kind = Credentials::Kind::kBasic,
          .user = url.user().substr(0, colon),
          .secret = url.user().substr(std::min(colon + 1, url.user().size()))};
}

}  // namespace kin::net
