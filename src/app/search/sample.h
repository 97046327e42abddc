// A random sample of the documents in datasets, small enough for one request.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "search/document.h"

namespace kin::app {

// At most 20,000 documents, and 12 MiB as JSON; each document has the same chance. They have ids,
// titles, texts and vectors alone. The same files give the same sample. Errors name the file and
// line. Thread-safe.
Result<std::vector<search::Document>> sample_of(const std::vector<std::string>& files);

}  // namespace kin::app
