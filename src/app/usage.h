// Parses the words of a command line. Errors are in plain words.
#pragma once

#include <string>
#include <vector>

#include "app/options.h"
#include "base/result.h"

namespace kin::app {

// The verb as the user writes it: "kindred seen add".
std::string full_name(Verb verb);

// The verbs within `app` that are for users. One without a group is for the program itself.
std::vector<Verb> verbs_in(Verb app);

// The innermost verb on the command line; `app` itself if there is none.
Verb chosen_verb(Verb app);

// What a command line asks for.
enum class Asked {
  kVerb,
  kHelp,
  kVersion,
  kNothing,  // it ends where a verb has to follow
};
// Fills the variables of the options. `arguments` are without the program's name. kInvalidArgument
// says what is wrong about them.
Result<Asked> parse(Verb app, std::vector<std::string> arguments);

}  // namespace kin::app
