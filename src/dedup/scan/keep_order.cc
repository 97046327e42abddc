#include "dedup/scan/keep_order.h"

#include <bit>
#include <charconv>
#include <chrono>
#include <cmath>

namespace kin::dedup {
namespace {

__extension__ using Wide = __int128;

// Takes exactly `digits` digits off the front.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return {};
  int value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + digits, value);
  if (failure != std::errc() || end != text.data() + digits || value < 0) return {};
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, char expected) {
  if (text.empty() || text.front() != expected) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<double> take_date(std::string_view& text) {
  const auto year = take_number(text, 4);
  if (!year || !take(text, '-')) return {};
  const auto month = take_number(text, 2);
  if (!month || !take(text, '-')) return {};
  const auto day = take_number(text, 2);
  if (!day) return {};
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return {};
  return std::chrono::sys_days(date).time_since_epoch().count() * 86400.0;
}

// ":SS" and ".fraction", both optional.
std::optional<double> take_seconds(std::string_view& text) {
  if (!take(text, ':')) return 0.0;
  const auto whole = take_number(text, 2);
  if (!whole || *whole > 60) return {};
  double seconds = *whole;
  if (take(text, '.')) {
    double unit = 0.1;
    for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1)) {
      seconds += (text.front() - '0') * unit;
      unit /= 10;
    }
  }
  return seconds;
}

std::optional<double> take_time(std::string_view& text) {
  const auto hour = take_number(text, 2);
  if (!hour || *hour > 24 || !take(text, ':')) return {};
  const auto minute = take_number(text, 2);
  if (!minute || *minute > 59) return {};
  const auto seconds = take_seconds(text);
  if (!seconds) return {};
  return *hour * 3600.0 + *minute * 60.0 + *seconds;
}

// "Z", "+02:00", "+0200", "+02" or nothing, as seconds east.
std::optional<double> take_zone(std::string_view& text) {
  if (text.empty() || take(text, 'Z') || take(text, 'z')) return 0.0;
  const double sign = text.front() == '-' ? -1 : 1;
  if (!take(text, '+') && !take(text, '-')) return {};
  const auto hours = take_number(text, 2);
  if (!hours) return {};
  take(text, ':');
  const auto minutes = text.empty() ? std::optional<int>(0) : take_number(text, 2);
  if (!minutes) return {};
  return sign * (*hours * 3600.0 + *minutes * 60.0);
}

std::optional<double> parse_moment(std::string_view text) {
  const auto date = take_date(text);
  if (!date) return {};
  if (text.empty()) return date;
  if (!take(text, 'T') && !take(text, 't') && !take(text, ' ')) return {};
  const auto time = take_time(text);
  if (!time) return {};
  take(text, ' ');
  const auto zone = take_zone(text);
  if (!zone || !text.empty()) return {};
  return *date + *time - *zone;
}

// "20240313", the basic form of ISO 8601: a date, because as seconds it would be in August 1970.
std::optional<double> parse_basic_date(std::string_view text) {
  if (text.size() != 8) return {};
  const std::string extended = std::string(text.substr(0, 4))
                                   .append("-")
                                   .append(text.substr(4, 2))
                                   .append("-")
                                   .append(text.substr(6));
  std::string_view rest = extended;
  const std::optional<double> date = take_date(rest);
  return date && text >= "1000" && text < "3000" ? date : std::nullopt;
}

// Keeps the order of doubles in unsigned integers, above 0, which stands for "no value".
std::uint64_t sortable(double number) {
  const auto bits = std::bit_cast<std::uint64_t>(number == 0 ? 0.0 : number);
  return (bits >> 63) != 0 ? ~bits : bits | (std::uint64_t{1} << 63);
}

}  // namespace

std::optional<Comparable> parse_comparable(std::string_view text) {
  const char* const end = text.data() + text.size();
  std::int64_t integer = 0;
  const auto [integer_end, no_integer] = std::from_chars(text.data(), end, integer);
  if (no_integer == std::errc() && integer_end == end) {
    const auto nearest = static_cast<double>(integer);
    // The nearest double of the largest integers is 2^63, which needs a wider type.
    return Comparable{nearest, static_cast<std::int16_t>(static_cast<Wide>(integer) -
                                                         static_cast<Wide>(nearest))};
  }
  double number = 0;
  const auto [number_end, no_number] = std::from_chars(text.data(), end, number);
  if (no_number == std::errc() && number_end == end && std::isfinite(number))
    return Comparable{number, 0};
  const std::optional<double> moment = parse_moment(text);
  if (!moment) return {};
  return Comparable{*moment, 0};
}

void KeepOrder::set_length(RecordId id, std::size_t length) {
  if (policy_.kind == KeepPolicy::Kind::kLongest) keys_.set(id, length);
}

bool KeepOrder::set_value(RecordId id, std::optional<std::string_view> value) {
  if (!value) return true;
  std::optional<Comparable> number = parse_comparable(*value);
  if (!number) return false;
  if (policy_.kind != KeepPolicy::Kind::kPriority) {
    if (const auto date = parse_basic_date(*value)) number = Comparable{*date, 0};
  }
  const int sign = policy_.kind == KeepPolicy::Kind::kOldest ? -1 : 1;
  keys_.set(id, sortable(sign * number->value));
  if (number->rest != 0) rests_.set(id, static_cast<std::int16_t>(sign * number->rest));
  return true;
}

std::string KeepOrder::encode(std::size_t records) const {
  if (policy_.kind == KeepPolicy::Kind::kFirst) return {};
  return keys_.encode(records) + rests_.encode(records);
}

void KeepOrder::decode(std::string_view bytes) {
  const std::size_t records = bytes.size() / (sizeof(std::uint64_t) + sizeof(std::int16_t));
  keys_.decode(bytes.substr(0, records * sizeof(std::uint64_t)));
  rests_.decode(bytes.substr(records * sizeof(std::uint64_t)));
}

}  // namespace kin::dedup
