// Finds the remote files that a pattern names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "data/remote_files.h"

namespace kin::data {

struct RemoteMatch {
  RemoteFile file;
  std::string relative;  // below the named folder, or the folders without a wildcard
};

struct RemoteMatches {
  std::vector<RemoteMatch> files;  // sorted by their names
  bool folder = false;             // the pattern is a folder: these are all the files below it
};

// Whether a name with slashes matches a pattern with slashes, part by part like matches_glob();
// a part ** matches any number of parts, including none. Thread-safe.
bool matches_path(std::string_view pattern, std::string_view name);

// The files that `pattern` names: one file, a glob, or a folder, with or without a slash at its
// end, whose hidden files are left out. Objects that stand for folders (their names end with a
// slash) are not files. kNotFound if there is no match.
Result<RemoteMatches> expand_remote(RemoteFiles& remote, const std::string& pattern);

}  // namespace kin::data
