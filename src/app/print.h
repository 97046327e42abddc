// Output of commands.
#pragma once

#include <cstdio>
#include <string_view>

#include "base/result.h"

namespace kin::app {

// Prints a result and flushes it, so that a full disk is an error instead of a lost result.
// kCancelled if the output is a pipe whose reader is gone.
Status print(std::string_view text, std::FILE* to = stdout);

// Prints a message on standard error. Errors of printing are ignored, since there is nowhere left
// to report them.
void say(std::string_view text);

// True if standard output is a terminal and NO_COLOR is unset or empty (https://no-color.org).
bool wants_colours();

}  // namespace kin::app
