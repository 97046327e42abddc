#include "stories/date_parser.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

#include "base/ascii.h"
#include "data/timestamp.h"

namespace kin::stories {
namespace {

using std::chrono::minutes;

struct Token {
  enum class Kind { kNumber, kWord, kSign };
  Kind kind = Kind::kSign;
  std::string_view text;
  std::string word;     // of kWord, in lower case
  int value = 0;        // of kNumber
  bool spaced = false;  // white space in front
};

bool is_word(char c) {
  return is_ascii_alpha(c) || static_cast<unsigned char>(c) >= 0x80;
}

// Longer texts are not dates; the bounds keep hostile feeds cheap.
constexpr std::size_t kLongestText = 100;
constexpr std::size_t kLongestNumber = 14;

// Empty if the text, or a number in it, is too long for a date.
std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  bool spaced = false;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r') {
      spaced = true;
      ++i;
      continue;
    }
    Token token{.text = {}, .word = {}, .spaced = spaced};
    // A run of digits or of letters is one token, any other character a token by itself.
    const auto type = is_ascii_digit(text[i]) ? &is_ascii_digit
                      : is_word(text[i])      ? &is_word
                                              : nullptr;
    std::size_t end = i + 1;
    while (type != nullptr && end < text.size() && type(text[end])) ++end;
    token.text = text.substr(i, end - i);
    if (type == &is_ascii_digit) {
      if (token.text.size() > kLongestNumber) return {};
      token.kind = Token::Kind::kNumber;
      // Longer numbers may not fit into an int. They matter as texts only: Unix times and 14-digit
      // dates.
      if (token.text.size() <= 9) token.value = parse_number<int>(token.text).value_or(0);
    } else if (type == &is_word) {
      token.kind = Token::Kind::kWord;
      token.word = ascii_lowered(token.text);
    }
    tokens.push_back(std::move(token));
    spaced = false;
    i = end;
  }
  return tokens;
}

struct NamedNumber {
  std::string_view name;
  int number;
};

// Matched by their first letters, so a longer name comes before its prefix.
constexpr NamedNumber kMonths[] = {
    {"jan", 1},  {"feb", 2},  {"mar", 3},  {"apr", 4},  {"may", 5},  {"jun", 6}, {"jul", 7},
    {"aug", 8},  {"sep", 9},  {"oct", 10}, {"nov", 11}, {"dec", 12}, {"mär", 3}, {"mrz", 3},
    {"mai", 5},  {"okt", 10}, {"dez", 12}, {"fév", 2},  {"fev", 2},  {"avr", 4}, {"juin", 6},
    {"juil", 7}, {"aoû", 8},  {"aou", 8},  {"déc", 12}, {"ene", 1},  {"abr", 4}, {"ago", 8},
    {"dic", 12}, {"gen", 1},  {"mag", 5},  {"giu", 6},  {"lug", 7},  {"set", 9}, {"ott", 10},
    {"out", 10}, {"mei", 5},  {"maj", 5},  {"mrt", 3},  {"maa", 3},
};

int month_of(std::string_view word) {
  for (const NamedNumber& month : kMonths) {
    if (word.starts_with(month.name)) return month.number;
  }
  return 0;
}

// In minutes east of Greenwich. "ist" is India's: of its three zones the one with most feeds.
constexpr NamedNumber kZones[] = {
    {"z", 0},      {"ut", 0},      {"utc", 0},     {"gmt", 0},    {"wet", 0},    {"est", -300},
    {"edt", -240}, {"cst", -360},  {"cdt", -300},  {"mst", -420}, {"mdt", -360}, {"pst", -480},
    {"pdt", -420}, {"akst", -540}, {"akdt", -480}, {"hst", -600}, {"ast", -240}, {"adt", -180},
    {"nst", -210}, {"ndt", -150},  {"brt", -180},  {"art", -180}, {"bst", 60},   {"west", 60},
    {"cet", 60},   {"cest", 120},  {"met", 60},    {"mest", 120}, {"mez", 60},   {"mesz", 120},
    {"eet", 120},  {"eest", 180},  {"sast", 120},  {"msk", 180},  {"trt", 180},  {"gst", 240},
    {"pkt", 300},  {"ist", 330},   {"wib", 420},   {"ict", 420},  {"hkt", 480},  {"sgt", 480},
    {"awst", 480}, {"jst", 540},   {"kst", 540},   {"acst", 570}, {"acdt", 630}, {"aest", 600},
    {"aedt", 660}, {"nzst", 720},  {"nzdt", 780},
};

