// The layout of --help: options and the values they take in one column, what they mean in another,
// folded to a width.
#pragma once

#include <cstddef>

#include "app/options.h"

namespace kin::app {

// Columns of a line of help: those of the terminal within limits; 100 if standard output is none.
std::size_t help_columns();

// `app` and the verbs that are added to it afterwards print their help so.
void use_help_text(Verb app, std::size_t columns);

}  // namespace kin::app
