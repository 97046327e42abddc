// Words as BERT tokenisers split them, before they are split into word pieces.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kin::text {

// The settings of a BertNormalizer in a tokenizer.json.
struct BertNormalization {
  bool clean_text = true;  // without controls
  bool split_han = true;   // a Chinese character is a word ("handle_chinese_chars")
  bool lower_case = true;
  bool strip_accents = true;  // decomposed (NFD), without marks
};

// The words of one text at a time. One thread only.
class BertWords {
 public:
  explicit BertWords(BertNormalization options) : options_(options) {}

  // The words of `utf8`, in order: runs without white space; a punctuation mark is a word by
  // itself. Ill-formed bytes are safe; the words made of them are unspecified. Valid until the next
  // call.
  const std::vector<std::string_view>& split(std::string_view utf8);

 private:
  void take(char32_t character);
  void take_decomposed(char32_t character);
  void append(char32_t character);
  void alone(char32_t character);
  void finish();

  const BertNormalization options_;
  std::string normal_;
  std::vector<std::size_t> ends_;  // ends of the words, which follow one another in normal_
  std::vector<std::string_view> words_;
};

}  // namespace kin::text
