// Server-sent events: one stream, any number of clients.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace kin::server {

class EventClient;

struct EventOptions {
  // Bytes that may wait for one client. A client with more is dropped as too slow; when it connects
  // again it gets a "reset" event.
  std::size_t most_pending = std::size_t{256} << 10;
  // The id before the first event. A later process must start higher, or clients of the earlier one
  // would not notice that they missed events. The time in microseconds is high enough.
  std::uint64_t last_id = 0;
};

// Sends every event to all clients. Ids of events count up by one.
// Thread-safe.
class EventStream {
 public:
  explicit EventStream(EventOptions options);
  ~EventStream();

  // `data` has no line breaks.
  void publish(std::string_view event, std::string_view data);

  // Adds a client for events published from now on. Its stream starts with the current id, and with
  // a "reset" event if `last_event_id` shows that it missed events since its last connection.
  // `wake` is called on any thread when take() has something again, and must not block.
  std::shared_ptr<EventClient> join(std::string_view last_event_id, std::function<void()> wake);

  std::size_t clients() const;
  // How many clients were dropped because they were slow.
  std::uint64_t dropped() const;

 private:
  friend class EventClient;
  struct State;
  std::shared_ptr<State> state_;
};

// One client of a stream, with the events that wait for it. Its destructor leaves the stream.
// Thread-safe.
class EventClient {
 public:
  EventClient(std::shared_ptr<EventStream::State> stream, std::function<void()> wake);
  ~EventClient();
  // Takes all waiting bytes. Empty if there are none; then `wake` is called for the next ones.
  std::string take();
  // True if it was dropped as too slow. It gets no more events: close its connection.
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
