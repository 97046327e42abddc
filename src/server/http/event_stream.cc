#include "server/http/event_stream.h"

#include <fmt/format.h>

#include <unordered_map>

namespace kin::server {

// Weak pointers, because a client may be destroyed while an event is published.
struct EventStream::State {
  EventOptions options{};
  mutable std::mutex lock{};
  std::unordered_map<EventClient*, std::weak_ptr<EventClient>> clients{};
  std::uint64_t dropped = 0;

  // True if the client must be woken.
  bool give(EventClient& client, const std::shared_ptr<const std::string>& bytes);
};

bool EventStream::State::give(EventClient& client,
                              const std::shared_ptr<const std::string>& bytes) {
  if (client.dropped_) return false;
  const bool was_empty = client.pending_.empty();
  client.pending_bytes_ += bytes->size();
  client.pending_.push_back(bytes);
  // A client with pending events was woken when the first of them came.
  if (client.pending_bytes_ <= options.most_pending) return was_empty;
  client.dropped_ = true;
  client.pending_.clear();
  ++dropped;
  return true;
}

EventStream::EventStream(EventOptions options) : state_(std::make_shared<State>()) {
  state_->options = options;
}

EventStream::~EventStream() = default;

void EventStream::publish(std::string_view event, std::string_view data) {
  // Destroyed after the lock is released: the destructor of a client takes the lock.
  std::vector<std::shared_ptr<EventClient>> held;
  std::vector<EventClient*> to_wake;
  {
    const std::lock_guard guard(state_->lock);
    const auto bytes = std::make_shared<const std::string>(
        fmt::format("id: {}\nevent: {}\ndata: {}\n\n", ++state_->options.last_id, event, data));
    held.reserve(state_->clients.size());
    for (const auto& [key, weak] : state_->clients) {
      if (auto client = weak.lock()) held.push_back(std::move(client));
    }
    for (const auto& client : held) {
      if (state_->give(*client, bytes)) to_wake.push_back(client.get());
    }
  }
  for (EventClient* client : to_wake) client->wake_();
}

std::shared_ptr<EventClient> EventStream::join(std::string_view last_event_id,
                                               std::function<void()> wake) {
  auto client = std::make_shared<EventClient>(state_, std::move(wake));
  const std::lock_guard guard(state_->lock);
  const std::string now = std::to_string(state_->options.last_id);
  std::string greeting = "retry: 2000\nid: " + now + "\n";
  if (!last_event_id.empty() && last_event_id != now) greeting += "event: reset\ndata: {}\n";
  client->pending_.push_back(std::make_shared<const std::string>(greeting + "\n"));
  state_->clients.emplace(client.get(), client);
  return client;
}

std::size_t EventStream::clients() const {
  const std::lock_guard guard(state_->lock);
  return state_->clients.size();
}

std::uint64_t EventStream::dropped() const {
  const std::lock_guard guard(state_->lock);
  return state_->dropped;
}

EventClient::EventClient(std::shared_ptr<EventStream::State> stream, std::function<void()> wake)
    : stream_(std::move(stream)), wake_(std::move(wake)) {}

EventClient::~EventClient() {
  const std::lock_guard guard(stream_->lock);
  stream_->clients.erase(this);
}

std::string EventClient::take() {
  const std::lock_guard guard(stream_->lock);
  std::string taken;
  taken.reserve(pending_bytes_);
  for (const auto& bytes : pending_) taken += *bytes;
  pending_.clear();
  pending_bytes_ = 0;
  return taken;
}

bool EventClient::dropped() const {
  const std::lock_guard guard(stream_->lock);
  return dropped_;
}

}  // namespace kin::server
