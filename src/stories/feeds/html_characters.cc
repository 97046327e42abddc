#include <algorithm>
#include <iterator>

#include "stories/feeds/html_scanner.h"

namespace kin::stories {
namespace {

struct Named {
  std::string_view name;
  std::string_view utf8;
};

// HTML 4's, XML's, and those of HTML 5 that feeds use, sorted by name.
// clang-format off
constexpr Named kNamed[] = {
    {"AElig", "\xC3\x86"}, {"AMP", "\x26"}, {"Aacute", "\xC3\x81"}, {"Abreve", "\xC4\x82"},
    {"Acirc", "\xC3\x82"}, {"Agrave", "\xC3\x80"}, {"Alpha", "\xCE\x91"}, {"Aogon", "\xC4\x84"},
    {"Aring", "\xC3\x85"}, {"Atilde", "\xC3\x83"}, {"Auml", "\xC3\x84"}, {"Beta", "\xCE\x92"},
    {"COPY", "\xC2\xA9"}, {"Cacute", "\xC4\x86"}, {"Ccaron", "\xC4\x8C"}, {"Ccedil", "\xC3\x87"},
    {"Chi", "\xCE\xA7"}, {"Dagger", "\xE2\x80\xA1"}, {"Delta", "\xCE\x94"}, {"Dstrok", "\xC4\x90"},
    {"ETH", "\xC3\x90"}, {"Eacute", "\xC3\x89"}, {"Ecaron", "\xC4\x9A"}, {"Ecirc", "\xC3\x8A"},
    {"Egrave", "\xC3\x88"}, {"Eogon", "\xC4\x98"}, {"Epsilon", "\xCE\x95"}, {"Eta", "\xCE\x97"},
    {"Euml", "\xC3\x8B"}, {"GT", "\x3E"}, {"Gamma", "\xCE\x93"}, {"Gbreve", "\xC4\x9E"},
    {"Hat", "\x5E"}, {"Iacute", "\xC3\x8D"}, {"Icirc", "\xC3\x8E"}, {"Idot", "\xC4\xB0"},
    {"Igrave", "\xC3\x8C"}, {"Iota", "\xCE\x99"}, {"Iuml", "\xC3\x8F"}, {"Kappa", "\xCE\x9A"},
    {"LT", "\x3C"}, {"Lambda", "\xCE\x9B"}, {"Lstrok", "\xC5\x81"}, {"Mu", "\xCE\x9C"},
    {"NewLine", "\x0A"}, {"Ntilde", "\xC3\x91"}, {"Nu", "\xCE\x9D"}, {"OElig", "\xC5\x92"},
    {"Oacute", "\xC3\x93"}, {"Ocirc", "\xC3\x94"}, {"Odblac", "\xC5\x90"}, {"Ograve", "\xC3\x92"},
    {"Omega", "\xCE\xA9"}, {"Omicron", "\xCE\x9F"}, {"Oslash", "\xC3\x98"}, {"Otilde", "\xC3\x95"},
    {"Ouml", "\xC3\x96"}, {"Phi", "\xCE\xA6"}, {"Pi", "\xCE\xA0"}, {"Prime", "\xE2\x80\xB3"},
    {"Psi", "\xCE\xA8"}, {"QUOT", "\x22"}, {"REG", "\xC2\xAE"}, {"Rcaron", "\xC5\x98"},
    {"Rho", "\xCE\xA1"}, {"Sacute", "\xC5\x9A"}, {"Scaron", "\xC5\xA0"}, {"Scedil", "\xC5\x9E"},
    {"Sigma", "\xCE\xA3"}, {"THORN", "\xC3\x9E"}, {"TRADE", "\xE2\x84\xA2"}, {"Tab", "\x09"},
    {"Tau", "\xCE\xA4"}, {"Theta", "\xCE\x98"}, {"Uacute", "\xC3\x9A"}, {"Ucirc", "\xC3\x9B"},
    {"Udblac", "\xC5\xB0"}, {"Ugrave", "\xC3\x99"}, {"Upsilon", "\xCE\xA5"}, {"Uring", "\xC5\xAE"},
    {"Uuml", "\xC3\x9C"}, {"Xi", "\xCE\x9E"}, {"Yacute", "\xC3\x9D"}, {"Yuml", "\xC5\xB8"},
    {"Zacute", "\xC5\xB9"}, {"Zcaron", "\xC5\xBD"}, {"Zdot", "\xC5\xBB"},
    {"ZeroWidthSpace", "\xE2\x80\x8B"}, {"Zeta", "\xCE\x96"}, {"aacute", "\xC3\xA1"},
    {"abreve", "\xC4\x83"}, {"acirc", "\xC3\xA2"}, {"acute", "\xC2\xB4"}, {"aelig", "\xC3\xA6"},
    {"agrave", "\xC3\xA0"}, {"alefsym", "\xE2\x84\xB5"}, {"alpha", "\xCE\xB1"},
    {"amacr", "\xC4\x81"}, {"amp", "\x26"}, {"and", "\xE2\x88\xA7"}, {"ang", "\xE2\x88\xA0"},
    {"aogon", "\xC4\x85"}, {"apos", "\x27"}, {"aring", "\xC3\xA5"}, {"ast", "\x2A"},
    {"asymp", "\xE2\x89\x88"}, {"atilde", "\xC3\xA3"}, {"auml", "\xC3\xA4"},
    {"bdquo", "\xE2\x80\x9E"}, {"beta", "\xCE\xB2"}, {"brvbar", "\xC2\xA6"}, {"bsol", "\x5C"},
    {"bull", "\xE2\x80\xA2"}, {"cacute", "\xC4\x87"}, {"cap", "\xE2\x88\xA9"},
    {"ccaron", "\xC4\x8D"}, {"ccedil", "\xC3\xA7"}, {"cedil", "\xC2\xB8"}, {"cent", "\xC2\xA2"},
    {"check", "\xE2\x9C\x93"}, {"chi", "\xCF\x87"}, {"circ", "\xCB\x86"}, {"clubs", "\xE2\x99\xA3"},
    {"colon", "\x3A"}, {"comma", "\x2C"}, {"commat", "\x40"}, {"cong", "\xE2\x89\x85"},
    {"copy", "\xC2\xA9"}, {"crarr", "\xE2\x86\xB5"}, {"cup", "\xE2\x88\xAA"},
    {"curren", "\xC2\xA4"}, {"dArr", "\xE2\x87\x93"}, {"dagger", "\xE2\x80\xA0"},
    {"darr", "\xE2\x86\x93"}, {"dcaron", "\xC4\x8F"}, {"deg", "\xC2\xB0"}, {"delta", "\xCE\xB4"},
    {"diams", "\xE2\x99\xA6"}, {"divide", "\xC3\xB7"}, {"dollar", "\x24"}, {"dstrok", "\xC4\x91"},
    {"eacute", "\xC3\xA9"}, {"ecaron", "\xC4\x9B"}, {"ecirc", "\xC3\xAA"}, {"egrave", "\xC3\xA8"},
    {"emacr", "\xC4\x93"}, {"empty", "\xE2\x88\x85"}, {"emsp", "\xE2\x80\x83"},
    {"ensp", "\xE2\x80\x82"}, {"eogon", "\xC4\x99"}, {"epsilon", "\xCE\xB5"}, {"equals", "\x3D"},
    {"equiv", "\xE2\x89\xA1"}, {"eta", "\xCE\xB7"}, {"eth", "\xC3\xB0"}, {"euml", "\xC3\xAB"},
    {"euro", "\xE2\x82\xAC"}, {"excl", "\x21"}, {"exist", "\xE2\x88\x83"}, {"fnof", "\xC6\x92"},
    {"forall", "\xE2\x88\x80"}, {"frac12", "\xC2\xBD"}, {"frac14", "\xC2\xBC"},
    {"frac34", "\xC2\xBE"}, {"frasl", "\xE2\x81\x84"}, {"gamma", "\xCE\xB3"},
    {"gbreve", "\xC4\x9F"}, {"ge", "\xE2\x89\xA5"}, {"grave", "\x60"}, {"gt", "\x3E"},
    {"hArr", "\xE2\x87\x94"}, {"hairsp", "\xE2\x80\x8A"}, {"harr", "\xE2\x86\x94"},
    {"hearts", "\xE2\x99\xA5"}, {"hellip", "\xE2\x80\xA6"}, {"horbar", "\xE2\x80\x95"},
    {"hyphen", "\xE2\x80\x90"}, {"iacute", "\xC3\xAD"}, {"icirc", "\xC3\xAE"},
    {"iexcl", "\xC2\xA1"}, {"igrave", "\xC3\xAC"}, {"imacr", "\xC4\xAB"}, {"image", "\xE2\x84\x91"},
    {"imath", "\xC4\xB1"}, {"infin", "\xE2\x88\x9E"}, {"inodot", "\xC4\xB1"},
    {"int", "\xE2\x88\xAB"}, {"iota", "\xCE\xB9"}, {"iquest", "\xC2\xBF"}, {"isin", "\xE2\x88\x88"},
    {"iuml", "\xC3\xAF"}, {"kappa", "\xCE\xBA"}, {"lArr", "\xE2\x87\x90"}, {"lambda", "\xCE\xBB"},
    {"lang", "\xE2\x8C\xA9"}, {"laquo", "\xC2\xAB"}, {"larr", "\xE2\x86\x90"}, {"lbrace", "\x7B"},
    {"lbrack", "\x5B"}, {"lceil", "\xE2\x8C\x88"}, {"lcub", "\x7B"}, {"ldquo", "\xE2\x80\x9C"},
    {"ldquor", "\xE2\x80\x9E"}, {"le", "\xE2\x89\xA4"}, {"lfloor", "\xE2\x8C\x8A"},
    {"lowast", "\xE2\x88\x97"}, {"lowbar", "\x5F"}, {"loz", "\xE2\x97\x8A"}, {"lpar", "\x28"},
    {"lrm", "\xE2\x80\x8E"}, {"lsaquo", "\xE2\x80\xB9"}, {"lsquo", "\xE2\x80\x98"},
    {"lstrok", "\xC5\x82"}, {"lt", "\x3C"}, {"macr", "\xC2\xAF"}, {"mdash", "\xE2\x80\x94"},
    {"micro", "\xC2\xB5"}, {"middot", "\xC2\xB7"}, {"minus", "\xE2\x88\x92"}, {"mu", "\xCE\xBC"},
    {"nabla", "\xE2\x88\x87"}, {"nacute", "\xC5\x84"}, {"nbsp", "\xC2\xA0"}, {"ncaron", "\xC5\x88"},
    {"ndash", "\xE2\x80\x93"}, {"ne", "\xE2\x89\xA0"}, {"ni", "\xE2\x88\x8B"}, {"not", "\xC2\xAC"},
    {"notin", "\xE2\x88\x89"}, {"nsub", "\xE2\x8A\x84"}, {"ntilde", "\xC3\xB1"}, {"nu", "\xCE\xBD"},
    {"num", "\x23"}, {"numsp", "\xE2\x80\x87"}, {"oacute", "\xC3\xB3"}, {"ocirc", "\xC3\xB4"},
    {"odblac", "\xC5\x91"}, {"oelig", "\xC5\x93"}, {"ograve", "\xC3\xB2"},
    {"oline", "\xE2\x80\xBE"}, {"omacr", "\xC5\x8D"}, {"omega", "\xCF\x89"},
    {"omicron", "\xCE\xBF"}, {"oplus", "\xE2\x8A\x95"}, {"or", "\xE2\x88\xA8"},
    {"ordf", "\xC2\xAA"}, {"ordm", "\xC2\xBA"}, {"oslash", "\xC3\xB8"}, {"otilde", "\xC3\xB5"},
    {"otimes", "\xE2\x8A\x97"}, {"ouml", "\xC3\xB6"}, {"para", "\xC2\xB6"},
    {"part", "\xE2\x88\x82"}, {"percnt", "\x25"}, {"period", "\x2E"}, {"permil", "\xE2\x80\xB0"},
    {"perp", "\xE2\x8A\xA5"}, {"phi", "\xCF\x86"}, {"pi", "\xCF\x80"}, {"piv", "\xCF\x96"},
    {"plus", "\x2B"}, {"plusmn", "\xC2\xB1"}, {"pound", "\xC2\xA3"}, {"prime", "\xE2\x80\xB2"},
    {"prod", "\xE2\x88\x8F"}, {"prop", "\xE2\x88\x9D"}, {"psi", "\xCF\x88"},
    {"puncsp", "\xE2\x80\x88"}, {"quest", "\x3F"}, {"quot", "\x22"}, {"rArr", "\xE2\x87\x92"},
    {"radic", "\xE2\x88\x9A"}, {"rang", "\xE2\x8C\xAA"}, {"raquo", "\xC2\xBB"},
    {"rarr", "\xE2\x86\x92"}, {"rbrace", "\x7D"}, {"rbrack", "\x5D"}, {"rcaron", "\xC5\x99"},
    {"rceil", "\xE2\x8C\x89"}, {"rcub", "\x7D"}, {"rdquo", "\xE2\x80\x9D"},
    {"real", "\xE2\x84\x9C"}, {"reg", "\xC2\xAE"}, {"rfloor", "\xE2\x8C\x8B"}, {"rho", "\xCF\x81"},
    {"rlm", "\xE2\x80\x8F"}, {"rpar", "\x29"}, {"rsaquo", "\xE2\x80\xBA"},
    {"rsquo", "\xE2\x80\x99"}, {"rsquor", "\xE2\x80\x99"}, {"sacute", "\xC5\x9B"},
    {"sbquo", "\xE2\x80\x9A"}, {"scaron", "\xC5\xA1"}, {"scedil", "\xC5\x9F"},
    {"sdot", "\xE2\x8B\x85"}, {"sect", "\xC2\xA7"}, {"semi", "\x3B"}, {"shy", "\xC2\xAD"},
    {"sigma", "\xCF\x83"}, {"sigmaf", "\xCF\x82"}, {"sim", "\xE2\x88\xBC"}, {"sol", "\x2F"},
    {"spades", "\xE2\x99\xA0"}, {"star", "\xE2\x98\x86"}, {"starf", "\xE2\x98\x85"},
    {"sub", "\xE2\x8A\x82"}, {"sube", "\xE2\x8A\x86"}, {"sum", "\xE2\x88\x91"},
    {"sup", "\xE2\x8A\x83"}, {"sup1", "\xC2\xB9"}, {"sup2", "\xC2\xB2"}, {"sup3", "\xC2\xB3"},
    {"supe", "\xE2\x8A\x87"}, {"szlig", "\xC3\x9F"}, {"tau", "\xCF\x84"}, {"tcaron", "\xC5\xA5"},
    {"there4", "\xE2\x88\xB4"}, {"theta", "\xCE\xB8"}, {"thetasym", "\xCF\x91"},
    {"thinsp", "\xE2\x80\x89"}, {"thorn", "\xC3\xBE"}, {"tilde", "\xCB\x9C"}, {"times", "\xC3\x97"},
    {"trade", "\xE2\x84\xA2"}, {"uArr", "\xE2\x87\x91"}, {"uacute", "\xC3\xBA"},
    {"uarr", "\xE2\x86\x91"}, {"ucirc", "\xC3\xBB"}, {"udblac", "\xC5\xB1"}, {"ugrave", "\xC3\xB9"},
    {"umacr", "\xC5\xAB"}, {"uml", "\xC2\xA8"}, {"upsih", "\xCF\x92"}, {"upsilon", "\xCF\x85"},
    {"uring", "\xC5\xAF"}, {"uuml", "\xC3\xBC"}, {"vert", "\x7C"}, {"weierp", "\xE2\x84\x98"},
    {"xi", "\xCE\xBE"}, {"yacute", "\xC3\xBD"}, {"yen", "\xC2\xA5"}, {"yuml", "\xC3\xBF"},
    {"zacute", "\xC5\xBA"}, {"zcaron", "\xC5\xBE"}, {"zdot", "\xC5\xBC"}, {"zeta", "\xCE\xB6"},
    {"zwj", "\xE2\x80\x8D"}, {"zwnj", "\xE2\x80\x8C"},
};
// clang-format on

}  // namespace

std::string_view named_character(std::string_view name) {
  const auto* const found =
      // Names are case-sensitive: "Auml" and "auml" are different letters.
      std::lower_bound(std::begin(kNamed), std::end(kNamed), name,
                       [](const Named& named, std::string_view n) { return named.name < n; });
  return found != std::end(kNamed) && found->name == name ? found->utf8 : std::string_view();
}

}  // namespace kin::stories
