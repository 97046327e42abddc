#include "net/http/handle_pool.h"

#include <curl/curl.h>

#include "base/check.h"
#include "net/http/handle.h"

namespace kin::net {
namespace {

int on_close_socket(void* sockets, curl_socket_t socket) {
  return static_cast<SocketWatch*>(sockets)->close(socket);
}

// The settings that all requests of a client have.
void set_client_options(Handle& handle, const HttpOptions& options, SocketWatch& sockets,
                        void* share) {
  CURL* const easy = handle.easy;
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, handle.message);
  curl_easy_setopt(easy, CURLOPT_SHARE, share);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, &on_close_socket);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, &sockets);
  // The path goes out unchanged, because the signature covers it.
  curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  // Transfer follows redirects, and checks each address.
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  // Set even if empty, or libcurl would take a proxy from the environment.
  curl_easy_setopt(easy, CURLOPT_PROXY, options.proxy.c_str());
  curl_easy_setopt(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  // Signals are for the whole process, and other threads work in it.
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy, CURLOPT_USERAGENT, options.user_agent.c_str());
  if (options.ca_file.empty()) return;
  curl_easy_setopt(easy, CURLOPT_CAINFO, options.ca_file.c_str());
  // The system's certificates do not count beside the file.
  curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);
}

std::unique_ptr<Handle> last_of(std::vector<std::unique_ptr<Handle>>& handles) {
  std::unique_ptr<Handle> handle = std::move(handles.back());
  handles.pop_back();
  return handle;
}

}  // namespace

static_assert(sizeof(Handle::message) >= CURL_ERROR_SIZE);

Handle::Handle() : easy(curl_easy_init()) {}

Handle::~Handle() {
  curl_easy_cleanup(easy);
}

void Handle::set_header_lines() {
  fields.clear();
  for (std::size_t at = 0; at < lines.size(); at = lines.find('\0', at) + 1)
    fields.push_back({.data = lines.data() + at, .next = nullptr});
  for (std::size_t i = 1; i < fields.size(); ++i) fields[i - 1].next = &fields[i];
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields.empty() ? nullptr : fields.data());
}

HandlePool::HandlePool(const HttpOptions& options, SocketWatch& sockets, void* share)
    : options_(options), sockets_(sockets), share_(share) {}

HandlePool::~HandlePool() = default;

void HandlePool::reset(Handle& handle) {
  curl_easy_reset(handle.easy);
  set_client_options(handle, options_, sockets_, share_);
}

std::unique_ptr<Handle> HandlePool::take(HandleUse use) {
  if (use == HandleUse::kPost && !posted_.empty()) return last_of(posted_);
  if (!ready_.empty()) return last_of(ready_);
  if (posted_.empty()) {
    auto handle = std::make_unique<Handle>();
    KIN_CHECK(handle->easy != nullptr, "libcurl has no memory");
    set_client_options(*handle, options_, sockets_, share_);
    return handle;
  }
  auto handle = last_of(posted_);
  reset(*handle);
  return handle;
}

void HandlePool::give_back(std::unique_ptr<Handle> handle, HandleUse use) {
  switch (use) {
    case HandleUse::kPost:
      // Buffers that end with the request.
      curl_easy_setopt(handle->easy, CURLOPT_POSTFIELDS, nullptr);
      curl_easy_setopt(handle->easy, CURLOPT_HTTPHEADER, nullptr);
      posted_.push_back(std::move(handle));
      return;
    case HandleUse::kOther:
      reset(*handle);
      ready_.push_back(std::move(handle));
      return;
  }
  KIN_UNREACHABLE();
}

}  // namespace kin::net
