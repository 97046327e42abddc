#include "app/command.h"
#include "app/program.h"

int main(int argc, char** argv) {
  const auto verbs = kin::app::all_commands();
  return kin::app::run_program(
      {.name = "kindred",
       .description = "Kindred answers three questions about documents: have I seen this, what "
                      "belongs together, what is related?",
       .footer = "`kindred VERB --help` shows the options of a verb, with examples.",
       .verbs = {verbs.begin(), verbs.end()}},
      argc, argv);
}
