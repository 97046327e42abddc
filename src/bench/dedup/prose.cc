#include "bench/dedup/prose.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <sstream>

#include "bench/measure.h"

namespace kin::bench {
namespace {

// Most frequent word first.
constexpr const char* kFrequent =
    "the of and to a in that is was he for it with as his on be at by had not are but from or "
    "have an they which one you were her all she there would their we him been has when who will "
    "more no if out so said what up its about into than them can only other new some could time "
    "these two may then do first any my now such like our over man me even most made after also "
    "did many before must through back years where much your way well down should because each "
    "just those people how too little state good very make world still own see men work long get "
    "here between both life being under never day same another know while last might us great old "
    "year off come since against go came right used take three";

// The stems of the rest of the vocabulary: nouns, verbs and adjectives, alone and with endings, so
// that lengths are distributed as in English.
constexpr const char* kStems =
    "account act address agree air allow amount answer appear area arm arrive art ask attack bank "
    "base bear beat begin behind bird blood board boat body book border bread break bridge bring "
    "brother build burn business call camera capital captain care carry case catch cause centre "
    "chair chance change charge child church circle city claim class clear climb clock close "
    "cloud coast cold collect college colour command common company compare complete concern "
    "condition connect consider contain continue control cook corner cost council count country "
    "couple course court cover create cross crowd current cut dance danger dark daughter deal "
    "death decide deep degree demand depend describe design desire detail develop differ dinner "
    "direct discover discuss distance divide doctor doubt draw dream dress drink drive drop early "
    "earth east effect effort eight election electric employ empty end energy engine enjoy enter "
    "equal escape evening event exact examine example exercise expect experience explain express "
    "extend face fact fail fall family famous farm father fear feel field fight figure fill film "
    "final find finger finish fire fish five floor flow flower follow food force foreign forest "
    "forget form forward four frame free friend front fruit further future garden gather general "
    "gentle glass gold govern grass ground group grow guard guess guide half hall hand happen "
    "happy harbour hard head health hear heart heat heavy help high hill history hold home hope "
    "horse hospital hot hour house human hundred hunt hurry ice idea imagine important improve "
    "include increase industry inform inside instrument interest iron island issue join journey "
    "judge jump keep kill kind king kitchen knowledge lady lake land language large laugh law "
    "lead learn leave letter level lift light limit line listen live local look lose love machine "
    "main manage mark market marry master match material matter meal mean measure meet member "
    "memory method middle mile military milk mind minister minute miss model modern moment money "
    "month moon morning mother mountain mouth move music name nation nature near need neighbour "
    "night nine north note nothing notice number object observe occur ocean offer office officer "
    "open operate opinion order organ original page paint pair paper parent park part particular "
    "party pass past pattern pay peace perform period person picture piece place plan plant play "
    "please poem point police policy poor popular population position possible post pound power "
    "practice prepare present president press prevent price print private problem process produce "
    "product profess program progress promise property protect prove provide public pull purpose "
    "push quality question quick quiet race rail rain raise range rate reach read reason receive "
    "recent record red reduce region relation remain remember remove repeat reply report "
    "represent require research respond rest result return rich ride ring rise river road rock "
    "roll room round rule run safe sail salt science sea search season second secret section seem "
    "sell send sense separate serve set settle seven several shape share sharp ship shoot shop "
    "short shoulder show side sign signal silence silver simple sing sister sit situation six "
    "size skin sleep slow small smell smile snow social society soft soldier solution soon sort "
    "sound south space speak special speed spend spirit spread spring square stage stand standard "
    "star start station stay step stone stop store storm story strange street strength strike "
    "strong structure student study subject substance success sudden sugar suggest summer sun "
    "supply support suppose surface surprise system table talk task teach teacher team tell "
    "temperature ten term test theory thick thin thing think thought thousand throw ticket tire "
    "together tomorrow tone tool top touch toward town track trade train travel tree trouble true "
    "trust try turn type uncle understand union unit universe university use usual valley value "
    "various vary village visit voice vote wait walk wall want war warm wash watch water wave "
    "weak weapon weather week weight welcome west wheel white whole wide wife wild win wind "
    "window winter wish woman wonder wood word worker worry worth write yellow young";

constexpr std::array kEndings{"", "", "s", "ed", "ing", "er", "ly", "ment", "able", "ness"};

constexpr std::size_t kUses = 1 << 15;  // words_ has about as many

std::vector<std::string> split(const char* words) {
  std::istringstream stream(words);
  std::vector<std::string> list;
  for (std::string word; stream >> word;) list.push_back(word);
  return list;
}

// The vocabulary, the most frequent word first.
std::vector<std::string> vocabulary() {
  std::vector<std::string> words = split(kFrequent);
  std::vector<std::string> rest;
  for (const std::string& stem : split(kStems)) {
    for (std::size_t i = 1; i < kEndings.size(); ++i) rest.push_back(stem + kEndings[i]);
  }
  Random random(1);
  shuffle(rest, random);
  words.insert(words.end(), rest.begin(), rest.end());
  return words;
}

// Splits after ". ", "! " and "? ".
void add_sentences(const std::string& text, std::vector<std::string>& sentences) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    const bool ends = (text[i] == '.' || text[i] == '!' || text[i] == '?') && text[i + 1] == ' ';
    if (!ends) continue;
    sentences.push_back(text.substr(begin, i + 2 - begin));
    begin = i + 2;
  }
  if (begin < text.size()) sentences.push_back(text.substr(begin) + " ");
}

}  // namespace

