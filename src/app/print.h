// What a command has to say.
#pragma once

#include <cstdio>
#include <string_view>

#include "base/result.h"

namespace kin::app {

// Prints a result. It is out of the program's hands when this returns, or it is an error: a result
// that a full disk swallowed must not look like success. kCancelled if it went into a pipe whose
// reader has gone away: nobody wants more of it.
Status print(std::string_view text, std::FILE* to = stdout);

// Prints what a person may want to know besides. It is lost where standard error takes nothing:
// there is nobody left to tell.
void say(std::string_view text);

}  // namespace kin::app
