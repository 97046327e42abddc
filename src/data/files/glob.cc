#include "data/files/glob.h"

#include <algorithm>
#include <span>

#include "base/file.h"

namespace kin::data {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kAnyFolders = "**";

// Reads the set that begins after `[` at `at` and advances `at` past its `]`. False if it is not
// closed. A `]` in first place is a member of the set.
bool in_set(std::string_view pattern, std::size_t& at, char c, bool& found) {
  const bool inverted = at < pattern.size() && pattern[at] == '!';
  if (inverted) ++at;
  bool any = false;
  for (bool first = true; at < pattern.size(); first = false) {
    if (pattern[at] == ']' && !first) {
      ++at;
      found = any != inverted;
      return true;
    }
    const auto low = static_cast<unsigned char>(pattern[at]);
    auto high = low;
    if (at + 2 < pattern.size() && pattern[at + 1] == '-' && pattern[at + 2] != ']') {
      high = static_cast<unsigned char>(pattern[at + 2]);
      at += 2;
    }
    ++at;
    const auto byte = static_cast<unsigned char>(c);
    any = any || (low <= byte && byte <= high);
  }
  return false;
}

// The work folders and half-written outputs of Kindred's own runs.
bool is_own(std::string_view name) {
  return name.starts_with('.') && name.find("kindred") != std::string_view::npos;
}

std::vector<std::string> parts_of(const std::string& pattern) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin < pattern.size()) {
    const std::size_t end = std::min(pattern.find('/', begin), pattern.size());
    if (end > begin) parts.push_back(pattern.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// The path as a user would write it: nothing in front of the first name.
std::string joined(const std::string& folder, const std::string& name) {
  if (folder.empty()) return name;
  return folder.ends_with('/') ? folder + name : folder + "/" + name;
}

struct Entry {
  std::string name;
  bool folder = false;
  bool link = false;
};

// A folder that cannot be listed is an error: its files would be missing silently.
Result<std::vector<Entry>> list(const std::string& folder) {
  std::vector<Entry> entries;
  std::error_code failure;
  fs::directory_iterator at(folder.empty() ? "." : folder, failure);
  for (; !failure && at != fs::directory_iterator(); at.increment(failure)) {
    std::error_code ignored;  // a broken link is neither a file nor a folder
    const bool is_folder = at->is_directory(ignored);
    if (!is_folder && !at->is_regular_file(ignored) && !at->is_fifo(ignored)) continue;
    entries.push_back({at->path().filename().string(), is_folder, at->is_symlink(ignored)});
  }
  if (failure) return system_error("list", folder, failure.value());
  return entries;
}

class Expansion {
 public:
  Status expand(const std::string& folder, std::span<const std::string> parts) {
    const std::string& part = parts.front();
    if (part == kAnyFolders) return expand_any_folders(folder, parts);
    if (!has_wildcard(part)) return go_on(joined(folder, part), parts, /*exists=*/false);
    KIN_TRY(const std::vector<Entry> entries, list(folder));
    for (const Entry& entry : entries) {
      if (is_own(entry.name) || !matches_glob(part, entry.name)) continue;
      if (entry.folder == (parts.size() == 1)) continue;
      KIN_RETURN_IF_ERROR(go_on(joined(folder, entry.name), parts, /*exists=*/true));
    }
    return Done{};
  }

  std::vector<std::string> found() {
    std::sort(found_.begin(), found_.end());
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    return std::move(found_);
  }

 private:
  // `path` matches the first of `parts`.
  Status go_on(const std::string& path, std::span<const std::string> parts, bool exists) {
    std::error_code ignored;  // a path that cannot be examined does not match
    const bool last = parts.size() == 1;
    if (!exists && last && !fs::exists(path, ignored)) return Done{};
    if (!exists && last && fs::is_directory(path, ignored)) return Done{};
    if (!exists && !last && !fs::is_directory(path, ignored)) return Done{};
    if (!last) return expand(path, parts.subspan(1));
    found_.push_back(path);
    return Done{};
  }

  Status expand_any_folders(const std::string& folder, std::span<const std::string> parts) {
    const bool last = parts.size() == 1;
    if (!last) KIN_RETURN_IF_ERROR(expand(folder, parts.subspan(1)));
    KIN_TRY(const std::vector<Entry> entries, list(folder));
    for (const Entry& entry : entries) {
      if (is_own(entry.name)) continue;
      const std::string path = joined(folder, entry.name);
      if (last && !entry.folder) found_.push_back(path);
      if (entry.folder && !entry.link) KIN_RETURN_IF_ERROR(expand_any_folders(path, parts));
    }
    return Done{};
  }

  std::vector<std::string> found_;
};

Status add_below(const std::string& folder, std::vector<std::string>& files) {
  KIN_TRY(const std::vector<Entry> entries, list(folder));
  for (const Entry& entry : entries) {
    if (entry.name.starts_with('.')) continue;
    const std::string path = joined(folder, entry.name);
    if (!entry.folder) files.push_back(path);
    if (entry.folder && !entry.link) KIN_RETURN_IF_ERROR(add_below(path, files));
  }
  return Done{};
}

}  // namespace

bool has_wildcard(std::string_view pattern) {
  return pattern.find_first_of("*?[") != std::string_view::npos;
}

bool matches_glob(std::string_view pattern, std::string_view name) {
  // Where to continue after the last star if the text after it does not match. One star is enough
  // to remember, because an earlier one can match nothing that the last cannot.
  std::size_t star = std::string_view::npos;
  std::size_t star_name = 0;
  std::size_t p = 0;
  std::size_t n = 0;
  while (n < name.size() || p < pattern.size()) {
    bool matched = false;
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_name = n;
      continue;
    }
    if (p < pattern.size() && n < name.size()) {
      std::size_t behind = p + 1;
      if (pattern[p] == '?') {
        matched = true;
      } else if (pattern[p] == '[') {
        bool in = false;
        if (!in_set(pattern, behind, name[n], in)) return false;
        matched = in;
      } else {
        matched = pattern[p] == name[n];
      }
      if (matched) {
        p = behind;
        ++n;
        continue;
      }
    }
    if (star == std::string_view::npos || star_name >= name.size()) return false;
    p = star + 1;
    n = ++star_name;
  }
  return true;
}

Result<std::vector<std::string>> expand_glob(const std::string& pattern) {
  const std::vector<std::string> parts = parts_of(pattern);
  if (parts.empty()) return std::vector<std::string>{};
  Expansion expansion;
  KIN_RETURN_IF_ERROR(expansion.expand(pattern.starts_with('/') ? "/" : "", parts));
  return expansion.found();
}

fs::path fixed_prefix(const std::string& pattern) {
  fs::path prefix;
  if (pattern.starts_with('/')) prefix = "/";
  const std::vector<std::string> parts = parts_of(pattern);
  for (std::size_t i = 0; i + 1 < parts.size() && !has_wildcard(parts[i]); ++i) prefix /= parts[i];
  return prefix;
}

Result<std::vector<std::string>> files_below(const fs::path& folder) {
  std::vector<std::string> files;
  std::string name = folder.string();
  while (name.size() > 1 && name.ends_with('/')) name.pop_back();
  KIN_RETURN_IF_ERROR(add_below(name, files));
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace kin::data