Prose::Prose() {
  const std::vector<std::string> all = vocabulary();
  // Mandelbrot's form of Zipf's law.
  const auto frequency = [](std::size_t rank) {
    return std::pow(static_cast<double>(rank) + 2.7, -1.1);
  };
  double total = 0;
  for (std::size_t rank = 0; rank < all.size(); ++rank) total += frequency(rank);
  double owed = 0;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    owed += static_cast<double>(kUses) * frequency(rank) / total;
    // The rest of a share carries over to the next word, so that rare words occur too.
    for (; owed >= 1; owed -= 1) words_.push_back(all[rank]);
  }
}

Prose::Prose(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) add_sentences(text, sentences_);
}

void Prose::append_sentence(Random& random, std::string& out) const {
  if (!sentences_.empty()) {
    out += sentences_[random.below(sentences_.size())];
    return;
  }
  const std::uint64_t shape = random.next();
  const std::uint64_t count = 6 + shape % 20;
  const bool quoted = (shape >> 8) % 8 == 0;
  if (quoted) out += '"';
  std::size_t begin = out.size();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t draw = random.next();
    out += words_[draw % words_.size()];
    const std::uint64_t mark = (draw >> 48) & 31;
    if (i + 1 == count) continue;
    if (mark == 0) {
      out += "'s";
    } else if (mark == 1 || mark == 2) {
      out += ',';
    }
    out += ' ';
  }
  out[begin] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[begin])));
  out += quoted ? ".\" " : ". ";
}

void Prose::append(Random& random, std::size_t bytes, std::string& out) const {
  const std::size_t end = out.size() + bytes;
  while (out.size() + 40 < end) append_sentence(random, out);
  while (!out.empty() && out.back() == ' ') out.pop_back();
}

std::string with_curly_quotes(const std::string& text) {
  std::string curly;
  bool open = false;
  for (const char letter : text) {
    if (letter == '"') {
      open = !open;
      curly += open ? "\u201C" : "\u201D";
    } else if (letter == '\'') {
      curly += "\u2019";
    } else {
      curly += letter;
    }
  }
  return curly;
}

std::string chinese_text(Random& random, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) {
    const std::uint64_t count = 8 + random.below(30);
    for (std::uint64_t i = 0; i < count; ++i) {
      // About three thousand characters, few of them frequent.
      const double spread = random.unit();
      const auto code = static_cast<unsigned>(0x4E00 + 3000 * spread * spread * spread);
      text += static_cast<char>(0xE0 | (code >> 12));
      text += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
      text += static_cast<char>(0x80 | (code & 0x3F));
    }
    text += random.below(3) == 0 ? "\u3002" : "\uFF0C";
  }
  return text;
}

std::string with_changed_words(const std::string& text, std::uint64_t every, Random& random) {
  std::string changed;
  std::size_t begin = 0;
  const std::size_t chosen = random.below(text.size() + 1);
  while (begin < text.size()) {
    const std::size_t space = std::min(text.find(' ', begin), text.size());
    if (random.below(every) == 0 || (begin <= chosen && chosen <= space)) {
      changed += "changed" + std::to_string(random.below(1'000'000));
    } else {
      changed.append(text, begin, space - begin);
    }
    if (space < text.size()) changed += ' ';
    begin = space + 1;
  }
  return changed;
}

}  // namespace kin::bench
