// Many queries at once, and how good their answers are.
#pragma once

#include <string>

#include "base/result.h"
#include "search/search_index.h"

namespace kin::app {

struct SearchRun {
  std::string queries;        // JSONL with id and text
  std::string judgements;     // or empty
  std::string output;         // empty: standard output, unless there are judgements
  search::Question question;  // all but the text
  bool json = false;
};

// The exit code.
Result<int> run_queries(const SearchRun& run, const search::SearchIndex& index);

}  // namespace kin::app