struct Fields {
  int year = -1;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int offset = 0;  // minutes east
};

std::optional<Time> time_of(const Fields& f) {
  using namespace std::chrono;
  const year_month_day date(year(f.year), month(static_cast<unsigned>(f.month)),
                            day(static_cast<unsigned>(f.day)));
  // ok() also refuses the 30th of February.
  if (f.year < 1900 || f.year > 2199 || !date.ok()) return std::nullopt;
  // ISO 8601 allows 24:00 for the end of a day.
  const bool midnight = f.hour == 24 && f.minute == 0 && f.second == 0;
  if ((f.hour > 23 && !midnight) || f.minute > 59 || f.second > 60) return std::nullopt;
  if (f.offset < -18 * 60 || f.offset > 18 * 60) return std::nullopt;
  // The offset is east of Greenwich, so it is subtracted. A leap second is the one before it.
  return sys_days(date) + hours(f.hour) + minutes(f.minute - f.offset) +
         seconds(std::min(f.second, 59));
}

int full_year(int year, std::size_t digits) {
  // RFC 2822, section 4.3, has this rule, and that three digits count from 1900.
  if (digits == 2) return year + (year < 50 ? 2000 : 1900);
  return digits == 3 ? year + 1900 : year;
}

// Takes tokens off the front.
class TokenReader {
 public:
  explicit TokenReader(const std::vector<Token>& tokens) : tokens_(tokens) {}

  const Token* peek(std::size_t ahead = 0) const {
    return at_ + ahead < tokens_.size() ? &tokens_[at_ + ahead] : nullptr;
  }
  bool is_number(std::size_t ahead = 0) const { return is(Token::Kind::kNumber, ahead); }
  bool is_word() const { return is(Token::Kind::kWord, 0); }
  bool is_word(std::string_view lower) const { return is_word() && peek()->word == lower; }
  bool is_sign(std::string_view signs, std::size_t ahead = 0) const {
    return is(Token::Kind::kSign, ahead) &&
           signs.find(peek(ahead)->text[0]) != std::string_view::npos;
  }
  const Token& take() { return tokens_[at_++]; }
  // Takes one of `signs` and the number behind it, if both are next.
  std::optional<int> take_number_after(std::string_view signs) {
    if (!is_sign(signs) || !is_number(1)) return std::nullopt;
    take();
    return take().value;
  }
  bool skip_word(std::string_view lower) {
    if (!is_word(lower)) return false;
    ++at_;
    return true;
  }
  bool skip(std::string_view signs) {
    if (!is_sign(signs)) return false;
    ++at_;
    return true;
  }

 private:
  bool is(Token::Kind kind, std::size_t ahead) const {
    const Token* token = peek(ahead);
    return token != nullptr && token->kind == kind;
  }

  const std::vector<Token>& tokens_;
  std::size_t at_ = 0;
};

int two_digits(std::string_view text, std::size_t at) {
  return (text[at] - '0') * 10 + (text[at + 1] - '0');
}

