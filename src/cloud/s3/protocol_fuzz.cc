// Lists of objects and errors of any bytes.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cloud/s3/protocol.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto page = kin::cloud::parse_object_page(input);
  if (page.ok()) {
    for (const auto& object : page->objects) {
      if (object.key.empty()) std::abort();
    }
  }
  kin::net::HttpResponse response;
  response.status = 400;
  response.body = input;
  const auto verdict = kin::cloud::judge_s3(response);
  if (verdict == kin::cloud::Verdict::kDone) std::abort();
  if (kin::cloud::s3_error("x", {.response = response, .verdict = verdict}).message.empty())
    std::abort();
  return 0;
}
