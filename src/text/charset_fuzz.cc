// Whatever the bytes and the names, what comes out is UTF-8. The first line names the charsets.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "text/charset.h"
#include "text/normalize.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t line = input.find('\n');
  const std::string_view name = line == std::string_view::npos ? "" : input.substr(0, line);
  const std::string_view bytes = line == std::string_view::npos ? input : input.substr(line + 1);
  const auto decoded = kin::text::decode_text(bytes, {.transport = name, .document = "utf-8"});
  if (!kin::text::is_valid_utf8(decoded.utf8)) std::abort();
  (void)kin::text::xml_charset(bytes);
  (void)kin::text::html_charset(bytes);
  return 0;
}
