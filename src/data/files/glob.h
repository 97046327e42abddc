// Patterns for names of files, as DuckDB has them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kin::data {

// Whether `pattern` has a wildcard: * ? or [.
bool has_wildcard(std::string_view pattern);

// Whether one name matches one part of a pattern, byte by byte: * is any number of characters, ? is
// one, [abc] and [a-z] are one of a set, [!a] is one outside of it. A bracket that is not closed
// matches nothing. There are no escapes: [*] is a star. Thread-safe.
bool matches_glob(std::string_view pattern, std::string_view name);

// The files that match `pattern`, sorted by their bytes. A part that is ** matches any number of
// folders, none too; it does not follow links to folders. Hidden files match like others, but not
// Kindred's own working files. Folders do not match.
Result<std::vector<std::string>> expand_glob(const std::string& pattern);

// The folders at the start of `pattern` that have no wildcard: "a/b" of "a/b/*/c.jsonl".
std::filesystem::path fixed_prefix(const std::string& pattern);

// Every file below `folder`, sorted by its bytes, without hidden files and folders. Links to
// folders are not followed.
Result<std::vector<std::string>> files_below(const std::filesystem::path& folder);

}  // namespace kin::data
