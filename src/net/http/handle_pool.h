// Handles of libcurl that are used again.
#pragma once

#include <memory>
#include <vector>

#include "net/http/socket_watch.h"
#include "net/http_client.h"

namespace kin::net {

// See handle.h, which has libcurl's types.
struct Handle;

// What a handle was, or will be, used for.
enum class HandleUse {
  kPost,   // a POST with bytes and without credentials
  kOther,  // any other request
};

// Handles that no transfer uses. They keep their buffers, so that a request needs no new ones; and
// those of kPost keep their settings, because making them again takes a tenth of a small request.
// One thread at a time. Borrows options and sockets.
class HandlePool {
 public:
  // `share` is a CURLSH*.
  HandlePool(const HttpOptions& options, SocketWatch& sockets, void* share);
  ~HandlePool();
  HandlePool(const HandlePool&) = delete;
  HandlePool& operator=(const HandlePool&) = delete;

  // A handle with the client's settings. One for kOther has libcurl's defaults beside these. One
  // for kPost may have settings of an earlier request: the caller makes all that such a request
  // has.
  std::unique_ptr<Handle> take(HandleUse use);
  // `use` is kPost only if the request succeeded.
  void give_back(std::unique_ptr<Handle> handle, HandleUse use);

 private:
  void reset(Handle& handle);

  const HttpOptions& options_;
  SocketWatch& sockets_;
  void* share_;
  std::vector<std::unique_ptr<Handle>> ready_;   // with the client's settings alone
  std::vector<std::unique_ptr<Handle>> posted_;  // with those of a kPost, too
};

}  // namespace kin::net
