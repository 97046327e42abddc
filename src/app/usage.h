// Errors of the command line, in plain words.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace kin::app {

// The verb as the user writes it: "kindred seen add".
std::string full_name(const CLI::App& verb);

// The verbs within `app` that are for users. One without a group is for the program itself.
std::vector<const CLI::App*> verbs_in(const CLI::App& app);

// The innermost verb on the command line; `app` itself if there is none.
const CLI::App& chosen_verb(const CLI::App& app);

// True if the command line ends where a verb has to follow.
bool lacks_verb(const CLI::ParseError& error, const CLI::App& app);

// The message for `error`, which came from parsing the command line with `app`.
std::string in_plain_words(const CLI::ParseError& error, const CLI::App& app);

}  // namespace kin::app
