#include "data/files/remote_glob.h"

#include <fmt/format.h>

#include <algorithm>

#include "data/files/glob.h"

namespace kin::data {
namespace {

constexpr std::string_view kScheme = "s3://";

// Removes the first part from `rest`, and returns it.
std::string_view next_part(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('/'), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

bool is_hidden(std::string_view name) {
  return name.starts_with('.') || name.find("/.") != std::string_view::npos;
}

// A name with such a part would leave the folder that an output is written to.
bool climbs(std::string_view name) {
  while (!name.empty()) {
    const std::string_view part = next_part(name);
    if (part == "." || part == "..") return true;
  }
  return false;
}

Result<RemoteMatches> below(RemoteFiles& remote, const std::string& folder) {
  KIN_TRY(std::vector<RemoteFile> all, remote.list(folder));
  RemoteMatches found{.files = {}, .folder = true};
  for (RemoteFile& file : all) {
    std::string relative = file.name.substr(folder.size());
    if (relative.empty() || relative.ends_with('/') || is_hidden(relative)) continue;
    found.files.push_back({std::move(file), std::move(relative)});
  }
  return found;
}

Result<RemoteMatches> matching(RemoteFiles& remote, const std::string& pattern) {
  const std::size_t fixed = pattern.rfind('/', pattern.find_first_of("*?[")) + 1;
  KIN_TRY(std::vector<RemoteFile> all, remote.list(pattern.substr(0, fixed)));
  RemoteMatches found;
  for (RemoteFile& file : all) {
    const std::string relative = file.name.substr(fixed);
    if (relative.ends_with('/') || climbs(relative)) continue;
    if (!matches_path(std::string_view(pattern).substr(fixed), relative)) continue;
    found.files.push_back({std::move(file), relative});
  }
  if (found.files.empty())
    return Error{Code::kNotFound, fmt::format("no file matches {}", pattern)};
  return found;
}

}  // namespace

bool is_remote(const std::filesystem::path& name) {
  return name.native().starts_with(kScheme);
}

bool matches_path(std::string_view pattern, std::string_view name) {
  while (!pattern.empty()) {
    const std::string_view part = next_part(pattern);
    if (part == "**") {
      if (pattern.empty()) return !name.empty();
      for (;;) {
        if (matches_path(pattern, name)) return true;
        if (name.find('/') == std::string_view::npos) return false;
        next_part(name);
      }
    }
    if (name.empty() || !matches_glob(part, next_part(name))) return false;
  }
  return name.empty();
}

Result<RemoteMatches> expand_remote(RemoteFiles& remote, const std::string& pattern) {
  const std::size_t bucket_end = pattern.find('/', kScheme.size());
  const std::string bucket =
      pattern.substr(0, bucket_end == std::string::npos ? pattern.size() : bucket_end);
  if (bucket.size() == kScheme.size() || has_wildcard(bucket))
    return Error{Code::kInvalidArgument,
                 fmt::format("{} names no bucket (write s3://BUCKET/NAME)", pattern)};
  const bool is_folder = pattern.ends_with('/') || bucket_end == std::string::npos;
  if (!is_folder) {
    // A file whose name contains * ? or [ is taken literally if it exists.
    KIN_TRY(auto file, remote.look(pattern));
    if (file) {
      std::string name = pattern.substr(pattern.rfind('/') + 1);
      return RemoteMatches{.files = {{std::move(*file), std::move(name)}}};
    }
    if (has_wildcard(pattern)) return matching(remote, pattern);
  }
  KIN_TRY(RemoteMatches found, below(remote, pattern.ends_with('/') ? pattern : pattern + "/"));
  if (found.files.empty())
    return Error{Code::kNotFound,
                 fmt::format("there is no {} {}", is_folder ? "file below" : "object", pattern)};
  return found;
}

}  // namespace kin::data
