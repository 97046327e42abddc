// Vectors from a server that speaks OpenAI's embeddings API.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "embed/embedder.h"
#include "net/address.h"

namespace kin::embed {

struct HttpEmbedderOptions {
  std::string url;  // up to, and without, "/embeddings"
  std::string model;
  std::string key = {};                       // sent as a bearer token unless it is empty
  std::uint32_t dimension = 0;                // dimension of the vectors; 0: the server is asked
  std::size_t batch = 64;                     // most texts in a request
  std::size_t batch_bytes = 512 * 1024;       // most bytes of text in a request of several texts
  int tries = 4;                              // most times that a request is sent
  std::chrono::milliseconds first_wait{250};  // between tries; doubled after each
  std::chrono::milliseconds timeout{120'000};
  net::AddressPolicy addresses = {};  // may be connected to; public addresses by default
};

// Sends one request to learn the dimension, unless it is given. Requests that get the status 429 or
// 5xx, or no answer, are sent again after a wait on `clock`, which must outlive the embedder. Texts
// of white space alone are not sent and have an empty vector. Errors name the address.
Result<std::shared_ptr<const Embedder>> open_http_embedder(HttpEmbedderOptions options,
                                                           Clock& clock);

}  // namespace kin::embed
