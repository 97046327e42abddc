// A stored entity with its links and fragments, as a document.
#pragma once

#include <functional>
#include <string>

#include "index/about.h"
#include "search/document.h"

namespace kin::search {

// `key_of` names the documents that links lead to. Thread-safe.
Document linked_document(const index::About& about,
                         const std::function<std::string(const DocId&)>& key_of);

}  // namespace kin::search
