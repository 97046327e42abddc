#include "data/text/json_record.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cstring>

#include "base/ascii.h"

namespace kin::data {
namespace {

static_assert(kJsonPadding >= simdjson::SIMDJSON_PADDING);

constexpr int kMaximumDepth = 500;
constexpr const char* kWrongEscape = "an escape in a string is wrong";
constexpr const char* kLoneSurrogate = "a lone surrogate is not text";

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view without_trailing_space(std::string_view text) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// The grammar of RFC 8259, not what fits a machine word: ids longer than 64 bits are valid.
bool is_number(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto digits = [&] {
    const char* const from = at;
    while (at < end && is_digit(*at)) ++at;
    return at > from;
  };
  if (at < end && *at == '-') ++at;
  if (at < end && *at == '0') {
    ++at;
  } else if (!digits()) {
    return false;
  }
  if (at < end && *at == '.') {
    ++at;
    if (!digits()) return false;
  }
  if (at < end && (*at == 'e' || *at == 'E')) {
    ++at;
    if (at < end && (*at == '+' || *at == '-')) ++at;
    if (!digits()) return false;
  }
  return at == end;
}

std::optional<std::uint32_t> four_hex_digits(const char* at, const char* end) {
  if (end - at < 4) return {};
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    const int digit = hex_value(at[i]);
    if (digit < 0) return {};
    value = value * 16 + static_cast<std::uint32_t>(digit);
  }
  return value;
}

char* put_utf8(std::uint32_t code, char* out) {
  const auto put = [&](std::uint32_t byte) { *out++ = static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }
  return out;
}

// Reads what follows "\u" at `at`, and moves `at` behind it. A surrogate without its other half,
// which the grammar allows and UTF-8 has no bytes for, stays one.
std::optional<std::uint32_t> unicode_escape(const char*& at, const char* end) {
  const auto first = four_hex_digits(at, end);
  if (!first) return {};
  at += 4;
  if (*first < 0xd800 || *first > 0xdbff) return first;
  if (end - at < 2 || at[0] != '\\' || at[1] != 'u') return first;
  const auto second = four_hex_digits(at + 2, end);
  if (!second || *second < 0xdc00 || *second > 0xdfff) return first;
  at += 6;
  return 0x10000 + ((*first - 0xd800) << 10) + (*second - 0xdc00);
}

bool is_surrogate(std::uint32_t code) {
  return code >= 0xd800 && code <= 0xdfff;
}

char simple_escape(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/': return c;
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return 0;
  }
}

// The inside of a string: what follows its closing quote in `token` can only be space.
std::string_view inside_of(std::string_view token) {
  token = without_trailing_space(token);
  return token.size() < 2 ? std::string_view() : token.substr(1, token.size() - 2);
}

bool has_escape(std::string_view inside) {
  return !inside.empty() && std::memchr(inside.data(), '\\', inside.size()) != nullptr;
}

std::string reason(simdjson::error_code code) {
  switch (code) {
    case simdjson::UTF8_ERROR: return "it is not valid UTF-8";
    case simdjson::UNESCAPED_CHARS: return "a control character in a string is not escaped";
    case simdjson::UNCLOSED_STRING: return "a string is not closed";
    case simdjson::CAPACITY: return "it is longer than 4 GB";
    case simdjson::MEMALLOC: return "there is no memory to read it";
    case simdjson::EMPTY: return "it is empty";
    default: return simdjson::error_message(code);
  }
}

}  // namespace

Unescaped unescape_json(std::string_view inside, char* out) {
  char* const begin = out;
  const char* at = inside.data();
  const char* const end = at + inside.size();
  while (at < end) {
    const auto* const slash =
        static_cast<const char*>(std::memchr(at, '\\', static_cast<std::size_t>(end - at)));
    const std::size_t plain = static_cast<std::size_t>((slash != nullptr ? slash : end) - at);
    std::memcpy(out, at, plain);
    out += plain;
    if (slash == nullptr) break;
    if (slash + 1 == end) return {0, kWrongEscape};
    at = slash + 2;
    if (slash[1] == 'u') {
      const auto code = unicode_escape(at, end);
      if (!code) return {0, kWrongEscape};
      if (is_surrogate(*code)) return {0, kLoneSurrogate};
      out = put_utf8(*code, out);
    } else if (const char c = simple_escape(slash[1]); c != 0) {
      *out++ = c;
    } else {
      return {0, kWrongEscape};
    }
  }
  return {static_cast<std::size_t>(out - begin), nullptr};
}

