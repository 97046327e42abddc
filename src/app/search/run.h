// Runs many queries, and measures the answers if there are judgements.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "search/answer.h"
#include "search/question.h"

namespace kin::app {

struct SearchRun {
  std::string queries;        // JSONL with id and text
  std::string judgements;     // empty: none
  std::string output;         // empty: standard output, unless there are judgements
  search::Question question;  // without the text
  bool json = false;
};

// Answers a question; an index of this machine, or of another one, does.
using Ask = std::function<Result<search::Answer>(const search::Question&)>;
// Returns the exit code.
Result<int> run_queries(const SearchRun& run, const Ask& ask);

}  // namespace kin::app
