#include "data/text/json_record.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cstring>

#include "data/text/json_cursor.h"

namespace kin::data {
namespace {

static_assert(kJsonPadding >= simdjson::SIMDJSON_PADDING);

constexpr int kMaximumDepth = 500;
constexpr std::string_view kElements = "[]";
// An index takes four bytes for each byte of text.
constexpr std::size_t kLargestIndexed = 2 << 20;

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

using Problem = std::optional<std::string>;

// A column that is searched for inside a value: `rest` is the remaining path, beginning with [] if
// the value has to be a list. A list has many values, and all of them count.
struct Wanted {
  std::size_t column;
  std::string_view rest;
  bool in_list = false;
};

// A value of a record.
struct Taken {
  std::string_view value;
  std::string_view raw;
  bool is_string = false;
};

Problem too_deep() {
  return fmt::format("it is nested more than {} deep", kMaximumDepth);
}

}  // namespace

// Only the first stage of simdjson is used, which checks UTF-8 and finds where values begin, for
// a whole block at a time. Its On-Demand front end is compiled for the oldest processor and does
// not check what it skips; its DOM unescapes every string and refuses numbers that do not fit 64
// bits. The second stage is therefore our own.
struct JsonRecordReader::State {
  std::vector<std::string> columns;
  std::vector<Wanted> top;
  JsonColumns kind = JsonColumns::kPaths;
  std::size_t optional_columns = 0;
  std::unique_ptr<JsonRecordReader> for_keys;
  std::vector<char> strings;           // for each column, whether its value is a string
  std::vector<std::string_view> raws;  // for each column, the value as it lies in the record
  std::vector<int> found_at;           // the depth at which each was found; the least deep wins
  std::vector<char> ever_found;        // for each column, whether any record had it
  std::vector<std::vector<std::string_view>> pieces;  // for each column, its values in a list
  std::unique_ptr<simdjson::internal::dom_parser_implementation> indexer;
  std::size_t capacity = 0;
  bool in_block = false;
  bool field_missing = false;  // the problem that read_record() returned last

  // The positions of tokens in `text`, from the next record on.
  const char* text = nullptr;
  const std::uint32_t* at = nullptr;
  const std::uint32_t* indexed_end = nullptr;

  ValueArena* arena = nullptr;
  std::string_view* values = nullptr;
  std::vector<std::string>* keys = nullptr;
  std::string key_text;
  std::vector<Wanted> here;  // columns whose value comes next

  simdjson::error_code index(std::string_view bytes);
  Problem read_indexed(std::string_view record);
  Problem read_scanned(std::string_view record);
  Problem finish_columns();
  void join_pieces(std::size_t column);
  void note_found(std::size_t column, int depth);
  std::string_view key_of(std::string_view token);
  void match_key(std::string_view key, const std::vector<Wanted>& wanted,
                 std::vector<Wanted>& deeper);

