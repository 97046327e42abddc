// A URL that was parsed is written in ASCII characters that are safe anywhere, and parses to the
// same text.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "net/url.h"

namespace {

void require(bool truth) {
  if (!truth) std::abort();
}

void check(const kin::Result<kin::net::Url>& url) {
  if (!url.ok()) return;
  const std::string text = url->text();
  require(text.starts_with("http://") || text.starts_with("https://"));
  require(std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7F'; }));
  require(text.find_first_of("\"<>") == std::string::npos);
  if (text.size() > kin::net::Url::kLongest) return;
  const auto again = kin::net::Url::parse(text);
  require(again.ok() && again->text() == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  check(kin::net::Url::parse(input));
  static const auto base = kin::net::Url::parse("https://example.com/a/b?c#d");
  check(base->resolve(input));
  return 0;
}
