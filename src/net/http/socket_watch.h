// The sockets of libcurl's transfers, watched by epoll.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <unordered_map>

namespace kin::net {

// Opens, watches and closes sockets for libcurl. A kept connection stays in epoll between two
// requests: removing it and adding it again would cost two system calls a request.
// One thread at a time, except wake().
class SocketWatch {
 public:
  SocketWatch();
  ~SocketWatch();
  SocketWatch(const SocketWatch&) = delete;
  SocketWatch& operator=(const SocketWatch&) = delete;

  // A new socket, or -1.
  int open(int family, int type, int protocol);
  // Closes a socket. Returns 0, as libcurl wants it.
  int close(int socket);

  // Watches a socket for `what` (CURL_POLL_IN ...); CURL_POLL_REMOVE ends it. The socket need not
  // come from open(): libcurl has others while it resolves names. False if it cannot be watched.
  bool watch(int socket, int what);

  // Waits until sockets are ready, `most_wait` has passed or wake() was called. Calls `ready` for
  // some of the ready sockets, with what they are ready for (CURL_CSELECT_IN ...; 0 for an error).
  // `ready` may open, watch and close sockets.
  using Ready = std::function<void(int socket, int what)>;
  void wait(std::chrono::milliseconds most_wait, const Ready& ready);

  // Ends the current or next wait(). Thread-safe.
  void wake();

 private:
  struct Socket {
    bool opened = false;        // by open(), so that close() is called for it
    std::uint32_t wanted = 0;   // events that libcurl waits for
    std::uint32_t watched = 0;  // events in epoll; 0: not in epoll
  };

  // Makes the events in epoll the wanted ones.
  bool update(int descriptor, Socket& socket) const;

  int events_;  // the epoll descriptor
  int woken_;   // an eventfd
  std::unordered_map<int, Socket> sockets_;
};

}  // namespace kin::net