// "08:05:30.25 pm", "8.05", "0805", "080530". False if the tokens are not a time of day.
bool read_clock(TokenReader& in, Fields& f) {
  if (!in.is_number()) return false;
  const Token& first = in.take();
  // "0805" and "080530": no separators.
  if (first.text.size() == 4 || first.text.size() == 6) {
    f.hour = two_digits(first.text, 0);
    f.minute = two_digits(first.text, 2);
    f.second = first.text.size() == 6 ? two_digits(first.text, 4) : 0;
  } else {
    f.hour = first.value;
    if (const auto minute = in.take_number_after(":.")) {
      f.minute = *minute;
      f.second = in.take_number_after(":").value_or(0);
    }
  }
  in.take_number_after(".,");  // a fraction of a second
  if (in.is_word("am") || in.is_word("pm")) {
    const bool afternoon = in.take().word == "pm";
    if (f.hour < 1 || f.hour > 12) return false;
    // 12 am is midnight, and 12 pm is noon.
    f.hour = f.hour % 12 + (afternoon ? 12 : 0);
  }
  return true;
}

// "+0100", "-05:30", "+1", behind its sign.
int read_offset(TokenReader& in) {
  const Token& digits = in.take();
  // Hours and minutes together. A sign without them is followed by hours alone.
  if (digits.text.size() >= 3) return digits.value / 100 * 60 + digits.value % 100;
  return digits.value * 60 + in.take_number_after(":").value_or(0);
}

// Reads a zone if there is one. Unknown zones are UTC.
void read_zone(TokenReader& in, Fields& f) {
  // Some mailers put the zone in parentheses.
  in.skip("(");
  if (in.is_word()) {
    const auto* const zone = std::ranges::find(kZones, in.take().word, &NamedNumber::name);
    f.offset = zone == std::end(kZones) ? 0 : zone->number;
  }
  // "GMT+2", and the sign U+2212 is left out: it is read as a word, hence as UTC.
  if (in.is_sign("+-") && in.is_number(1)) {
    const int direction = in.take().text == "-" ? -1 : 1;
    f.offset += direction * read_offset(in);
  }
}

// Reads the time of day and the zone after a date, if they are there.
std::optional<Time> finish(TokenReader& in, Fields f) {
  if (in.is_number() && !read_clock(in, f)) return std::nullopt;
  read_zone(in, f);
  return time_of(f);
}

// "2024-03-05T08:05:00+01:00", "20240305T080500Z", "2024-03", "2024/3/5 8:05".
std::optional<Time> parse_year_first(TokenReader in) {
  Fields f{.month = 1, .day = 1};
  const Token& first = in.take();
  if (first.text.size() >= 8) {
    const int date = parse_number<int>(first.text.substr(0, 8)).value_or(0);
    f = {.year = date / 10000, .month = date / 100 % 100, .day = date % 100};
  }
  if (first.text.size() == 14) {
    f.hour = two_digits(first.text, 8);
    f.minute = two_digits(first.text, 10);
    f.second = two_digits(first.text, 12);
    read_zone(in, f);
    return time_of(f);
  }
  if (first.text.size() == 4) {
    f.year = first.value;
    f.month = in.take_number_after("-/.").value_or(1);
    f.day = in.take_number_after("-/.").value_or(1);
  }
  in.skip(",");
  in.skip_word("t");
  return finish(in, f);
}

// "05/03/2024 8:05", "5.3.2024".
std::optional<Time> parse_short(TokenReader in) {
  const int first = in.take().value;
  const bool dotted = in.take().text == ".";
  const int second = in.take().value;
  in.take();
  const Token& year = in.take();
  Fields f{.year = full_year(year.value, year.text.size())};
  // Dots are written where the day goes first.
  // Otherwise the month comes first, unless its number is above 12.
  const bool day_first = first > 12 || (dotted && second <= 12);
  f.day = day_first ? first : second;
  f.month = day_first ? second : first;
  in.skip(",");
  return finish(in, f);
}

// Skips what may follow a day: "5th", "5.", "5 de".
void skip_ordinal(TokenReader& in) {
  static constexpr std::string_view kOrdinals[] = {"st", "nd", "rd", "th", "de", "of"};
  if (in.is_word() && std::ranges::find(kOrdinals, in.peek()->word) != std::end(kOrdinals))
    in.take();
  in.skip(".");
}

