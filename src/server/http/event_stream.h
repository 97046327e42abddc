// Events for whoever listens over HTTP (server-sent events).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace kin::server {

// One who listens. What is for them waits here until they take it.
class EventClient;

struct EventOptions {
  // Bytes that may wait for one client. One that has more is too slow and is dropped; when it comes
  // back it is told that it missed something.
  std::size_t most_pending = std::size_t{256} << 10;
  // The id before the first event. Ids of a later process must be higher, or clients of the earlier
  // one would believe that they missed nothing: a clock's microseconds will do.
  std::uint64_t last_id = 0;
};

// Gives every event to all its clients. Each event has an id, one higher than the last.
// Thread-safe.
class EventStream {
 public:
  explicit EventStream(EventOptions options);
  ~EventStream();

  // `data` has no line breaks.
  void publish(std::string_view event, std::string_view data);

  // A client that hears what is published from now on. It begins with the present id, and with a
  // "reset" event if `last_event_id` says that it was here before and missed something.
  // `wake` is called on any thread, and must not block, when there is something to take again.
  std::shared_ptr<EventClient> join(std::string_view last_event_id, std::function<void()> wake);

  std::size_t clients() const;
  // Clients that were dropped for being slow.
  std::uint64_t dropped() const;

 private:
  friend class EventClient;
  struct State;
  std::shared_ptr<State> state_;
};

// Leaves when it is destroyed. Thread-safe.
class EventClient {
 public:
  EventClient(std::shared_ptr<EventStream::State> stream, std::function<void()> wake);
  ~EventClient();
  // Everything that waits. Empty if nothing does; `wake` is called when that changes.
  std::string take();
  // Was it too slow? Then it gets nothing any more: hang up.
  bool dropped() const;

 private:
  friend class EventStream;
  friend struct EventStream::State;
  std::shared_ptr<EventStream::State> stream_;
  std::function<void()> wake_;
  // Guarded by the stream's lock.
  std::vector<std::shared_ptr<const std::string>> pending_;
  std::size_t pending_bytes_ = 0;
  bool dropped_ = false;
};

}  // namespace kin::server
