// What is wrong with the way the program was called, in its own words.
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace kin::app {

// The verb as the user writes it: "kindred bench sketch".
std::string full_name(const CLI::App& verb);

// The verb that the user got as far as naming: `app` itself if they named none.
const CLI::App& chosen_verb(const CLI::App& app);

// `error` came from parsing the command line with `app`.
std::string in_plain_words(const CLI::ParseError& error, const CLI::App& app);

}  // namespace kin::app
