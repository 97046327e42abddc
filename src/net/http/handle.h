// A handle of libcurl, with the buffers of a request. For source files: it has libcurl's types.
#pragma once

#include <curl/curl.h>

#include <string>
#include <string_view>
#include <vector>

namespace kin::net {

// One thread at a time.
struct Handle {
  Handle() : easy(curl_easy_init()) {}
  ~Handle() { curl_easy_cleanup(easy); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  // Makes `lines` the header fields of the next request. `lines` are divided by NUL.
  void set_header_lines();

  CURL* easy;
  char message[CURL_ERROR_SIZE] = {};  // libcurl's, of an error
  std::string lines;                   // each ends with NUL
  std::vector<curl_slist> fields;      // of `lines`, as libcurl wants them
};

}  // namespace kin::net
