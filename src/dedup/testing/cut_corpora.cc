#include "dedup/testing/cut_corpora.h"

namespace kin::dedup {

std::string CutCorpora::word() {
  static const std::vector<std::vector<std::string>> kAlphabets = {
      {"a", "b"},
      {"a", "b", "a", "a", "a", "a"},
      {"the", "Cat", "sat,", "on", "THE", "mat."},
      {"grüße", "straße", "æon", "É", "naïve"},
      {"猫", "が", "好き", "です。", "犬"},
      {"สวัสดี", "ครับ", "x"},
      {"привет", "мир", "не", "да"},
      {"नमस्ते", "दुनिया", "-"},
      {"👩‍👩‍👧", "ok", "👍"},
  };
  const auto& alphabet = kAlphabets[alphabet_];
  return alphabet[below(alphabet.size())];
}

std::string CutCorpora::gap() {
  static const std::vector<std::string> kGaps = {" ",  " ",    " ",    "\n",       "\n",    "\r\n",
                                                 "  ", "\n\n", "\t\n", "\r\n\r\n", "\n \n", "\r"};
  return kGaps[below(kGaps.size())];
}

std::string CutCorpora::text() {
  std::string made;
  for (std::size_t left = below(30); left > 0; --left) {
    if (!pieces_.empty() && below(4) == 0) {
      made += pieces_[below(pieces_.size())];
    } else {
      made += word();
    }
    made += below(8) == 0 ? std::string() : gap();
  }
  if (below(3) == 0 && !made.empty()) {
    std::size_t begin = below(made.size());
    while (begin > 0 && (made[begin] & 0xC0) == 0x80) --begin;
    pieces_.push_back(made.substr(begin));
  }
  if (below(12) == 0) made.assign(below(40), 'x');
  return made;
}

Corpus CutCorpora::corpus(std::size_t fields) {
  alphabet_ = below(9);
  pieces_.clear();
  Corpus made(1 + below(12));
  for (Texts& record : made) {
    for (std::size_t field = 0; field < fields; ++field) {
      record.emplace_back();
      if (below(15) != 0) record.back() = text();
    }
  }
  return made;
}

DedupOptions CutCorpora::options(CutOptions::Unit unit) {
  DedupOptions made;
  made.fields = {"text"};
  if (below(3) == 0) made.fields.emplace_back("more");
  made.id_column = "id";
  made.threads = static_cast<int>(1 + below(3));
  CutOptions cut;
  cut.unit = unit;
  if (!cut.by_line()) cut.length = static_cast<std::uint32_t>(1 + below(12));
  if (below(3) == 0) cut.repeats = static_cast<std::uint32_t>(2 + below(3));
  cut.keep_first = below(4) != 0;
  cut.min_length = static_cast<std::uint32_t>(below(8));
  cut.min_in_words = below(2) == 0;
  const auto presets = {text::Normalization::kNone, text::Normalization::kLight,
                        text::Normalization::kStandard, text::Normalization::kAggressive};
  made.shingles.normalization = presets.begin()[below(4)];
  made.cut = cut;
  return made;
}

}  // namespace kin::dedup
