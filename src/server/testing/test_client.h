// A client that sends exactly the given bytes, for tests of the server.
#pragma once

#include <algorithm>
#include <arpa/inet.h>
#include <cstdint>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <future>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "net/header_fields.h"

namespace kin::server {

struct RawAnswer {
  int status = 0;  // 0 if there was none
  std::vector<net::Header> headers{};
  std::string body{};

  std::string_view header(std::string_view name) const {
    return net::find_header(headers, name).value_or("");
  }
};

// How long tests wait for an event.
inline constexpr std::chrono::milliseconds kPatience = std::chrono::minutes(1);

// Waits until `condition` holds, which another thread causes.
template <typename Condition>
bool eventually(const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// Runs `work` and ends the test program if that takes longer than the patience.
template <typename Work>
void expect_to_return(const Work& work) {
  const auto done = std::async(std::launch::async, work);
  KIN_CHECK(done.wait_for(kPatience) == std::future_status::ready, "it returns");
}

// One connection to 127.0.0.1. One thread only.
class TestClient {
 public:
  explicit TestClient(int port, int receive_buffer = 0)
      : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive_buffer > 0)
      ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  }
  ~TestClient() { ::close(socket_); }
  TestClient(TestClient&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)), connected_(other.connected_) {}

  bool connected() const { return connected_; }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // Reads up to and including `mark`; returns what has arrived if the connection ends or times out.
  std::string read_to(std::string_view mark, std::chrono::milliseconds patience = kPatience) {
    while (true) {
      const std::size_t at = pending_.find(mark);
      if (at != std::string::npos) return take(at + mark.size());
      if (!receive(patience)) return take(pending_.size());
    }
  }

  std::string read(std::size_t length) {
    while (pending_.size() < length && receive(kPatience)) {
    }
    return take(std::min(length, pending_.size()));
  }

  // True if the other side has closed the connection and nothing is left to read.
  bool ended(std::chrono::milliseconds patience = kPatience) {
    while (receive(patience)) {
    }
    return ended_;
  }

  RawAnswer answer(bool headless = false) {
    RawAnswer out;
    std::string_view head;
    const std::string text = read_to("\r\n\r\n");
    if (!text.starts_with("HTTP/1.1 ")) return out;
    out.status = std::atoi(text.c_str() + 9);
    head = text;
    while (!head.empty()) {
      const std::string_view line = head.substr(0, head.find("\r\n"));
      head.remove_prefix(std::min(head.size(), line.size() + 2));
      if (auto field = net::parse_header_line(line)) out.headers.push_back(*field);
    }
    const std::string length(out.header("Content-Length"));
    if (!headless && !length.empty()) out.body = read(std::strtoull(length.c_str(), nullptr, 10));
    return out;
  }

  RawAnswer ask(std::string_view request) {
    send(request);
    return answer(request.starts_with("HEAD"));
  }

 private:
  bool receive(std::chrono::milliseconds patience) {
    pollfd wait{.fd = socket_, .events = POLLIN, .revents = 0};
    if (ended_ || ::poll(&wait, 1, static_cast<int>(patience.count())) != 1) return false;
    char bytes[65536];
    const ssize_t length = ::recv(socket_, bytes, sizeof bytes, 0);
    if (length <= 0) ended_ = true;
    if (length > 0) pending_.append(bytes, static_cast<std::size_t>(length));
    return length > 0;
  }

  std::string take(std::size_t length) {
    std::string out = pending_.substr(0, length);
    pending_.erase(0, length);
    return out;
  }

  int socket_ = -1;
  bool connected_ = false;
  bool ended_ = false;
  std::string pending_;
};

// "GET /path HTTP/1.1" with a Host and the fields given (each with its line end).
inline std::string request_text(std::string_view method, std::string_view target,
                                std::string_view fields = {}, std::string_view body = {}) {
  std::string out = std::string(method) + " " + std::string(target) +
                    " HTTP/1.1\r\nHost: localhost\r\n" + std::string(fields);
  if (!body.empty()) out += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  return out + "\r\n" + std::string(body);
}

inline std::string json_request(std::string_view method, std::string_view target,
                                std::string_view body = {}) {
  return request_text(method, target, "Content-Type: application/json\r\n", body);
}

}  // namespace kin::server
