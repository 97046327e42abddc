#include "text/charset.h"

#include <unicode/ucnv.h>
#include <unicode/ustring.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/ascii.h"
#include "base/utf8.h"
#include "text/normalize.h"

namespace kin::text {
namespace {

constexpr std::string_view kUtf8 = "utf-8";
constexpr std::string_view kWindows1252 = "windows-1252";

std::string lower_name(std::string_view name) {
  std::string lower;
  for (const char c : name) {
    // Headers and declarations quote and pad the name in every way.
    if (c == ' ' || c == '\t' || c == '"' || c == '\'' || c == '\r' || c == '\n') continue;
    lower += ascii_lower(c);
  }
  return lower;
}

struct Alias {
  std::string_view label;
  std::string_view charset;
};

// Where the Encoding Standard's labels mean another charset than ICU takes them for.
constexpr Alias kAliases[] = {
    {"utf8", kUtf8},
    {"unicode-1-1-utf-8", kUtf8},
    {"iso-8859-1", kWindows1252},
    {"iso8859-1", kWindows1252},
    {"iso_8859-1", kWindows1252},
    {"latin1", kWindows1252},
    {"l1", kWindows1252},
    {"ascii", kWindows1252},
    {"us-ascii", kWindows1252},
    {"cp1252", kWindows1252},
    {"x-cp1252", kWindows1252},
    {"iso-8859-9", "windows-1254"},
    {"latin5", "windows-1254"},
    {"iso-8859-11", "windows-874"},
    {"tis-620", "windows-874"},
    {"gb2312", "gb18030"},
    {"gbk", "gb18030"},
    {"x-gbk", "gb18030"},
    {"gb_2312-80", "gb18030"},
    {"shift_jis", "windows-31j"},
    {"shift-jis", "windows-31j"},
    {"sjis", "windows-31j"},
    {"x-sjis", "windows-31j"},
    {"ks_c_5601-1987", "windows-949"},
    {"euc-kr", "windows-949"},
    {"big5", "big5-hkscs"},
    {"utf-16", "utf-16le"},
    {"utf16", "utf-16le"},
    {"ucs-2", "utf-16le"},
    {"iso-10646-ucs-2", "utf-16le"},
    {"utf-32", "utf-32le"},
};

// Charsets in which bytes that look harmless spell markup, or that exist inside programs only.
bool is_unfit(std::string_view name) {
  constexpr std::string_view kUnfit[] = {
      "utf-7", "utf7", "unicode-1-1-utf-7", "imap", "scsu", "bocu", "cesu", "ebcdic",
      "hz",    "lmbcs"};
  return name.starts_with("ibm-037") || name.starts_with("cp037") ||
         std::any_of(std::begin(kUnfit), std::end(kUnfit),
                     [&](std::string_view unfit) { return name.starts_with(unfit); });
}

struct CloseConverter {
  void operator()(UConverter* converter) const { ucnv_close(converter); }
};
using Converter = std::unique_ptr<UConverter, CloseConverter>;

Converter open_converter(const std::string& name) {
  UErrorCode error = U_ZERO_ERROR;
  Converter converter(ucnv_open(name.c_str(), &error));
  return U_SUCCESS(error) ? std::move(converter) : nullptr;
}

bool spells_ascii(UConverter* converter) {
  UErrorCode error = U_ZERO_ERROR;
  std::array<UChar, 4> out{};
  const int length = ucnv_toUChars(converter, out.data(), 4, "<a>", 3, &error);
  return U_SUCCESS(error) && length == 3 && out[0] == u'<';
}

// Decided by the type of the converter, because ICU knows each charset by many names.
bool is_unfit(UConverter* converter) {
  switch (ucnv_getType(converter)) {
    case UCNV_UTF7:
    case UCNV_SCSU:
    case UCNV_BOCU1:
    case UCNV_CESU8:
    case UCNV_IMAP_MAILBOX:
    case UCNV_HZ:
    case UCNV_EBCDIC_STATEFUL: return true;
    case UCNV_ISO_2022: return false;
    // EBCDIC pages spell ASCII in other bytes. Wide charsets do too, and are fit.
    default: return ucnv_getMinCharSize(converter) <= 1 && !spells_ascii(converter);
  }
}

// The name to convert by; empty if `said` is not a charset that we accept.
std::string charset_called(std::string_view said) {
  std::string name = lower_name(said);
  // The names of unfit charsets are refused before ICU opens a converter.
  if (name.empty() || name.size() > 40 || is_unfit(name)) return {};
  for (const Alias& alias : kAliases) {
    if (alias.label == name) return std::string(alias.charset);
  }
  if (name == kUtf8) return name;
  const Converter converter = open_converter(name);
  if (converter == nullptr) return {};
  return is_unfit(converter.get()) ? std::string() : name;
}

// 0x80 to 0x9F; the five bytes that mean nothing stay the controls they are.
constexpr char16_t kWindows1252Upper[32] = {
    0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x8D,   0x017D, 0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};

void append_windows1252(std::string& out, char byte) {
  append_utf8(out, windows1252_character(static_cast<std::uint8_t>(byte)));
}

DecodedText decode_windows1252(std::string_view bytes) {
  DecodedText out{.utf8 = {}, .charset = std::string(kWindows1252)};
  // Most of the text is ASCII, and other characters take two or three bytes.
  out.utf8.reserve(bytes.size() + bytes.size() / 8);
  for (const char byte : bytes) append_windows1252(out.utf8, byte);
  return out;
}

DecodedText decode_utf8(std::string_view bytes) {
  DecodedText out{.utf8 = {}, .charset = std::string(kUtf8), .mended = !is_valid_utf8(bytes)};
  if (!out.mended) {
    out.utf8 = bytes;
    return out;
  }
  const char* const end = bytes.data() + bytes.size();
  for (const char* at = bytes.data(); at != end;) {
    // Valid sequences are kept. Any other byte is read alone as windows-1252, the most common
    // charset of bytes that get into UTF-8 by mistake.
    const bool ascii = static_cast<std::uint8_t>(*at) < 0x80;
    const std::size_t length = ascii ? 1 : utf8_sequence_length(at, end);
    if (length == 0) {
      append_windows1252(out.utf8, *at++);
      continue;
    }
    out.utf8.append(at, length);
    at += length;
  }
  return out;
}

std::string utf16_to_utf8(const std::vector<UChar>& units) {
  // One UTF-16 unit takes at most three bytes: the four of a surrogate pair are for two units.
  std::string out(units.size() * 3, '\0');
  std::int32_t length = 0;
  UErrorCode error = U_ZERO_ERROR;
  u_strToUTF8WithSub(out.data(), static_cast<std::int32_t>(out.size()), &length, units.data(),
                     static_cast<std::int32_t>(units.size()), 0xFFFD, nullptr, &error);
  out.resize(U_SUCCESS(error) ? static_cast<std::size_t>(length) : 0);
  return out;
}

DecodedText decode_by_icu(std::string_view bytes, const std::string& name) {
  const Converter converter = open_converter(name);
  // ICU knows all names that come here; windows-1252 can decode any bytes.
  if (converter == nullptr) return decode_windows1252(bytes);
  DecodedText out{.utf8 = {}, .charset = name};
  std::vector<UChar> buffer(std::min<std::size_t>(bytes.size() * 2 + 64, 1 << 20));
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  std::vector<UChar> units;
  UErrorCode error = U_ZERO_ERROR;
  do {
    // The converter goes on where the buffer was full.
    error = U_ZERO_ERROR;
    UChar* target = buffer.data();
    ucnv_toUnicode(converter.get(), &target, buffer.data() + buffer.size(), &at, end, nullptr, true,
                   &error);
    units.insert(units.end(), buffer.data(), target);
  } while (error == U_BUFFER_OVERFLOW_ERROR);
  // ICU writes SUB for single bytes without a meaning in charsets that have it.
  std::replace(units.begin(), units.end(), UChar{0x1A}, UChar{0xFFFD});
  out.utf8 = utf16_to_utf8(units);
  // The end of the bytes may cut a character off.
  if (U_FAILURE(error)) out.utf8 += "\uFFFD";
  out.mended = out.utf8.find("\uFFFD") != std::string::npos;
  return out;
}

DecodedText decode_as(std::string_view bytes, const std::string& charset) {
  if (charset == kUtf8) return decode_utf8(bytes);
  if (charset == kWindows1252) return decode_windows1252(bytes);
  return decode_by_icu(bytes, charset);
}

struct Mark {
  std::string_view bytes;
  std::string_view charset;
};

// The longer marks first: UTF-32's begins with UTF-16's. Below them, the first characters of a
// document that starts with markup and has no mark.
constexpr Mark kMarks[] = {
    {std::string_view("\xFF\xFE\0\0", 4), "utf-32le"},
    {std::string_view("\0\0\xFE\xFF", 4), "utf-32be"},
    {"\xEF\xBB\xBF", kUtf8},
    {"\xFF\xFE", "utf-16le"},
    {"\xFE\xFF", "utf-16be"},
};
constexpr Mark kWideStarts[] = {
    {std::string_view("<\0\0\0", 4), "utf-32le"}, {std::string_view("\0\0\0<", 4), "utf-32be"},
    {std::string_view("<\0?\0", 4), "utf-16le"},  {std::string_view("\0<\0?", 4), "utf-16be"},
    {std::string_view("<\0r\0", 4), "utf-16le"},  {std::string_view("\0<\0r", 4), "utf-16be"},
    {std::string_view("<\0f\0", 4), "utf-16le"},  {std::string_view("\0<\0f", 4), "utf-16be"},
};

bool is_wide(std::string_view charset) {
  return charset.starts_with("utf-16") || charset.starts_with("utf-32");
}

std::string attribute_after(std::string_view text, std::string_view name) {
  std::size_t at = text.find(name);
  if (at == std::string_view::npos) return {};
  at = text.find_first_not_of(" \t\r\n", at + name.size());
  if (at == std::string_view::npos || text[at] != '=') return {};
  at = text.find_first_not_of(" \t\r\n\"'", at + 1);
  if (at == std::string_view::npos) return {};
  return std::string(text.substr(at, text.find_first_of(" \t\r\n\"'>?;/", at) - at));
}

}  // namespace

char32_t windows1252_character(std::uint8_t byte) {
  return byte >= 0x80 && byte < 0xA0 ? kWindows1252Upper[byte - 0x80] : byte;
}

DecodedText decode_text(std::string_view bytes, CharsetHints hints) {
  // The order of the trust: the bytes themselves, the transport, the document.
  for (const Mark& mark : kMarks) {
    if (bytes.starts_with(mark.bytes))
      return decode_as(bytes.substr(mark.bytes.size()), std::string(mark.charset));
  }
  for (const Mark& start : kWideStarts) {
    if (bytes.starts_with(start.bytes)) return decode_as(bytes, std::string(start.charset));
  }
  for (const std::string_view said : {hints.transport, hints.document}) {
    const std::string charset = charset_called(said);
    // Bytes that start with one-byte markup contradict a wide charset.
    if (charset.empty() || (is_wide(charset) && bytes.find('\0') == std::string_view::npos))
      continue;
    // Valid UTF-8 is next to never windows-1252, whatever the server says.
    if (charset != kWindows1252 || !is_valid_utf8(bytes)) return decode_as(bytes, charset);
  }
  return decode_as(bytes, std::string(is_valid_utf8(bytes) ? kUtf8 : kWindows1252));
}

std::optional<std::string> xml_charset(std::string_view bytes) {
  // Some feeds begin with blank lines or a byte order mark.
  const std::size_t start = bytes.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (start == std::string_view::npos || !bytes.substr(start).starts_with("<?xml")) return {};
  const std::string_view declaration = bytes.substr(start, bytes.find("?>", start) - start);
  // Without a "?>" the declaration would be the whole document.
  std::string name = attribute_after(declaration.substr(0, 256), "encoding");
  return name.empty() ? std::nullopt : std::optional(std::move(name));
}

std::optional<std::string> html_charset(std::string_view bytes) {
  // Browsers look no further either.
  const std::string head = ascii_lowered(bytes.substr(0, 1024));
  for (std::size_t at = head.find("<meta"); at != std::string::npos;
       at = head.find("<meta", at + 1)) {
    const std::string_view tag = std::string_view(head).substr(at, head.find('>', at) - at);
    std::string name = attribute_after(tag, "charset");
    if (!name.empty()) return name;
  }
  return {};
}

}  // namespace kin::text
