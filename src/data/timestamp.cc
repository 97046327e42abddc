#include "data/timestamp.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cmath>

namespace kin::data {
namespace {

// Takes parts of a time off the front of a text.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  bool take(std::string_view any_of) {
    if (rest_.empty() || any_of.find(rest_[0]) == std::string_view::npos) return false;
    taken_ = rest_[0];
    rest_.remove_prefix(1);
    return true;
  }
  char taken() const { return taken_; }

  // Exactly `digits` digits, from `least` to `most`.
  std::optional<int> number(std::size_t digits, int least, int most) {
    if (rest_.size() < digits) return {};
    int value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      if (rest_[i] < '0' || rest_[i] > '9') return {};
      value = 10 * value + (rest_[i] - '0');
    }
    if (value < least || value > most) return {};
    rest_.remove_prefix(digits);
    return value;
  }

  void skip_digits() {
    while (!rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9') rest_.remove_prefix(1);
  }

 private:
  std::string_view rest_;
  char taken_ = '\0';
};

std::optional<std::int64_t> take_date(Reader& reader) {
  const auto year = reader.number(4, 0, 9999);
  if (!year || !reader.take("-")) return {};
  const auto month = reader.number(2, 1, 12);
  if (!month || !reader.take("-")) return {};
  const auto day = reader.number(2, 1, 31);
  if (!day) return {};
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return {};
  return std::chrono::sys_days(date).time_since_epoch() / std::chrono::seconds(1);
}

std::optional<std::int64_t> take_clock(Reader& reader) {
  const auto hour = reader.number(2, 0, 24);
  if (!hour || !reader.take(":")) return {};
  const auto minute = reader.number(2, 0, 59);
  if (!minute) return {};
  int seconds = 0;
  if (reader.take(":")) {
    const auto second = reader.number(2, 0, 60);
    if (!second) return {};
    seconds = *second;
    if (reader.take(".,")) reader.skip_digits();
  }
  return *hour * 3600 + *minute * 60 + seconds;
}

std::optional<std::int64_t> take_offset(Reader& reader) {
  if (reader.done() || reader.take("Zz")) return 0;
  if (!reader.take("+-")) return {};
  const int sign = reader.taken() == '+' ? 1 : -1;
  const auto hours = reader.number(2, 0, 23);
  if (!hours) return {};
  reader.take(":");
  const int minutes = reader.number(2, 0, 59).value_or(0);
  return sign * (*hours * 3600 + minutes * 60);
}

std::optional<std::int64_t> parse_iso(std::string_view text) {
  Reader reader(text);
  const auto date = take_date(reader);
  if (!date || reader.done()) return date;
  if (!reader.take("Tt ")) return {};
  const auto clock = take_clock(reader);
  if (!clock) return {};
  const auto offset = take_offset(reader);
  if (!offset || !reader.done()) return {};
  return *date + *clock - *offset;
}

std::optional<std::int64_t> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return {};
  constexpr double kFirstMilliseconds = 1e11;
  if (std::abs(value) >= kFirstMilliseconds) value /= 1000;
  constexpr double kYear9999 = 253402300799;
  if (std::abs(value) > kYear9999) return {};
  return static_cast<std::int64_t>(std::floor(value));
}

}  // namespace

std::optional<std::int64_t> parse_timestamp(std::string_view text) {
  if (const auto number = parse_number(text)) return number;
  return parse_iso(text);
}

std::string format_timestamp(std::int64_t seconds) {
  const std::chrono::sys_seconds time{std::chrono::seconds(seconds)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

}  // namespace kin::data
