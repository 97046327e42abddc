// Runs transfers: a queue, limits, and one set of kept connections.
#pragma once

#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "net/http/handle_pool.h"
#include "net/http/socket_watch.h"
#include "net/http/transfer.h"
#include "net/http_client.h"

namespace kin::net {

// A request that a dispatcher runs. `request` must outlive it unless it is owned.
struct Job {
  HttpRequestId id{};
  std::unique_ptr<const HttpRequest> owned = {};
  const HttpRequest* request = nullptr;
  std::unique_ptr<Transfer> transfer = {};
  std::string host = {};  // whose count it is in while it runs
};

struct FinishedJob {
  HttpRequestId id;
  HttpOutcome outcome;
};

// How often waiting calls look at a clock that is not the machine's.
inline constexpr std::chrono::milliseconds kLookAtClock{5};

// One thread at a time, except wake(). Borrows the options.
class Dispatcher {
 public:
  explicit Dispatcher(const HttpOptions& options);
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  void add(Job job);
  void cancel(HttpRequestId id);
  void cancel_all();

  // Starts and drives transfers. Returns when some have finished, `most_wait` has passed, or wake()
  // was called; may return earlier with nothing.
  std::vector<FinishedJob> run(std::chrono::milliseconds most_wait);

  // Ends the wait of the current or next run(). Thread-safe.
  void wake() { sockets_.wake(); }

 private:
  using Queue = std::list<Job>;

  // Most requests of a client have the URL of the one before.
  Result<Url> parsed(const std::string& url);
  bool is_full() const { return running_.size() >= static_cast<std::size_t>(options_.transfers); }
  void queue(Queue::iterator before, Job job);
  Queue::iterator unqueue(Queue::iterator job);
  void start_waiting();
  // True if the job no longer waits: it runs or has failed.
  bool start(Job& job);
  // Ends transfers whose time is over by a clock that libcurl does not see.
  void end_overdue();
  // True if some hop has ended.
  bool reap();
  void finish(void* easy, int code);
  void release(void* easy, const Job& job);
  void end(const Job& job, Result<HttpResponse> response);
  // Ends the jobs for which `chosen` is true with kCancelled.
  template <typename Chosen>
  void cancel_if(Chosen chosen);
  std::chrono::milliseconds wait_limit(std::chrono::milliseconds most_wait) const;
  // Lets libcurl start transfers, and end those whose time is over.
  void run_timers();
  // Lets libcurl act on sockets that are ready; waits for them, and for its timer.
  void run_sockets(std::chrono::milliseconds most_wait);

  // Called by libcurl.
  static int on_socket(void* easy, int socket, int what, void* self, void* watched);
  static int on_timer(void* multi, long milliseconds, void* self);

  const HttpOptions& options_;
  SocketWatch sockets_;
  // When libcurl wants to be called, by the machine's clock; nothing: not by time.
  std::optional<SteadyTime> timer_;
  void* multi_;  // CURLM*, with the connections
  void* share_;  // CURLSH*, with the TLS sessions
  std::optional<HandlePool> handles_;
  std::string last_url_;
  std::optional<Url> last_parsed_;
  Queue waiting_;
  std::size_t with_deadline_ = 0;  // of `waiting_`
  std::map<void*, Job> running_;   // by libcurl's handle
  std::unordered_map<std::string, int> per_host_;
  std::vector<FinishedJob> finished_;
};

}  // namespace kin::net
