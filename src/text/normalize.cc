#include "text/normalize.h"

#include <fmt/format.h>
#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/stringpiece.h>
#include <unicode/uchar.h>

#include <array>
#include <cstring>
#include <utility>

#include "text/characters/rewrite.h"
#include "text/prepare.h"

namespace kin::text {
namespace {

constexpr std::array<std::pair<std::string_view, Normalization>, 7> kNames{{
    {"none", Normalization::kNone},
    {"light", Normalization::kLight},
    {"standard", Normalization::kStandard},
    {"aggressive", Normalization::kAggressive},
    {"code", Normalization::kCode},
    {"fineweb", Normalization::kFineweb},
    {"slimpajama", Normalization::kSlimpajama},
}};

// Always writes four bytes: lowered_bound leaves room for them.
char* put(const Character& c, char* out) {
  std::memcpy(out, c.bytes.data(), 4);
  return out + c.length;
}

// Writes the normalised text: separators become single spaces between words.
class CollapsingSink {
 public:
  CollapsingSink(char* out, const CharacterTable& table)
      : begin_(out), out_(out), ascii_(&table[0]) {}

  void ascii(const char* from, const char* end) {
    // Locals, as a store through a char pointer may change any member.
    char* out = out_;
    bool in_word = in_word_;
    for (const Character* const ascii = ascii_; from != end; ++from) {
      const Character& c = ascii[static_cast<std::uint8_t>(*from)];
      const bool kept = c.kind != CharacterKind::kSeparator;
      // Without a branch: the byte is always written, and kept only if it belongs to a word or is
      // the first separator behind one.
      *out = c.bytes[0];
      out += static_cast<int>(kept) | static_cast<int>(in_word);
      in_word = kept;
    }
    out_ = out;
    in_word_ = in_word;
  }

  void character(const Character& c) {
    if (c.kind == CharacterKind::kDropped) return;
    if (c.kind == CharacterKind::kSeparator) {
      *out_ = ' ';
      out_ += in_word_;
      in_word_ = false;
      return;
    }
    out_ = put(c, out_);
    in_word_ = true;
  }

  std::size_t finish() const {
    // A separator at the end has left one space.
    const bool space_at_end = out_ != begin_ && !in_word_;
    return static_cast<std::size_t>(out_ - begin_) - (space_at_end ? 1 : 0);
  }

 private:
  char* begin_;
  char* out_;
  const Character* ascii_;  // the table's first block
  bool in_word_ = false;
};

// Writes the text with each character replaced by its entry, to lower it.
class MappingSink {
 public:
  MappingSink(char* out, const CharacterTable& table) : begin_(out), out_(out), ascii_(&table[0]) {}

  void ascii(const char* from, const char* end) {
    for (; from != end; ++from) *out_++ = ascii_[static_cast<std::uint8_t>(*from)].bytes[0];
  }
  void character(const Character& c) { out_ = put(c, out_); }
  std::size_t finish() const { return static_cast<std::size_t>(out_ - begin_); }

 private:
  char* begin_;
  char* out_;
  const Character* ascii_;  // the table's first block
};

const icu::Normalizer2& normalizer(Normalization preset) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* found = preset == Normalization::kAggressive
                                      ? icu::Normalizer2::getNFKDInstance(status)
                                      : icu::Normalizer2::getNFCInstance(status);
  KIN_CHECK(U_SUCCESS(status), "ICU carries the data of its normal forms");
  return *found;
}

// ICU counts in 32 bits. A cut before an ASCII byte is safe: nothing composes with ASCII to its
// left and it reorders with nothing.
std::size_t piece_length(std::string_view rest) {
  constexpr std::size_t kMost = std::size_t{1} << 29;
  if (rest.size() <= kMost) return rest.size();
  // Backwards, so that pieces are as long as possible.
  for (std::size_t cut = kMost; cut > kMost / 2; --cut) {
    if (is_ascii(rest[cut])) return cut;
  }
  // 256 MiB without a byte of ASCII are not a natural text.
  return kMost / 2;
}

std::string normal_form(std::string_view utf8, Normalization preset) {
  std::string out;
  out.reserve(utf8.size());
  icu::StringByteSink<std::string> sink(&out);
  while (!utf8.empty()) {
    const std::string_view piece = utf8.substr(0, piece_length(utf8));
    UErrorCode status = U_ZERO_ERROR;
    normalizer(preset).normalizeUTF8(
        0, icu::StringPiece(piece.data(), static_cast<std::int32_t>(piece.size())), sink, nullptr,
        status);
    KIN_CHECK(U_SUCCESS(status), "normalising fails only for want of memory");
    utf8.remove_prefix(piece.size());
  }
  return out;
}

}  // namespace

Result<Normalization> parse_normalization(std::string_view name) {
  for (const auto& [known, preset] : kNames) {
    if (name == known) return preset;
  }
  return Error{
      Code::kInvalidArgument,
      fmt::format("unknown normalisation \"{}\" (use none, light, standard, aggressive, code, "
                  "fineweb or slimpajama)",
                  name)};
}

std::string_view name_of(Normalization preset) {
  return kNames[static_cast<std::size_t>(preset)].first;
}

std::string composed(std::string_view utf8, const CharacterTable& table) {
  const Normalization preset = table.preset();
  std::string form = normal_form(utf8, preset);
  if (preset == Normalization::kLight) return form;
  // Lowering may undo the normal form, so it is computed again: a small letter may compose with a
  // mark where its capital does not, as in U+01F0.
  std::string lowered(lowered_bound(form.size()), '\0');
  MappingSink sink(lowered.data(), table);
  rewrite<false>(form, table, sink);
  lowered.resize(sink.finish());
  return normal_form(lowered, preset);
}

std::string unicode_version() {
  UVersionInfo version{};
  u_getUnicodeVersion(version);
  return fmt::format("{}.{}.{}", version[0], version[1], version[2]);
}

void normalize(std::string_view utf8, Normalization preset, std::string& out) {
  if (base_of(preset) != preset) {
    std::string prepared;
    prepare(utf8, preset, prepared);
    return normalize(prepared, base_of(preset), out);
  }
  if (preset == Normalization::kNone) {
    out.assign(utf8);
    return;
  }
  const CharacterTable& table = CharacterTable::of(preset);
  // Room for the longest result; the sink writes without checks.
  out.resize(lowered_bound(utf8.size()));
  CollapsingSink sink(out.data(), table);
  if (rewrite<true>(utf8, table, sink)) {
    out.resize(sink.finish());
    return;
  }
  // Rare: most texts are in normal form already, and the attempt above is cheap.
  const std::string form = composed(utf8, table);
  out.resize(lowered_bound(form.size()));
  CollapsingSink slow_sink(out.data(), table);
  rewrite<false>(form, table, slow_sink);
  out.resize(slow_sink.finish());
}

}  // namespace kin::text