char* ValueArena::room(std::size_t bytes) {
  constexpr std::size_t kLeast = 256 << 10;
  if (chunks_.empty() || chunks_.back().size - used_ < bytes) {
    const std::size_t size = std::max(bytes, kLeast);
    chunks_.push_back({std::make_unique_for_overwrite<char[]>(size), size});
    used_ = 0;
  }
  return chunks_.back().bytes.get() + used_;
}

void ValueArena::clear() {
  // One chunk as large as all of them: the next batch will probably need as much.
  if (chunks_.size() > 1) {
    std::size_t total = 0;
    for (const Chunk& chunk : chunks_) total += chunk.size;
    chunks_.clear();
    chunks_.push_back({std::make_unique_for_overwrite<char[]>(total), total});
  }
  used_ = 0;
}

// Only the first stage of simdjson is used, which checks UTF-8 and finds where values begin, for
// a whole block at a time. Its On-Demand front end is compiled for the oldest processor and does
// not check what it skips; its DOM unescapes every string and refuses numbers that do not fit 64
// bits. The second stage is therefore our own.
struct JsonRecordReader::State {
  // A column that is still looked for inside an object: `rest` is what remains of its path there.
  struct Wanted {
    std::size_t column;
    std::string_view rest;
  };
  using Problem = std::optional<std::string>;

  std::vector<std::string> columns;
  std::vector<Wanted> top;
  JsonColumns kind = JsonColumns::kPaths;
  std::size_t optional_columns = 0;
  std::unique_ptr<JsonRecordReader> for_keys;
  std::vector<char> strings;  // for each column, whether its value is a string
  std::vector<int> found_at;  // the depth at which each column was found; the least deep wins
  std::unique_ptr<simdjson::internal::dom_parser_implementation> indexer;
  std::size_t capacity = 0;
  bool in_block = false;
  bool field_missing = false;  // the problem that read_record() returned last

  // The record being read: the next and the last of the places in `text` where something begins.
  const char* text = nullptr;
  const std::uint32_t* at = nullptr;
  const std::uint32_t* last = nullptr;
  const std::uint32_t* indexed_end = nullptr;
  const char* record_end = nullptr;
  ValueArena* arena = nullptr;
  std::string_view* values = nullptr;
  std::vector<std::string>* keys = nullptr;
  std::string key_text;
  std::vector<std::size_t> here;  // columns whose value comes next

  simdjson::error_code index(std::string_view bytes);
  Problem begin_record(std::string_view record);
  Problem read_record();
  Problem walk(const std::vector<Wanted>& wanted, int depth);
  Problem walk_object(const std::vector<Wanted>& wanted, int depth);
  Problem walk_field(const std::vector<Wanted>& wanted, int depth);
  Problem walk_array(int depth);
  Problem check_scalar(std::string_view token) const;
  void take(std::size_t column, int depth, const char* value);
  Problem take_string(int depth);
  std::optional<std::string_view> key_of(std::string_view token);

  bool done() const { return at == last; }
  char next() const { return done() ? '\0' : text[*at]; }
  // From the next place to the one after it, which ends it.
  std::string_view token() const {
    const char* const begin = text + *at;
    const char* const end = at + 1 == last ? record_end : text + at[1];
    return without_trailing_space({begin, static_cast<std::size_t>(end - begin)});
  }
};

simdjson::error_code JsonRecordReader::State::index(std::string_view bytes) {
  constexpr std::size_t kDepthNobodyUses = 1;
  if (bytes.size() > simdjson::SIMDJSON_MAXSIZE_BYTES) return simdjson::CAPACITY;
  if (indexer == nullptr || capacity < bytes.size()) {
    const std::size_t size = std::max<std::size_t>(bytes.size(), 4096);
    const auto error = simdjson::get_active_implementation()->create_dom_parser_implementation(
        size, kDepthNobodyUses, indexer);
    if (error) return error;
    capacity = size;
  }
  const auto error = indexer->stage1(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                     bytes.size(), simdjson::stage1_mode::regular);
  if (error) return error;
  text = bytes.data();
  at = indexer->structural_indexes.get();
  indexed_end = at + indexer->n_structural_indexes;
  return simdjson::SUCCESS;
}

