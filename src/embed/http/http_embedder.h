// Vectors from a server that speaks OpenAI's embeddings API.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "embed/embedder.h"
#include "net/address.h"

namespace kin::embed {

struct HttpEmbedderOptions {
  std::string url;  // up to, and without, "/embeddings"
  std::string model;
  std::string key = {};                       // sent as a bearer token, if there is one
  std::uint32_t dimension = 0;                // that vectors must have; 0: that of the first one
  std::size_t batch = 64;                     // texts a request
  std::size_t batch_bytes = 512 * 1024;       // of text in a request, if it is more than one text
  int tries = 4;                              // of a request that is refused for now
  std::chrono::milliseconds first_wait{250};  // between tries; doubled each time
  std::chrono::milliseconds timeout{120'000};
  net::AddressPolicy addresses = {};  // that may be connected to; public ones by default
  std::function<void(std::chrono::milliseconds)> wait = {};  // instead of sleeping
};

// Asks once at opening, for the dimension, unless it is given. Requests that the server refuses for
// now (429, 5xx), or that it does not answer, are tried again. Texts of white space are not sent.
// Errors are in plain words and name the address.
Result<std::shared_ptr<const Embedder>> open_http_embedder(HttpEmbedderOptions options);

}  // namespace kin::embed
