#include "dedup/cut_options.h"

#include <fmt/format.h>

#include <charconv>

namespace kin::dedup {
namespace {

using Unit = CutOptions::Unit;

// Longer windows find nothing useful and cost memory.
constexpr std::uint32_t kMostWords = 1 << 16;
constexpr std::uint32_t kMostBytes = 1 << 20;
constexpr std::uint32_t kLeastWords = 2;
constexpr std::uint32_t kLeastBytes = 8;

bool parse_whole(std::string_view text, std::uint32_t& into) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), into);
  return failure == std::errc() && end == text.data() + text.size();
}

}  // namespace

Result<std::optional<CutOptions>> parse_cut(std::string_view text) {
  CutOptions options;
  if (text == "lines") return std::optional(options);
  if (text == "paragraphs") {
    options.unit = Unit::kParagraph;
    return std::optional(options);
  }
  constexpr std::string_view kName = "substring";
  if (!text.starts_with(kName)) return std::optional<CutOptions>();
  std::string_view length = text.substr(kName.size());
  const bool bytes = length.ends_with('b');
  if (bytes) length.remove_suffix(1);
  options.unit = bytes ? Unit::kByte : Unit::kWord;
  const std::uint32_t least = bytes ? kLeastBytes : kLeastWords;
  const std::uint32_t most = bytes ? kMostBytes : kMostWords;
  if (!length.starts_with(':') || !parse_whole(length.substr(1), options.length) ||
      options.length < least || options.length > most) {
    return Error{
        Code::kInvalidArgument,
        fmt::format("\"{}\": use substring:WORDS, from {} to {}, or substring:BYTESb, from "
                    "{} to {}; for example substring:50 or substring:200b",
                    text, kLeastWords, kMostWords, kLeastBytes, kMostBytes)};
  }
  return std::optional(options);
}

std::string to_string(const CutOptions& options) {
  switch (options.unit) {
    case Unit::kLine: return "lines";
    case Unit::kParagraph: return "paragraphs";
    case Unit::kWord: return fmt::format("substring:{}", options.length);
    case Unit::kByte: return fmt::format("substring:{}b", options.length);
  }
  KIN_UNREACHABLE();
}

std::string_view method_of(const CutOptions& options) {
  switch (options.unit) {
    case Unit::kLine: return "lines";
    case Unit::kParagraph: return "paragraphs";
    case Unit::kWord:
    case Unit::kByte: return "substring";
  }
  KIN_UNREACHABLE();
}

Status parse_min_length(std::string_view text, CutOptions& options) {
  options.min_in_words = text.ends_with('w');
  const std::string_view digits = text.substr(0, text.size() - (options.min_in_words ? 1 : 0));
  if (parse_whole(digits, options.min_length)) return Done{};
  return Error{Code::kInvalidArgument,
               fmt::format("--min-length {}: use a number of characters, such as 20, or of words, "
                           "such as 4w",
                           text)};
}

Status parse_repeats_keep(std::string_view text, CutOptions& options) {
  options.keep_first = text == "first";
  if (text == "first" || text == "none") return Done{};
  return Error{Code::kInvalidArgument, fmt::format("--repeats-keep {}: use first or none", text)};
}

std::string describe(const CutOptions& options) {
  std::string text = fmt::format("repeats={} repeats-keep={}", options.repeats,
                                 options.keep_first ? "first" : "none");
  if (options.by_line()) {
    text += fmt::format(" min-length={}{}", options.min_length, options.min_in_words ? "w" : "");
  }
  return text;
}

}  // namespace kin::dedup
