// The frame of the programs `kindred` and `kindred-bench`.
#pragma once

#include <string>
#include <vector>

#include "app/command.h"
#include "app/options.h"

namespace kin::app {

// A program that consists of verbs.
struct Program {
  std::string name;
  std::string description;
  std::string footer;
  std::vector<Command (*)(Verb)> verbs;  // in the order in which --help lists them
};

// Parses the command line, runs the verb that was chosen and prints its error, if it has one.
// Returns the exit code of the process.
int run_program(const Program& program, int argc, char** argv);

}  // namespace kin::app
