// A server in Python as a child process, for tests.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/check.h"

namespace kin::net {

// Runs until it is destroyed. One thread only.
class TestServer {
 public:
  // tests/feeds/server.py. With a folder for `tls`, https too; its certificate is then cert.pem in
  // that folder.
  explicit TestServer(const std::string& source_dir, const std::string& tls = {}) {
    std::vector<std::string> words{"python3", source_dir + "/tests/feeds/server.py",
                                   source_dir + "/tests/feeds"};
    if (!tls.empty()) words.insert(words.end(), {"--tls", tls});
    start(std::move(words));
  }
  // Any command that prints its port, and ends when its input does.
  explicit TestServer(std::vector<std::string> command) { start(std::move(command)); }
  ~TestServer() {
    ::close(input_);
    ::kill(child_, SIGTERM);
    ::waitpid(child_, nullptr, 0);
  }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  // "http://127.0.0.1:PORT" + path.
  std::string url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  std::string tls_url(const std::string& path) const {
    return "https://127.0.0.1:" + std::to_string(tls_port_) + path;
  }
  int port() const { return port_; }

 private:
  void start(std::vector<std::string> words) {
    int to_child[2];
    int from_child[2];
    KIN_CHECK(::pipe2(to_child, O_CLOEXEC) == 0 && ::pipe2(from_child, O_CLOEXEC) == 0, "pipes");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to_child[0], 0);
    posix_spawn_file_actions_adddup2(&actions, from_child[1], 1);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    KIN_CHECK(
        ::posix_spawnp(&child_, arguments[0], &actions, nullptr, arguments.data(), environ) == 0,
        "the program of a test server must be there");
    posix_spawn_file_actions_destroy(&actions);
    ::close(to_child[0]);
    ::close(from_child[1]);
    input_ = to_child[1];
    std::FILE* ports = ::fdopen(from_child[0], "r");
    KIN_CHECK(std::fscanf(ports, "%d", &port_) == 1, "the test server did not start");
    const bool tls = std::ranges::find(words, "--tls") != words.end();
    if (tls)
      KIN_CHECK(std::fscanf(ports, "%d", &tls_port_) == 1,
                "the test server did not start its TLS port");
    std::fclose(ports);
  }

  pid_t child_ = 0;
  int input_ = -1;
  int port_ = 0;
  int tls_port_ = 0;
};

// `text` in percent form, for paths of the server that contain a URL.
inline std::string quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    char code[4];
    std::snprintf(code, sizeof code, "%%%02X", static_cast<unsigned char>(c));
    out += code;
  }
  return out;
}

}  // namespace kin::net