JsonRecordReader::State::Problem JsonRecordReader::State::begin_record(std::string_view record) {
  if (!in_block) {
    if (const auto error = index(record)) return reason(error);
  }
  record_end = record.data() + record.size();
  const auto begin = static_cast<std::uint32_t>(record.data() - text);
  const auto end = static_cast<std::uint32_t>(record_end - text);
  while (at != indexed_end && *at < begin) ++at;
  last = in_block ? at : indexed_end;
  if (in_block) {
    // Records have few fields, so that a search from here is shorter than one by halves.
    while (last != indexed_end && *last < end) ++last;
  }
  return {};
}

JsonRecordReader::State::Problem JsonRecordReader::State::read_record() {
  std::fill(found_at.begin(), found_at.end(), kMaximumDepth + 1);
  if (next() != '{') return "it is not an object";
  if (auto problem = walk_object(top, 0)) return problem;
  if (!done()) return "something follows the end of the object";
  for (std::size_t column = 0; column < columns.size(); ++column) {
    if (found_at[column] <= kMaximumDepth) continue;
    if (kind == JsonColumns::kKeysOrNothing || column + optional_columns >= columns.size()) {
      values[column] = {};
      strings[column] = 0;
      continue;
    }
    field_missing = true;
    return fmt::format("field \"{}\" is missing", columns[column]);
  }
  return {};
}

JsonRecordReader::State::Problem JsonRecordReader::State::walk_object(
    const std::vector<Wanted>& wanted, int depth) {
  if (depth >= kMaximumDepth) return fmt::format("it is nested more than {} deep", kMaximumDepth);
  ++at;
  if (next() == '}') {
    ++at;
    return {};
  }
  for (;;) {
    if (auto problem = walk_field(wanted, depth)) return problem;
    const char c = next();
    if (c != ',' && c != '}')
      return done() ? "it is cut off" : "a comma or } is missing in an object";
    ++at;
    if (c == '}') return {};
  }
}

JsonRecordReader::State::Problem JsonRecordReader::State::walk_field(
    const std::vector<Wanted>& wanted, int depth) {
  if (next() != '"') return done() ? "it is cut off" : "a key in an object is not a string";
  const auto key = key_of(token());
  if (!key) return "an escape in a key is wrong";
  ++at;
  if (next() != ':') return done() ? "it is cut off" : "a colon is missing in an object";
  ++at;
  if (done()) return "it is cut off";
  if (keys != nullptr && depth == 0) keys->emplace_back(*key);
  // Found before the value is walked over: the key's text may move when deeper keys are read.
  here.clear();
  std::vector<Wanted> deeper;
  for (const Wanted& one : wanted) {
    if (!one.rest.starts_with(*key)) continue;
    if (one.rest.size() == key->size()) {
      here.push_back(one.column);
    } else if (one.rest[key->size()] == '.' && kind == JsonColumns::kPaths) {
      deeper.push_back({one.column, one.rest.substr(key->size() + 1)});
    }
  }
  if (here.empty()) return walk(deeper, depth);
  if (next() == '"') return take_string(depth);
  const std::vector<std::size_t> columns_here = here;
  const char* const value = text + *at;
  if (auto problem = walk(deeper, depth)) return problem;
  for (const std::size_t column : columns_here) take(column, depth, value);
  return {};
}

JsonRecordReader::State::Problem JsonRecordReader::State::walk_array(int depth) {
  if (depth >= kMaximumDepth) return fmt::format("it is nested more than {} deep", kMaximumDepth);
  ++at;
  if (next() == ']') {
    ++at;
    return {};
  }
  for (;;) {
    if (auto problem = walk({}, depth)) return problem;
    const char c = next();
    if (c != ',' && c != ']')
      return done() ? "it is cut off" : "a comma or ] is missing in an array";
    ++at;
    if (c == ']') return {};
  }
}

JsonRecordReader::State::Problem JsonRecordReader::State::walk(const std::vector<Wanted>& wanted,
                                                               int depth) {
  if (done()) return "it is cut off";
  switch (next()) {
    case '{': return walk_object(wanted, depth + 1);
    case '[': return walk_array(depth + 1);
    default: break;
  }
  if (auto problem = check_scalar(token())) return problem;
  ++at;
  return {};
}

