#include "app/dashed_words.h"

namespace kin::app {
namespace {

// A control character that nobody types.
constexpr char kHiddenDash = '\x1d';

}  // namespace

void hide_dashes(Verb verb, std::span<std::string> arguments) {
  for (std::string& argument : arguments) {
    // CLI11 takes everything after "--" for words by itself.
    if (argument == "--") return;
    if (argument.size() < 2 || argument[0] != '-' || argument[1] == '-') continue;
    // CLI11 knows negative numbers by itself.
    if (argument[1] >= '0' && argument[1] <= '9') continue;
    if (!verb.has_option(argument.substr(0, 2))) argument[0] = kHiddenDash;
  }
}

std::string join_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    text += word;
    char& first = text[text.size() - word.size()];
    if (!word.empty() && first == kHiddenDash) first = '-';
  }
  return text;
}

}  // namespace kin::app
