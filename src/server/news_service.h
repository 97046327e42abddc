// `kindred serve` as one running thing: stories, their feeds, indexes, the API and the page.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "search/search_index.h"
#include "server/http/server.h"
#include "stories/newsroom.h"

namespace kin::server {

struct ServiceOptions {
  std::string address = "127.0.0.1";  // IPv4 or IPv6, without brackets
  std::uint16_t port = 0;             // 0 for any that is free
  std::filesystem::path folder;       // of the newsroom
  std::filesystem::path indexes{};    // folder of all indexes
  search::OpenOptions index{};        // how each of them is opened
  std::string token{};                // empty for none
  std::optional<TlsFiles> tls{};
  bool refresh = true;  // false: feeds are polled only when somebody asks for it
  stories::NewsOptions news{};
  ServerLimits limits{};
  // What failed while nobody waited for it; called on any thread.
  std::function<void(const Error&)> on_problem{};
};

// Thread-safe.
class NewsService {
 public:
  // Anything but a loopback address needs both a token and TLS: kInvalidArgument without.
  static Result<std::unique_ptr<NewsService>> start(ServiceOptions options);
  // As stop().
  ~NewsService();

  std::uint16_t port() const;
  // Where to find it: "http://127.0.0.1:8722/".
  std::string url() const;
  stories::Newsroom& newsroom();
  // Ends fetches, finishes requests, closes everything.
  void stop();

 private:
  struct State;
  explicit NewsService(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kin::server
