// Runs many queries, and measures the answers if there are judgements.
#pragma once

#include <string>

#include "base/result.h"
#include "search/search_index.h"

namespace kin::app {

struct SearchRun {
  std::string queries;        // JSONL with id and text
  std::string judgements;     // empty: none
  std::string output;         // empty: standard output, unless there are judgements
  search::Question question;  // without the text
  bool json = false;
};

// Returns the exit code.
Result<int> run_queries(const SearchRun& run, const search::SearchIndex& index);

}  // namespace kin::app