  template <typename Cursor>
  Problem read_record(Cursor& cursor);
  template <typename Cursor>
  Problem walk(Cursor& cursor, const std::vector<Wanted>& wanted, int depth);
  template <typename Cursor>
  Problem walk_object(Cursor& cursor, const std::vector<Wanted>& wanted, int depth);
  template <typename Cursor>
  Problem walk_field(Cursor& cursor, const std::vector<Wanted>& wanted, int depth);
  template <typename Cursor>
  Problem walk_array(Cursor& cursor, const std::vector<Wanted>& wanted, int depth);
  template <typename Cursor>
  Problem walk_element(Cursor& cursor, const std::vector<Wanted>& wanted, int depth);
  template <typename Cursor>
  Problem take_string(Cursor& cursor, Taken& taken);
  template <typename Cursor>
  Problem take_other(Cursor& cursor, const std::vector<Wanted>& deeper, int depth, Taken& taken);
  void store(const std::vector<Wanted>& ending, int depth, const Taken& taken);
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

Problem JsonRecordReader::State::read_indexed(std::string_view record) {
  if (!in_block) {
    if (const auto error = index(record)) return reason(error);
  }
  const char* const record_end = record.data() + record.size();
  const auto begin = static_cast<std::uint32_t>(record.data() - text);
  const auto end = static_cast<std::uint32_t>(record_end - text);
  while (at != indexed_end && *at < begin) ++at;
  const std::uint32_t* last = in_block ? at : indexed_end;
  if (in_block) {
    // Records have few fields, so a linear search is faster than a binary one.
    while (last != indexed_end && *last < end) ++last;
  }
  IndexedCursor cursor(text, at, last, record_end);
  at = last;
  return read_record(cursor);
}

Problem JsonRecordReader::State::read_scanned(std::string_view record) {
  if (!simdjson::validate_utf8(record.data(), record.size())) return reason(simdjson::UTF8_ERROR);
  if (const char* problem = check_strings(record)) return problem;
  ScanningCursor cursor(record);
  return read_record(cursor);
}

template <typename Cursor>
Problem JsonRecordReader::State::read_record(Cursor& cursor) {
  std::fill(found_at.begin(), found_at.end(), kMaximumDepth + 1);
  if (cursor.next() != '{') return "it is not an object";
  if (auto problem = walk_object(cursor, top, 0)) return problem;
  if (!cursor.done()) return "something follows the end of the object";
  return finish_columns();
}

Problem JsonRecordReader::State::finish_columns() {
  for (std::size_t column = 0; column < columns.size(); ++column) {
    if (found_at[column] <= kMaximumDepth) {
      if (!pieces[column].empty()) join_pieces(column);
      continue;
    }
    values[column] = {};
    raws[column] = {};
    strings[column] = 0;
    if (kind == JsonColumns::kKeysOrNothing || column + optional_columns >= columns.size())
      continue;
    field_missing = true;
    return fmt::format("field \"{}\" is missing", columns[column]);
  }
  return {};
}

void JsonRecordReader::State::join_pieces(std::size_t column) {
  std::vector<std::string_view>& list = pieces[column];
  strings[column] = 1;
  values[column] = list.front();
  if (list.size() > 1) {
    std::size_t length = list.size() - 1;
    for (const std::string_view piece : list) length += piece.size();
    char* const room = arena->room(length);
    char* to = room;
    for (const std::string_view& piece : list) {
      if (&piece != &list.front()) *to++ = '\n';
      to = std::copy(piece.begin(), piece.end(), to);
    }
    arena->take(length);
    values[column] = {room, length};
  }
  list.clear();
}

void JsonRecordReader::State::note_found(std::size_t column, int depth) {
  found_at[column] = depth;
  ever_found[column] = 1;
}

template <typename Cursor>
Problem JsonRecordReader::State::walk_object(Cursor& cursor, const std::vector<Wanted>& wanted,
                                             int depth) {
  if (depth >= kMaximumDepth) return too_deep();
  cursor.advance();
  if (cursor.next() == '}') {
    cursor.advance();
    return {};
  }
  for (;;) {
    if (auto problem = walk_field(cursor, wanted, depth)) return problem;
    const char c = cursor.next();
    if (c != ',' && c != '}')
      return cursor.done() ? "it is cut off" : "a comma or } is missing in an object";
    cursor.advance();
    if (c == '}') return {};
  }
}

// Fills `here` with the columns that end at `key`, and `deeper` with those that continue in its
// value.
void JsonRecordReader::State::match_key(std::string_view key, const std::vector<Wanted>& wanted,
                                        std::vector<Wanted>& deeper) {
  here.clear();
  for (const Wanted& one : wanted) {
    if (!one.rest.starts_with(key)) continue;
    const std::string_view behind = one.rest.substr(key.size());
    if (behind.empty()) {
      here.push_back(one);
    } else if (kind == JsonColumns::kPaths && behind.starts_with('.')) {
      deeper.push_back({one.column, behind.substr(1), one.in_list});
    } else if (kind == JsonColumns::kPaths && behind.starts_with(kElements)) {
      deeper.push_back({one.column, behind, one.in_list});
    }
  }
}

template <typename Cursor>
Problem JsonRecordReader::State::walk_field(Cursor& cursor, const std::vector<Wanted>& wanted,
                                            int depth) {
  if (cursor.next() != '"')
    return cursor.done() ? "it is cut off" : "a key in an object is not a string";
  const std::string_view key = key_of(cursor.token());
  cursor.advance();
  if (cursor.next() != ':')
    return cursor.done() ? "it is cut off" : "a colon is missing in an object";
  cursor.advance();
  if (cursor.done()) return "it is cut off";
  if (keys != nullptr && depth == 0) keys->emplace_back(key);
  // Matched before the value is walked over, because reading deeper keys may move the key's text.
  std::vector<Wanted> deeper;
  match_key(key, wanted, deeper);
  if (here.empty()) return walk(cursor, deeper, depth);
  Taken taken;
  if (cursor.next() == '"') {
    if (auto problem = take_string(cursor, taken)) return problem;
    store(here, depth, taken);
    return {};
  }
  const std::vector<Wanted> ending = here;
  if (auto problem = take_other(cursor, deeper, depth, taken)) return problem;
  store(ending, depth, taken);
  return {};
}

// Stores a value for the columns that end with it.
void JsonRecordReader::State::store(const std::vector<Wanted>& ending, int depth,
                                    const Taken& taken) {
  for (const Wanted& one : ending) {
    const std::size_t column = one.column;
    if (one.in_list) {
      if (taken.value.data() != nullptr) pieces[column].push_back(taken.value);
      continue;
    }
    if (found_at[column] <= depth) continue;
    note_found(column, depth);
    pieces[column].clear();
    strings[column] = taken.is_string ? 1 : 0;
    values[column] = taken.value;
    raws[column] = taken.raw;
  }
}

template <typename Cursor>
Problem JsonRecordReader::State::walk_array(Cursor& cursor, const std::vector<Wanted>& wanted,
                                            int depth) {
  if (depth >= kMaximumDepth) return too_deep();
  std::vector<Wanted> elements;
  for (const Wanted& one : wanted) {
    if (!one.rest.starts_with(kElements)) continue;
    if (!one.in_list) {
      if (found_at[one.column] <= depth) continue;
      note_found(one.column, depth);
      values[one.column] = {};
      raws[one.column] = {};
      strings[one.column] = 0;
    }
    elements.push_back({one.column, one.rest.substr(kElements.size()), true});
  }
  cursor.advance();
  if (cursor.next() == ']') {
    cursor.advance();
    return {};
  }
  for (;;) {
    if (auto problem = walk_element(cursor, elements, depth)) return problem;
    const char c = cursor.next();
    if (c != ',' && c != ']')
      return cursor.done() ? "it is cut off" : "a comma or ] is missing in an array";
    cursor.advance();
    if (c == ']') return {};
  }
}

// One element of a list. The paths of `wanted` continue with nothing, with .key or with [].
template <typename Cursor>
Problem JsonRecordReader::State::walk_element(Cursor& cursor, const std::vector<Wanted>& wanted,
                                              int depth) {
  if (wanted.empty()) return walk(cursor, wanted, depth);
  std::vector<Wanted> ending;
  std::vector<Wanted> deeper;
  for (const Wanted& one : wanted) {
    if (one.rest.empty()) ending.push_back(one);
    if (one.rest.starts_with('.')) deeper.push_back({one.column, one.rest.substr(1), true});
    if (one.rest.starts_with(kElements)) deeper.push_back(one);
  }
  if (ending.empty()) return walk(cursor, deeper, depth);
  Taken taken;
  if (auto problem = cursor.next() == '"' ? take_string(cursor, taken)
                                          : take_other(cursor, deeper, depth, taken))
    return problem;
  store(ending, depth, taken);
  return {};
}

template <typename Cursor>
Problem JsonRecordReader::State::walk(Cursor& cursor, const std::vector<Wanted>& wanted,
                                      int depth) {
  if (cursor.done()) return "it is cut off";
  switch (cursor.next()) {
    case '{': return walk_object(cursor, wanted, depth + 1);
    case '[': return walk_array(cursor, wanted, depth + 1);
    case '}':
    case ']':
    case ',':
    case ':': return fmt::format("a value is missing before {}", cursor.next());
    default: break;
  }
  // The value was not requested, so it may be anything.
  cursor.advance();
  return {};
}

// A value that is not a string, up to the next comma or closing bracket.
template <typename Cursor>
Problem JsonRecordReader::State::take_other(Cursor& cursor, const std::vector<Wanted>& deeper,
                                            int depth, Taken& taken) {
  const char* const begin = cursor.place();
  const bool is_scalar = cursor.next() != '{' && cursor.next() != '[';
  if (auto problem = walk(cursor, deeper, depth)) return problem;
  taken.raw = without_trailing_space({begin, static_cast<std::size_t>(cursor.place() - begin)});
  constexpr std::size_t kShown = 40;
  if (is_scalar && !is_json_scalar(taken.raw))
    return fmt::format("{} is not a JSON value", taken.raw.substr(0, kShown));
  taken.value = taken.raw == "null" ? std::string_view() : taken.raw;
  return {};
}

template <typename Cursor>
Problem JsonRecordReader::State::take_string(Cursor& cursor, Taken& taken) {
  taken.raw = cursor.token();
  taken.is_string = true;
  const std::string_view inside = inside_of(taken.raw);
  cursor.advance();
  taken.value = inside.data() == nullptr ? std::string_view("", 0) : inside;
  if (!has_escape(inside)) return {};
  char* const room = arena->room(inside.size());
  const Unescaped unescaped = unescape_json(inside, room);
  if (unescaped.problem != nullptr) return unescaped.problem;
  arena->take(unescaped.length);
  taken.value = {room, unescaped.length};
  return {};
}

// A key with a wrong escape is compared as it is written, and matches no column.
std::string_view JsonRecordReader::State::key_of(std::string_view token) {
  const std::string_view inside = inside_of(token);
  if (!has_escape(inside)) return inside;
  key_text.resize(inside.size());
  const Unescaped unescaped = unescape_json(inside, key_text.data());
  if (unescaped.problem != nullptr) return inside;
  return std::string_view(key_text).substr(0, unescaped.length);
}

JsonRecordReader::JsonRecordReader(std::vector<std::string> columns, JsonColumns kind,
                                   std::size_t optional_columns)
    : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.columns = std::move(columns);
  state.kind = kind;
  state.optional_columns = optional_columns;
  const std::size_t count = state.columns.size();
  for (std::size_t i = 0; i < count; ++i) state.top.push_back({i, state.columns[i]});
  state.strings.resize(count);
  state.raws.resize(count);
  state.found_at.resize(count);
  state.ever_found.resize(count);
  state.pieces.resize(count);
}

JsonRecordReader::~JsonRecordReader() = default;
JsonRecordReader::JsonRecordReader(JsonRecordReader&&) noexcept = default;

void JsonRecordReader::begin_block(std::string_view block) {
  // If a block is not valid as a whole, its records are read one by one, to find the invalid ones.
  // Line ends inside strings are invalid, so in a valid block no string spans two lines.
  state_->in_block = block.size() <= kLargestIndexed && state_->index(block) == simdjson::SUCCESS;
}

void JsonRecordReader::end_block() {
  state_->in_block = false;
}

std::optional<RecordProblem> JsonRecordReader::read(std::string_view record, ValueArena& arena,
                                                    std::string_view* values) {
  using Kind = RecordProblem::Kind;
  State& state = *state_;
  state.arena = &arena;
  state.values = values;
  state.field_missing = false;
  for (auto& list : state.pieces) list.clear();
  auto problem = state.in_block || record.size() <= kLargestIndexed ? state.read_indexed(record)
                                                                    : state.read_scanned(record);
  if (!problem) return {};
  return RecordProblem{state.field_missing ? Kind::kFieldMissing : Kind::kMalformed,
                       std::move(*problem)};
}

bool JsonRecordReader::was_string(std::size_t column) const {
  return state_->strings[column] != 0;
}

std::string_view JsonRecordReader::raw(std::size_t column) const {
  return state_->raws[column];
}

bool JsonRecordReader::ever_found(std::size_t column) const {
  return state_->ever_found[column] != 0;
}

std::vector<std::string> JsonRecordReader::keys(std::string_view record) {
  if (state_->for_keys == nullptr)
    state_->for_keys = std::make_unique<JsonRecordReader>(std::vector<std::string>{});
  JsonRecordReader& other = *state_->for_keys;
  ValueArena arena;
  std::vector<std::string> found;
  other.state_->keys = &found;
  (void)other.read(record, arena, nullptr);  // keys before an error are enough
  return found;
}

}  // namespace kin::data
