// A handle of libcurl, with the buffers of a request.
#pragma once

#include <string>
#include <string_view>
#include <vector>

struct curl_slist;  // libcurl's

namespace kin::net {

// One thread at a time.
struct Handle {
  Handle();
  ~Handle();
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  // Makes `lines` the header fields of the next request. `lines` are divided by NUL.
  void set_header_lines();

  void* easy;                      // a CURL*
  char message[256] = {};          // libcurl's, of an error: CURL_ERROR_SIZE bytes
  std::string lines;               // each ends with NUL
  std::vector<curl_slist> fields;  // of `lines`, as libcurl wants them
};

}  // namespace kin::net
