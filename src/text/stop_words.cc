#include "text/stop_words.h"

#include <map>
#include <set>
#include <vector>

#include "text/normalize.h"
#include "text/words.h"

namespace kin::text {
namespace {

using Words = std::set<std::string_view>;

// Articles, prepositions, pronouns, conjunctions
// and forms of "to be" and "to have".
const std::map<std::string_view, Words>& lists() {
  static const std::map<std::string_view, Words> kLists{
      {"english",
       {"a",    "an",  "and",   "are",   "as",   "at",    "be",    "been", "but",  "by",    "for",
        "from", "had", "has",   "have",  "he",   "her",   "his",   "i",    "if",   "in",    "into",
        "is",   "it",  "its",   "my",    "of",   "on",    "or",    "our",  "she",  "so",    "than",
        "that", "the", "their", "them",  "then", "there", "these", "they", "this", "those", "to",
        "was",  "we",  "were",  "which", "will", "with",  "would", "you",  "your"}},
      {"german",
       {"als",  "am",  "an",  "auf",  "aus",   "bei",   "das",   "dass",  "dem",  "den",  "der",
        "des",  "die", "ein", "eine", "einem", "einen", "einer", "eines", "er",   "es",   "für",
        "hat",  "ich", "im",  "in",   "ist",   "mit",   "nach",  "nicht", "oder", "sich", "sie",
        "sind", "um",  "und", "uns",  "von",   "war",   "wie",   "wir",   "zu",   "zum",  "zur"}},
      {"french", {"a",    "au",   "aux", "avec", "ce",  "ces",  "dans", "de",  "des",  "du",
                  "elle", "en",   "est", "et",   "il",  "ils",  "je",   "la",  "le",   "les",
                  "leur", "mais", "ne",  "nous", "on",  "ou",   "par",  "pas", "pour", "que",
                  "qui",  "sa",   "se",  "ses",  "son", "sont", "sur",  "un",  "une",  "vous"}},
      {"spanish", {"a",   "al", "con", "de", "del", "el",  "ella", "en", "es",   "esta", "este",
                   "ha",  "la", "las", "le", "lo",  "los", "no",   "o",  "para", "pero", "por",
                   "que", "se", "son", "su", "sus", "un",  "una",  "y",  "ya"}},
      {"portuguese", {"a",   "ao",   "as",   "com",  "da",  "das", "de",  "do",  "dos", "e",  "ela",
                      "ele", "em",   "era",  "foi",  "mas", "na",  "nas", "no",  "nos", "o",  "os",
                      "ou",  "para", "pela", "pelo", "por", "que", "se",  "sua", "um",  "uma"}},
      {"italian",
       {"a",     "al",  "alla", "che", "con", "da",   "dal", "dei", "del", "della", "di",
        "e",     "gli", "ha",   "i",   "il",  "in",   "la",  "le",  "lo",  "ma",    "nel",
        "nella", "non", "o",    "per", "si",  "sono", "su",  "un",  "una", "è"}},
      {"dutch",
       {"aan", "als", "bij", "dat", "de",   "den", "der",  "die",  "dit", "een", "en",  "er",
        "het", "hij", "ik",  "in",  "is",   "met", "naar", "niet", "of",  "om",  "ook", "op",
        "te",  "tot", "uit", "van", "voor", "was", "we",   "wij",  "ze",  "zij", "zijn"}},
      {"russian",
       {"а",   "в",  "во", "вы",  "да", "для", "до", "его", "ее",  "же",  "за", "и",  "из",
        "или", "их", "к",  "как", "ко", "мы",  "на", "не",  "но",  "о",   "об", "он", "она",
        "они", "от", "по", "с",   "со", "так", "то", "у",   "что", "это", "я"}}};
  return kLists;
}

}  // namespace

bool is_stop_word(std::string_view word, std::string_view language) {
  const auto list = lists().find(language);
  return list != lists().end() && list->second.contains(word);
}

std::string without_stop_words(std::string_view text, std::string_view language) {
  std::string lowered;
  normalize(text, Normalization::kStandard, lowered);
  std::vector<std::string_view> words;
  split_words(lowered, Normalization::kStandard, words);
  std::string kept;
  for (const std::string_view word : words) {
    if (!is_stop_word(word, language)) kept.append(kept.empty() ? "" : " ").append(word);
  }
  return kept;
}

}  // namespace kin::text
