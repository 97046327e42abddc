// The tokenizer of a tokenizer.json: BERT's words, cut into the longest known pieces.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "text/bert_words.h"

namespace kin::embed::internal {

// Thread-compatible.
class WordPieces {
 public:
  // Parses a tokenizer.json. An error says what in it is wrong or not supported.
  static Result<WordPieces> parse(std::string_view json);

  const text::BertNormalization& normalization() const { return normalization_; }
  // The highest number of a token, plus one.
  std::size_t tokens() const { return tokens_; }

  // Appends the numbers of the pieces of a word; nothing if it has a part that is not known.
  void append_pieces(std::string_view word, std::vector<std::uint32_t>& out) const;

 private:
  struct ViewHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view piece) const {
      return std::hash<std::string_view>()(piece);
    }
  };
  using Pieces = std::unordered_map<std::string, std::uint32_t, ViewHash, std::equal_to<>>;
  struct Piece {
    std::uint32_t token;
    std::size_t length;
  };
  std::optional<Piece> longest(std::string_view rest, const Pieces& pieces) const;

  text::BertNormalization normalization_;
  Pieces first_;  // start a word
  Pieces later_;  // continue a word; without their prefix
  std::size_t longest_ = 0;
  std::size_t tokens_ = 0;
  std::size_t longest_word_ = 100;  // characters; longer words are not cut
};

}  // namespace kin::embed::internal
