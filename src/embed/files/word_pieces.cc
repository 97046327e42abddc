#include "embed/files/word_pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "data/json_fields.h"

namespace kin::embed::internal {
namespace {

using data::JsonValue;

constexpr double kMostTokens = 10'000'000;

Error wrong(std::string_view what) {
  return {Code::kInvalidArgument, std::string(what)};
}

// Fields of another type are errors, missing ones have the default of the tokenizers library.
Result<text::BertNormalization> normalization_of(const JsonValue& normalizer) {
  std::string type;
  text::BertNormalization out{.clean_text = true, .split_han = true, .lower_case = true};
  data::JsonFields fields(normalizer, "normalizer");
  fields.read("type", type);
  fields.read("clean_text", out.clean_text);
  fields.read("handle_chinese_chars", out.split_han);
  fields.read("lowercase", out.lower_case);
  out.strip_accents = out.lower_case;
  fields.read("strip_accents", out.strip_accents);
  KIN_RETURN_IF_ERROR(fields.status());
  if (type != "BertNormalizer")
    return wrong(fmt::format("the normalizer is \"{}\"; only BertNormalizer is supported", type));
  return out;
}

}  // namespace

Result<WordPieces> WordPieces::parse(std::string_view json) {
  KIN_TRY(const JsonValue root, data::parse_json(json));
  const JsonValue& model = root["model"];
  if (model["type"].text() != "WordPiece")
    return wrong(
        fmt::format("the model is \"{}\"; only WordPiece is supported", model["type"].text()));
  if (const auto type = root["pre_tokenizer"]["type"].text(); type != "BertPreTokenizer")
    return wrong(
        fmt::format("the pre-tokenizer is \"{}\"; only BertPreTokenizer is supported", type));
  const JsonValue::Object* const vocabulary = model["vocab"].object();
  if (vocabulary == nullptr || vocabulary->empty()) return wrong("the model has no vocabulary");
  WordPieces out;
  KIN_TRY(out.normalization_, normalization_of(root["normalizer"]));
  if (const double* most = model["max_input_chars_per_word"].number(); most != nullptr)
    out.longest_word_ = static_cast<std::size_t>(std::clamp(*most, 0.0, 1e6));
  const std::string_view unknown = model["unk_token"].text();
  const JsonValue& given = model["continuing_subword_prefix"];
  const std::string prefix(given.string() == nullptr ? "##" : given.text());
  if (prefix.empty()) return wrong("the prefix of pieces that continue a word is empty");
  for (const auto& [piece, token] : *vocabulary) {
    const double* const number = token.number();
    if (number == nullptr || !(*number >= 0 && *number < kMostTokens) ||
        *number != std::floor(*number))
      return wrong(fmt::format("the token \"{}\" has no valid number", piece));
    const auto value = static_cast<std::uint32_t>(*number);
    out.tokens_ = std::max<std::size_t>(out.tokens_, value + std::size_t{1});
    // With its prefix, which only makes the first tries of longest() needless.
    out.longest_ = std::max(out.longest_, piece.size());
    // The token of unknown words would make texts with many of them alike.
    if (piece == unknown) continue;
    if (piece.size() > prefix.size() && piece.starts_with(prefix))
      out.later_.emplace(piece.substr(prefix.size()), value);
    else
      out.first_.emplace(piece, value);
  }
  return out;
}

// BERT's tokenizer is greedy: the longest known piece is taken, even if no piece fits the rest.
std::optional<WordPieces::Piece> WordPieces::longest(std::string_view rest,
                                                     const Pieces& pieces) const {
  for (std::size_t length = std::min(rest.size(), longest_); length > 0; --length) {
    const auto found = pieces.find(rest.substr(0, length));
    if (found != pieces.end()) return Piece{.token = found->second, .length = length};
  }
  return std::nullopt;
}

void WordPieces::append_pieces(std::string_view word, std::vector<std::uint32_t>& out) const {
  if (utf8_characters(word) > longest_word_) return;
  const std::size_t before = out.size();
  const Pieces* pieces = &first_;
  while (!word.empty()) {
    const auto piece = longest(word, *pieces);
    if (!piece) return out.resize(before);
    out.push_back(piece->token);
    word.remove_prefix(piece->length);
    pieces = &later_;
  }
}

}  // namespace kin::embed::internal
