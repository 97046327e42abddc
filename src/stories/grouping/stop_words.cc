#include "stories/grouping/stop_words.h"

#include <array>
#include <unordered_set>

#include "base/ascii.h"

namespace kin::stories {
namespace {

// In lower case and without accents, as words are compared with them. Words that mean something in
// another of the languages ("war", "son") are left out.
constexpr auto kStopWords = std::to_array<std::string_view>({
    // English
    "a about after all amid an and are as at be been but by can could did do does down for "
    "from get gets had has have he her his how i if in into is it its just may me might more "
    "most my new no not now of off on or our out over said say says she should so than that "
    "the their then there these they this those to up us via vs was we were what when where "
    "which who why will with would you your update video before ",
    // Spanish
    "de la el los las un una unos unas y o en con por para que se su sus al del lo es fue ser "
    "sobre entre tras como mas pero ya si ha han le les ",
    // Portuguese
    "os um uma e em com seu sua ao aos da dos das na nos nas sao foi sem apos mais ja nao tem "
    "pelo pela pelos pelas diz ",
    // French
    "une des du et ou dans avec par pour qui sa ses au aux est sont ete sans sur apres comme "
    "plus pas ce cette ces il elle ne d l n c s j qu ",
    // German
    "der die ein eine einen einem einer und oder im mit von fur dass sich sein ihre zu zum "
    "zur ist sind ohne uber zwischen nach wie mehr aber nicht auf am bei aus als den dem er "
    "sie wir vor noch ",
    // Russian
    "и в во на с со по для что как к ко у о об от до из за не но а же ли бы при это его ее их "
    "он она они мы был была были под после над без или ",
});

std::unordered_set<std::string_view> read_words() {
  std::unordered_set<std::string_view> words;
  for (std::string_view rest : kStopWords) {
    while (!rest.empty()) {
      const std::string_view word = take_until(rest, " ");
      if (!word.empty()) words.insert(word);
    }
  }
  return words;
}

}  // namespace

bool is_stop_word(std::string_view word) {
  static const std::unordered_set<std::string_view> kWords = read_words();
  return kWords.contains(word);
}

}  // namespace kin::stories
