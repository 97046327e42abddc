#include "net/http/socket_watch.h"

#include <curl/curl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

namespace kin::net {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using namespace std::chrono_literals;

class SocketWatchTest : public ::testing::Test {
 protected:
  SocketWatchTest() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address_);
    EXPECT_EQ(::bind(listener_, plain_address(), length), 0);
    EXPECT_EQ(::listen(listener_, 8), 0);
    EXPECT_EQ(::getsockname(listener_, plain_address(), &length), 0);
  }
  ~SocketWatchTest() override {
    for (const int peer : peers_) ::close(peer);
    ::close(listener_);
  }

  sockaddr* plain_address() { return reinterpret_cast<sockaddr*>(&address_); }
  // A connection; its other end is the last of `peers_`.
  int connect() {
    const int socket = sockets_.open(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(::connect(socket, plain_address(), sizeof(address_)), 0);
    peers_.push_back(::accept(listener_, nullptr, nullptr));
    return socket;
  }
  void send_to_us() { EXPECT_EQ(::send(peers_.back(), "x", 1, 0), 1); }
  std::vector<std::pair<int, int>> wait(std::chrono::milliseconds most) {
    std::vector<std::pair<int, int>> ready;
    sockets_.wait(most, [&](int socket, int what) { ready.emplace_back(socket, what); });
    return ready;
  }

  sockaddr_in address_{};
  int listener_;
  std::vector<int> peers_;
  SocketWatch sockets_;
};

TEST_F(SocketWatchTest, ReportsSocketsThatAreWatchedAgain) {
  const int socket = connect();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(sockets_.watch(socket, CURL_POLL_IN));
    send_to_us();
    EXPECT_THAT(wait(1min), ElementsAre(Pair(socket, CURL_CSELECT_IN)));
    char byte = 0;
    EXPECT_EQ(::recv(socket, &byte, 1, 0), 1);
    ASSERT_TRUE(sockets_.watch(socket, CURL_POLL_REMOVE));
  }
  ASSERT_TRUE(sockets_.watch(socket, CURL_POLL_OUT));
  EXPECT_THAT(wait(1min), ElementsAre(Pair(socket, CURL_CSELECT_OUT)));
  sockets_.close(socket);
}

TEST_F(SocketWatchTest, SaysNothingOfASocketThatNobodyWaitsFor) {
  const int socket = connect();
  ASSERT_TRUE(sockets_.watch(socket, CURL_POLL_IN));
  ASSERT_TRUE(sockets_.watch(socket, CURL_POLL_REMOVE));
  send_to_us();
  // The first wait() ends early and takes the socket out, so that the second has nothing to do.
  EXPECT_THAT(wait(1min), IsEmpty());
  EXPECT_THAT(wait(0ms), IsEmpty());
  // What came in the meantime is not lost.
  ASSERT_TRUE(sockets_.watch(socket, CURL_POLL_IN));
  EXPECT_THAT(wait(1min), ElementsAre(Pair(socket, CURL_CSELECT_IN)));
  sockets_.close(socket);
}

TEST_F(SocketWatchTest, WatchesASocketThatHasTheNumberOfAClosedOne) {
  for (const bool told : {true, false}) {
    const int socket = connect();
    ASSERT_TRUE(sockets_.watch(socket, CURL_POLL_IN));
    if (told) {
      ASSERT_TRUE(sockets_.watch(socket, CURL_POLL_REMOVE));
      sockets_.close(socket);
    } else {
      ::close(socket);
    }
    const int next = connect();
    ASSERT_EQ(next, socket);
    ASSERT_TRUE(sockets_.watch(next, CURL_POLL_IN));
    send_to_us();
    EXPECT_THAT(wait(1min), ElementsAre(Pair(next, CURL_CSELECT_IN)));
    sockets_.close(next);
  }
}

TEST_F(SocketWatchTest, WatchesSocketsThatItHasNotOpened) {
  int pair[2];
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    ASSERT_TRUE(sockets_.watch(pair[0], CURL_POLL_IN));
    EXPECT_EQ(::send(pair[1], "x", 1, 0), 1);
    EXPECT_THAT(wait(1min), ElementsAre(Pair(pair[0], CURL_CSELECT_IN)));
    ASSERT_TRUE(sockets_.watch(pair[0], CURL_POLL_REMOVE));
    EXPECT_THAT(wait(0ms), IsEmpty());
    for (const int end : pair) ::close(end);
  }
}

TEST_F(SocketWatchTest, AWaitEndsWhenItIsWoken) {
  sockets_.wake();
  EXPECT_THAT(wait(1min), IsEmpty());
}

}  // namespace
}  // namespace kin::net
