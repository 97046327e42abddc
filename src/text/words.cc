#include "text/words.h"

#include <cstring>

#include "text/characters/rewrite.h"

namespace kin::text {
namespace {

// A character and the two spaces that isolate it: at most six bytes for two.
constexpr std::size_t spaced_bound(std::size_t bytes) {
  return 3 * bytes + 8;
}

class SpacingSink {
 public:
  explicit SpacingSink(char* out) : begin_(out), out_(out) {}

  void ascii(const char* from, const char* end) {
    leave_unit();
    const auto length = static_cast<std::size_t>(end - from);
    std::memcpy(out_, from, length);
    out_ += length;
  }

  void character(const Character& c) {
    switch (c.kind) {
      case CharacterKind::kSeparator: in_unit_ = false; return put(c);
      case CharacterKind::kWord: leave_unit(); return put(c);
      case CharacterKind::kMark: return put(c);
      case CharacterKind::kUnit:
        *out_++ = ' ';
        in_unit_ = true;
        return put(c);
      case CharacterKind::kDropped: return;
    }
  }

  std::string_view finish() const { return {begin_, static_cast<std::size_t>(out_ - begin_)}; }

 private:
  // Always writes four bytes: spaced_bound leaves room for them.
  void put(const Character& c) {
    std::memcpy(out_, c.bytes.data(), 4);
    out_ += c.length;
  }
  void leave_unit() {
    *out_ = ' ';
    out_ += in_unit_;
    in_unit_ = false;
  }

  char* begin_;
  char* out_;
  bool in_unit_ = false;
};

// Collects the words of the text it is handed as views of that text.
class Splitter {
 public:
  explicit Splitter(std::vector<std::string_view>& words) : words_(words) {}

  void take(const char* at, CharacterKind kind) {
    const bool starts = kind == CharacterKind::kUnit || (kind == CharacterKind::kWord && in_unit_);
    if (kind == CharacterKind::kSeparator || starts) finish(at);
    if (kind == CharacterKind::kSeparator) return;
    if (begin_ == nullptr) begin_ = at;
    if (kind == CharacterKind::kUnit) in_unit_ = true;
  }

  void finish(const char* at) {
    if (begin_ != nullptr) words_.emplace_back(begin_, static_cast<std::size_t>(at - begin_));
    begin_ = nullptr;
    in_unit_ = false;
  }

 private:
  std::vector<std::string_view>& words_;
  const char* begin_ = nullptr;
  bool in_unit_ = false;
};

}  // namespace

void split_words(std::string_view utf8, Normalization preset,
                 std::vector<std::string_view>& words) {
  words.clear();
  const CharacterTable& table = CharacterTable::of(preset);
  Splitter splitter(words);
  const char* at = utf8.data();
  const char* const end = at + utf8.size();
  while (at != end) {
    const Decoded decoded =
        is_ascii(*at) ? Decoded{static_cast<char32_t>(*at), 1} : decode_multibyte(at, end);
    splitter.take(at, table[decoded.character].kind);
    at += decoded.length;
  }
  splitter.finish(end);
}

std::string_view WordSpacer::space(std::string_view utf8) {
  const char* const begin = utf8.data();
  const char* const end = begin + utf8.size();
  if (skip_ascii(begin, end) == end) return utf8;
  const CharacterTable& table = CharacterTable::of(preset_);
  if (spaced_.size() < spaced_bound(utf8.size())) spaced_.resize(spaced_bound(utf8.size()));
  SpacingSink sink(spaced_.data());
  if (rewrite_stable(utf8, table, sink)) return sink.finish();
  const std::string form = composed(utf8, table);
  if (spaced_.size() < spaced_bound(form.size())) spaced_.resize(spaced_bound(form.size()));
  SpacingSink slow_sink(spaced_.data());
  rewrite(form, table, slow_sink);
  return slow_sink.finish();
}

}  // namespace kin::text
