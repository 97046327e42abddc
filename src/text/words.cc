#include "text/words.h"

#include <cstring>

#include "text/characters/rewrite.h"
#include "text/prepare.h"

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
      // A mark belongs to the character before it, whether that is a unit or a letter.
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
    // Written in any case and kept only behind a unit: a branch would be guessed wrong in mixed
    // texts.
    *out_ = ' ';
    out_ += in_unit_;
    in_unit_ = false;
  }

  char* begin_;
  char* out_;
  bool in_unit_ = false;
};

}  // namespace

void split_words(std::string_view utf8, Normalization preset,
                 std::vector<std::string_view>& words) {
  words.clear();
  for_each_word(utf8, CharacterTable::of(preset), [&](const char* begin, const char* end, bool) {
    words.emplace_back(begin, static_cast<std::size_t>(end - begin));
  });
}

std::string_view WordSpacer::space(std::string_view utf8) {
  if (base_of(preset_) != preset_) {
    prepare(utf8, preset_, prepared_);
    utf8 = prepared_;
  }
  const char* const begin = utf8.data();
  const char* const end = begin + utf8.size();
  // Texts in ASCII are returned as they are, without a copy.
  if (skip_ascii(begin, end) == end) return utf8;
  const CharacterTable& table = CharacterTable::of(preset_);
  if (spaced_.size() < spaced_bound(utf8.size())) spaced_.resize(spaced_bound(utf8.size()));
  SpacingSink sink(spaced_.data());
  if (rewrite<true>(utf8, table, sink)) return sink.finish();
  const std::string form = composed(utf8, table);
  if (spaced_.size() < spaced_bound(form.size())) spaced_.resize(spaced_bound(form.size()));
  // A new sink: the first one has already written a part of the text.
  SpacingSink slow_sink(spaced_.data());
  rewrite<false>(form, table, slow_sink);
  return slow_sink.finish();
}

}  // namespace kin::text
