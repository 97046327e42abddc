#include "net/http/socket_watch.h"

#include <curl/curl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "base/check.h"

namespace kin::net {
namespace {

// Sockets that are handled before the next look at the clock.
constexpr int kEventsAtOnce = 64;

std::uint32_t epoll_events(int what) {
  std::uint32_t events = 0;
  if (what == CURL_POLL_IN || what == CURL_POLL_INOUT) events |= EPOLLIN;
  if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT) events |= EPOLLOUT;
  return events;
}

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

SocketWatch::SocketWatch()
    : events_(::epoll_create1(EPOLL_CLOEXEC)), woken_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  KIN_CHECK(events_ >= 0 && woken_ >= 0, "no descriptor is left for a client");
  KIN_CHECK(control(events_, EPOLL_CTL_ADD, woken_, EPOLLIN), "a client cannot be woken up");
}

SocketWatch::~SocketWatch() {
  ::close(woken_);
  ::close(events_);
}

int SocketWatch::open(int family, int type, int protocol) {
  const int socket = ::socket(family, type | SOCK_CLOEXEC, protocol);
  // libcurl closes some sockets without close(), so an older one may have had this number.
  if (socket >= 0) sockets_.insert_or_assign(socket, Socket{.opened = true});
  return socket;
}

int SocketWatch::close(int socket) {
  sockets_.erase(socket);
  return ::close(socket);
}

bool SocketWatch::update(int descriptor, Socket& socket) const {
  if (socket.watched == socket.wanted) return true;
  if (socket.wanted == 0) {
    // A socket that is closed is not watched any more, so a failure does not matter.
    control(events_, EPOLL_CTL_DEL, descriptor, 0);
    socket.watched = 0;
    return true;
  }
  const bool done =
      (socket.watched != 0 && control(events_, EPOLL_CTL_MOD, descriptor, socket.wanted)) ||
      control(events_, EPOLL_CTL_ADD, descriptor, socket.wanted);
  if (done) socket.watched = socket.wanted;
  return done;
}

bool SocketWatch::watch(int socket, int what) {
  const auto entry = sockets_.try_emplace(socket).first;
  Socket& state = entry->second;
  state.wanted = epoll_events(what);
  // libcurl calls close() for connections that were used, which it read from last. Other sockets
  // may be closed, and their numbers used again, without our knowledge.
  const bool stays = state.wanted == 0 && state.opened && state.watched == EPOLLIN;
  if (stays) return true;
  const bool done = update(socket, state);
  if (state.wanted == 0) sockets_.erase(entry);
  return done;
}

void SocketWatch::wait(std::chrono::milliseconds most_wait, const Ready& ready) {
  std::array<epoll_event, kEventsAtOnce> events;
  const int count =
      ::epoll_wait(events_, events.data(), kEventsAtOnce, static_cast<int>(most_wait.count()));
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.fd == woken_) {
      std::uint64_t number = 0;
      [[maybe_unused]] const auto emptied = ::read(woken_, &number, sizeof(number));
      continue;
    }
    const auto found = sockets_.find(event.data.fd);
    // An earlier one of this loop may have closed it.
    if (found == sockets_.end()) continue;
    // The server has closed a connection that no transfer uses, or sends without being asked.
    if (found->second.wanted == 0)
      update(event.data.fd, found->second);
    else
      ready(event.data.fd, curl_events(event.events));
  }
}

void SocketWatch::wake() {
  const std::uint64_t one = 1;
  // It fails only if the counter is full, and then the next wait() does not wait either.
  [[maybe_unused]] const auto written = ::write(woken_, &one, sizeof(one));
}

}  // namespace kin::net