bool read_year(TokenReader& in, Fields& f) {
  if (!in.is_number()) return false;
  const Token& year = in.take();
  f.year = full_year(year.value, year.text.size());
  return true;
}

bool is_clock_next(const TokenReader& in) {
  return in.is_number() && in.is_sign(":", 1);
}

// "5 Mar 2024 08:05", behind the weekday.
std::optional<Time> parse_day_first(TokenReader in) {
  Fields f{.day = in.take().value};
  skip_ordinal(in);
  // "5-Mar-2024".
  in.skip("-/");
  if (in.is_word()) f.month = month_of(in.take().word);
  if (f.month == 0) return std::nullopt;
  in.skip(".");
  in.skip(",-/");
  in.skip_word("de");
  if (!read_year(in, f)) return std::nullopt;
  in.skip(",:-");
  if (!in.skip_word("at")) in.skip_word("t");
  return finish(in, f);
}

// "Mar 5, 2024 8:05 PM", and "Mar 5 08:05:00 UTC 2024", behind the weekday.
std::optional<Time> parse_month_first(TokenReader in) {
  Fields f{.month = month_of(in.take().word)};
  in.skip(".");
  if (!in.is_number()) return std::nullopt;
  f.day = in.take().value;
  skip_ordinal(in);
  in.skip(",");
  // asctime() and date(1) put the year last.
  if (is_clock_next(in)) {
    if (!read_clock(in, f)) return std::nullopt;
    if (in.is_word() || in.is_sign("+-")) read_zone(in, f);
    return read_year(in, f) ? time_of(f) : std::nullopt;
  }
  if (!read_year(in, f)) return std::nullopt;
  in.skip(",-");
  in.skip_word("at");
  return finish(in, f);
}

// In French "mar." is also a weekday. If two months follow each other, the first is a weekday.
bool names_two_months(const std::vector<Token>& tokens) {
  return std::count_if(tokens.begin(), tokens.end(), [](const Token& token) {
           return token.kind == Token::Kind::kWord && month_of(token.word) != 0;
         }) > 1;
}

std::optional<Time> parse_unix(std::string_view digits) {
  const auto number = parse_number<std::int64_t>(digits).value_or(0);
  return Time(std::chrono::seconds(digits.size() == 13 ? number / 1000 : number));
}

}  // namespace

std::optional<Time> parse_date(std::string_view text) {
  if (text.size() > kLongestText) return std::nullopt;
  const std::vector<Token> tokens = tokens_of(text);
  TokenReader in(tokens);
  // Ten digits are seconds from 2001 to 2286, thirteen are milliseconds.
  if (in.is_number() && tokens.size() == 1 &&
      (tokens[0].text.size() == 10 || tokens[0].text.size() == 13))
    return parse_unix(tokens[0].text);
  // Weekdays in any language, and other words in front.
  while (in.is_word() && month_of(in.peek()->word) == 0) {
    in.take();
    in.skip(".");
    in.skip(",");
  }
  if (in.is_word() && names_two_months(tokens)) {
    in.take();
    in.skip(".");
  }
  in.skip(",");
  if (in.is_word()) return parse_month_first(in);
  if (!in.is_number()) return std::nullopt;
  const std::size_t digits = in.peek()->text.size();
  // The length of the first number tells the format: only years have four digits.
  if (digits == 4 || digits == 8 || digits == 14) return parse_year_first(in);
  if (digits > 2) return std::nullopt;
  const bool numeric =
      in.is_sign("/.-", 1) && in.is_number(2) && in.is_sign("/.-", 3) && in.is_number(4);
  return numeric ? parse_short(in) : parse_day_first(in);
}

std::string format_date(Time time) {
  return data::format_timestamp(time.time_since_epoch() / std::chrono::seconds(1));
}

}  // namespace kin::stories
