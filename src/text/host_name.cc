#include "text/host_name.h"

#include <fmt/format.h>
#include <unicode/idna.h>
#include <unicode/stringpiece.h>

#include <algorithm>
#include <memory>

#include "base/ascii.h"

namespace kin::text {
namespace {

constexpr std::size_t kLongestName = 255;
// Browsers accept hyphens anywhere (https://url.spec.whatwg.org/#concept-domain-to-ascii): names
// with "--" in third place do exist.
constexpr std::uint32_t kAccepted =
    UIDNA_ERROR_LEADING_HYPHEN | UIDNA_ERROR_TRAILING_HYPHEN | UIDNA_ERROR_HYPHEN_3_4;

const icu::IDNA& idna() {
  // Made once: loading the data costs far more than a conversion, and the object is thread-safe.
  static const std::unique_ptr<const icu::IDNA> made = [] {
    UErrorCode status = U_ZERO_ERROR;
    icu::IDNA* const created = icu::IDNA::createUTS46Instance(
        UIDNA_CHECK_BIDI | UIDNA_CHECK_CONTEXTJ | UIDNA_NONTRANSITIONAL_TO_ASCII, status);
    KIN_CHECK(U_SUCCESS(status) && created != nullptr, "ICU has no UTS #46 data");
    return std::unique_ptr<const icu::IDNA>(created);
  }();
  return *made;
}

bool is_host_character(char c) {
  return is_ascii_alpha(c) || is_ascii_digit(c) || c == '.' || c == '-' || c == '_';
}

// Without STD3 rules, IDNA lets any ASCII character pass, and maps others to it: U+2100 to "a/c".
bool is_host_name(std::string_view name) {
  return name.size() <= kLongestName && std::ranges::all_of(name, is_host_character) &&
         name.find_first_not_of('.') != std::string_view::npos;
}

}  // namespace

Result<std::string> host_name_to_ascii(std::string_view name) {
  const Error invalid{Code::kInvalidArgument,
                      fmt::format("\"{}\" is not a host name", name.substr(0, kLongestName))};
  std::string ascii;
  // Names in ASCII skip IDNA, which would reject some that DNS resolves.
  if (std::ranges::all_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) {
    ascii = ascii_lowered(name);
  } else {
    // Bounds the work of IDNA: no longer name becomes a valid one in practice.
    if (name.size() > 4 * kLongestName) return invalid;
    UErrorCode status = U_ZERO_ERROR;
    icu::IDNAInfo info;
    icu::StringByteSink<std::string> sink(&ascii);
    idna().nameToASCII_UTF8(icu::StringPiece(name.data(), static_cast<std::int32_t>(name.size())),
                            sink, info, status);
    if (U_FAILURE(status) || (info.getErrors() & ~kAccepted) != 0) return invalid;
  }
  if (!is_host_name(ascii)) return invalid;
  return ascii;
}

}  // namespace kin::text
