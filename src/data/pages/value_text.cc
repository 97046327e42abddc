#include "data/pages/value_text.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <cmath>
#include <iterator>

#include "base/bytes.h"

namespace kin::data {
namespace {

constexpr std::string_view kBytesMark = "bytes:";

// Values of ConvertedType.
enum Converted : std::int64_t {
  kNothing = -1,
  kUtf8 = 0,
  kDateDays = 6,
  kTimestampMillis = 9,
  kTimestampMicros = 10,
  kUint8 = 11,
  kUint64 = 14,
  kInt8 = 15,
  kInt64 = 18,
  kJson = 19,
};

// Members of the union LogicalType.
constexpr int kLogicalText = 1;
constexpr int kLogicalDate = 6;
constexpr int kLogicalTimestamp = 8;
constexpr int kLogicalInteger = 10;
constexpr int kLogicalJson = 12;

// The member of the union that is set; 0: none.
int logical_kind(const ThriftValue& element) {
  const ThriftValue* const logical = element.field(ids::element::kLogical);
  return logical == nullptr || logical->fields.empty() ? 0 : logical->fields.front().id;
}

std::optional<TextForm> bytes_form(std::int64_t converted, int logical) {
  if (converted == kUtf8 || (converted == kNothing && logical == kLogicalText))
    return TextForm::kText;
  if (converted == kJson && logical == kLogicalJson) return TextForm::kText;
  if (converted == kNothing && logical == 0) return TextForm::kBinary;
  return {};
}

std::optional<TextForm> timestamp_form(const ThriftValue& element, std::int64_t converted) {
  const ThriftValue* const logical = element.field(ids::element::kLogical);
  const ThriftValue* const about = logical == nullptr ? nullptr : logical->field(kLogicalTimestamp);
  if (about == nullptr) {
    if (converted == kTimestampMillis) return TextForm::kMillis;
    if (converted == kTimestampMicros) return TextForm::kMicros;
    return {};
  }
  const ThriftValue* const adjusted = about->field(1);
  const ThriftValue* const unit = about->field(2);
  if (adjusted == nullptr || unit == nullptr || unit->fields.size() != 1) return {};
  const bool utc = adjusted->type == ThriftType::kTrue;
  enum { kUnitMillis = 1, kUnitMicros = 2, kUnitNanos = 3 };
  switch (unit->fields.front().id) {
    case kUnitMillis: return utc ? TextForm::kMillisUtc : TextForm::kMillis;
    case kUnitMicros: return utc ? TextForm::kMicrosUtc : TextForm::kMicros;
    case kUnitNanos:
      if (utc) return {};
      return TextForm::kNanos;
    default: return {};
  }
}

std::optional<TextForm> number_form(const ThriftValue& element, Physical physical) {
  const std::int64_t converted = element.number_of(ids::element::kConverted, kNothing);
  const int logical = logical_kind(element);
  const bool plain = logical == 0 || logical == kLogicalInteger;
  if (plain && converted == kNothing && logical == 0) return TextForm::kSigned;
  if (plain && converted >= kInt8 && converted <= kInt64) return TextForm::kSigned;
  if (plain && converted >= kUint8 && converted <= kUint64) return TextForm::kUnsigned;
  if (physical == Physical::kInt32) {
    if (converted == kDateDays && (logical == 0 || logical == kLogicalDate)) return TextForm::kDate;
    return {};
  }
  if (logical != 0 && logical != kLogicalTimestamp) return {};
  return timestamp_form(element, converted);
}

// Days since 1970-01-01 as a date. Howard Hinnant's algorithm, for the proleptic calendar.
void append_date(std::int64_t days, std::string& out) {
  days += 719'468;
  const std::int64_t era = (days >= 0 ? days : days - 146'096) / 146'097;
  const std::int64_t day_of_era = days - era * 146'097;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t shifted_month = (5 * day_of_year + 2) / 153;
  const std::int64_t day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
  const std::int64_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  const std::int64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
  // The year 0 is 1 BC.
  fmt::format_to(std::back_inserter(out), "{:04}-{:02}-{:02}", year > 0 ? year : 1 - year, month,
                 day);
  if (year <= 0) out += " (BC)";
}

// A time in units of 1/`scale` seconds, whose fraction has `digits` digits.
void append_timestamp(std::int64_t value, std::int64_t scale, int digits, std::string& out) {
  constexpr std::int64_t kDaySeconds = 86'400;
  std::int64_t seconds = value / scale;
  std::int64_t fraction = value % scale;
  if (fraction < 0) {
    fraction += scale;
    --seconds;
  }
  std::int64_t days = seconds / kDaySeconds;
  std::int64_t rest = seconds % kDaySeconds;
  if (rest < 0) {
    rest += kDaySeconds;
    --days;
  }
  append_date(days, out);
  fmt::format_to(std::back_inserter(out), " {:02}:{:02}:{:02}", rest / 3'600, rest / 60 % 60,
                 rest % 60);
  if (fraction != 0) {
    std::string all = fmt::format("{:0{}}", fraction, digits);
    all.resize(all.find_last_not_of('0') + 1);
    out += '.';
    out += all;
  }
}

void append_real(double value, std::string& out) {
  if (std::isnan(value)) {
    out += std::signbit(value) ? "-nan" : "nan";
    return;
  }
  const std::string text = fmt::format("{}", value);
  out += text;
  if (!std::isinf(value) && text.find_first_of(".e") == std::string::npos) out += ".0";
}

std::int64_t load_signed(std::string_view value) {
  return value.size() == 4 ? load_le<std::int32_t>(value.data())
                           : load_le<std::int64_t>(value.data());
}

std::uint64_t load_unsigned(std::string_view value) {
  return value.size() == 4 ? load_le<std::uint32_t>(value.data())
                           : load_le<std::uint64_t>(value.data());
}

}  // namespace

std::optional<TextForm> text_form(const Leaf& leaf, const ThriftValue& element) {
  const std::int64_t converted = element.number_of(ids::element::kConverted, kNothing);
  const int logical = logical_kind(element);
  switch (leaf.type.physical) {
    case Physical::kBytes: return bytes_form(converted, logical);
    case Physical::kInt32:
    case Physical::kInt64: return number_form(element, leaf.type.physical);
    case Physical::kBoolean: return TextForm::kBoolean;
    case Physical::kDouble: return TextForm::kDouble;
    // DuckDB prints more digits of large single-precision numbers than they have.
    case Physical::kFloat:
    case Physical::kInt96:
    case Physical::kFixed: return {};
  }
  return {};
}

void append_text(TextForm form, std::string_view value, std::string& out) {
  constexpr std::int64_t kMillion = 1'000'000;
  constexpr std::int64_t kBillion = 1'000'000'000;
  const auto number = [&] { return load_signed(value); };
  switch (form) {
    case TextForm::kText:
    case TextForm::kBinary: out += value; return;
    case TextForm::kSigned: fmt::format_to(std::back_inserter(out), "{}", number()); return;
    case TextForm::kUnsigned:
      fmt::format_to(std::back_inserter(out), "{}", load_unsigned(value));
      return;
    case TextForm::kBoolean: out += value.front() != 0 ? "true" : "false"; return;
    case TextForm::kDouble: append_real(load_le<double>(value.data()), out); return;
    case TextForm::kDate: append_date(number(), out); return;
    case TextForm::kMillis: append_timestamp(number(), 1'000, 3, out); return;
    case TextForm::kMicros: append_timestamp(number(), kMillion, 6, out); return;
    case TextForm::kNanos: append_timestamp(number(), kBillion, 9, out); return;
    case TextForm::kMillisUtc:
      append_timestamp(number(), 1'000, 3, out);
      out += "+00";
      return;
    case TextForm::kMicrosUtc:
      append_timestamp(number(), kMillion, 6, out);
      out += "+00";
      return;
  }
}

bool is_utf8(std::string_view bytes) {
  return simdjson::validate_utf8(bytes.data(), bytes.size());
}

bool is_plain_text(std::string_view bytes) {
  return !bytes.starts_with(kBytesMark) && is_utf8(bytes);
}

std::string text_of_bytes(std::string_view bytes) {
  if (is_plain_text(bytes)) return std::string(bytes);
  std::string text(kBytesMark);
  for (const char c : bytes) {
    if (c >= ' ' && c <= '~' && c != '\\') {
      text += c;
    } else {
      fmt::format_to(std::back_inserter(text), "\\x{:02X}", static_cast<unsigned char>(c));
    }
  }
  return text;
}

}  // namespace kin::data