JsonRecordReader::State::Problem JsonRecordReader::State::check_scalar(
    std::string_view token) const {
  if (token.front() == '"') {
    const std::string_view inside = inside_of(token);
    if (!has_escape(inside)) return {};
    const Unescaped unescaped = unescape_json(inside, arena->room(inside.size()));
    return unescaped.problem != nullptr ? Problem(unescaped.problem) : Problem();
  }
  if (token == "true" || token == "false" || token == "null" || is_number(token)) return {};
  constexpr std::size_t kShown = 40;
  return fmt::format("{} is not a JSON value", token.substr(0, kShown));
}

// The value from `value` up to what is read next, which is a comma or a closing bracket.
void JsonRecordReader::State::take(std::size_t column, int depth, const char* value) {
  if (found_at[column] <= depth) return;
  found_at[column] = depth;
  strings[column] = 0;
  const char* const end = done() ? record_end : text + *at;
  const std::string_view token =
      without_trailing_space({value, static_cast<std::size_t>(end - value)});
  values[column] = token == "null" ? std::string_view() : token;
}

JsonRecordReader::State::Problem JsonRecordReader::State::take_string(int depth) {
  std::string_view inside = inside_of(token());
  ++at;
  if (has_escape(inside)) {
    char* const room = arena->room(inside.size());
    const Unescaped unescaped = unescape_json(inside, room);
    if (unescaped.problem != nullptr) return unescaped.problem;
    arena->take(unescaped.length);
    inside = {room, unescaped.length};
  }
  for (const std::size_t column : here) {
    if (found_at[column] <= depth) continue;
    found_at[column] = depth;
    strings[column] = 1;
    values[column] = inside;
  }
  return {};
}

std::optional<std::string_view> JsonRecordReader::State::key_of(std::string_view token) {
  const std::string_view inside = inside_of(token);
  if (!has_escape(inside)) return inside;
  key_text.resize(inside.size());
  const Unescaped unescaped = unescape_json(inside, key_text.data());
  if (unescaped.problem != nullptr) return {};
  return std::string_view(key_text).substr(0, unescaped.length);
}

JsonRecordReader::JsonRecordReader(std::vector<std::string> columns, JsonColumns kind,
                                   std::size_t optional_columns)
    : state_(std::make_unique<State>()) {
  state_->columns = std::move(columns);
  state_->kind = kind;
  state_->optional_columns = optional_columns;
  state_->strings.resize(state_->columns.size());
  for (std::size_t i = 0; i < state_->columns.size(); ++i)
    state_->top.push_back({i, state_->columns[i]});
  state_->found_at.resize(state_->columns.size());
}

JsonRecordReader::~JsonRecordReader() = default;
JsonRecordReader::JsonRecordReader(JsonRecordReader&&) noexcept = default;

void JsonRecordReader::begin_block(std::string_view block) {
  // A block that is not valid as a whole is read record by record, to find those that are not.
  // Line ends inside strings are invalid, so that in a valid block no string spans two lines.
  state_->in_block = state_->index(block) == simdjson::SUCCESS;
}

void JsonRecordReader::end_block() {
  state_->in_block = false;
}

std::optional<RecordProblem> JsonRecordReader::read(std::string_view record, ValueArena& arena,
                                                    std::string_view* values) {
  using Kind = RecordProblem::Kind;
  state_->arena = &arena;
  state_->values = values;
  state_->field_missing = false;
  if (auto problem = state_->begin_record(record))
    return RecordProblem{Kind::kMalformed, std::move(*problem)};
  auto problem = state_->read_record();
  state_->at = state_->last;
  if (!problem) return {};
  return RecordProblem{state_->field_missing ? Kind::kFieldMissing : Kind::kMalformed,
                       std::move(*problem)};
}

bool JsonRecordReader::was_string(std::size_t column) const {
  return state_->strings[column] != 0;
}

std::vector<std::string> JsonRecordReader::keys(std::string_view record) {
  if (state_->for_keys == nullptr)
    state_->for_keys = std::make_unique<JsonRecordReader>(std::vector<std::string>{});
  JsonRecordReader& other = *state_->for_keys;
  ValueArena arena;
  std::vector<std::string> found;
  other.state_->keys = &found;
  (void)other.read(record, arena, nullptr);  // what can be read of it is all that is asked for
  return found;
}

}  // namespace kin::data
