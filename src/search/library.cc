#include "search/library.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/file.h"

namespace kin::search {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 64;
// A folder on its way out, which a crash may leave behind.
constexpr std::string_view kDropped = ".dropped-";

bool is_name(std::string_view name) {
  const auto fits = [](char c) {
    return is_ascii_alpha(c) || is_ascii_digit(c) || c == '-' || c == '_';
  };
  return !name.empty() && name.size() <= kLongestName && std::ranges::all_of(name, fits);
}

}  // namespace

Status check_name(std::string_view name) {
  if (is_name(name)) return Done{};
  return Error{
      Code::kInvalidArgument,
      fmt::format("\"{}\" is no name for an index (use up to 64 letters, digits, - and _)", name)};
}

Library::Library(fs::path folder, OpenOptions options)
    : folder_(std::move(folder)), options_(std::move(options)) {}

Result<std::vector<std::string>> Library::names() const {
  std::vector<std::string> names;
  KIN_TRY(const bool there, file_exists(folder_));
  if (!there) return names;
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator(folder_, problem)) {
    std::string name = entry.path().filename().string();
    if (is_name(name) && fs::exists(entry.path() / kConfigName)) names.push_back(std::move(name));
  }
  if (problem) return system_error("read", folder_, problem.value());
  std::ranges::sort(names);
  return names;
}

Error Library::not_found(std::string_view name) const {
  const auto known = names();
  if (!known || known->empty())
    return {Code::kNotFound,
            fmt::format("there is no index \"{0}\"; make it with: kindred index create {0}", name)};
  return {Code::kNotFound,
          fmt::format("there is no index \"{}\"; there are: {}", name, fmt::join(*known, ", "))};
}

Status Library::create(const std::string& name, const IndexConfig& config) {
  KIN_RETURN_IF_ERROR(check_name(name));
  const std::lock_guard lock(mutex_);
  KIN_TRY(const bool there, file_exists(path_of(name) / kConfigName));
  if (there)
    return Error{Code::kFailedPrecondition, fmt::format("there is an index \"{}\" already", name)};
  return SearchIndex::create(path_of(name), config, options_);
}

Result<std::shared_ptr<SearchIndex>> Library::open(const std::string& name) {
  KIN_RETURN_IF_ERROR(check_name(name));
  const std::lock_guard lock(mutex_);
  if (const auto known = open_.find(name); known != open_.end()) return known->second;
  KIN_TRY(const bool there, file_exists(path_of(name) / kConfigName));
  if (!there) return not_found(name);
  KIN_TRY(auto index, SearchIndex::open(path_of(name), options_));
  return open_[name] = std::move(index);
}

Status Library::drop(const std::string& name) {
  // Opening it proves that nobody else has it.
  KIN_TRY(const auto index, open(name));
  const std::lock_guard lock(mutex_);
  open_.erase(name);
  KIN_RETURN_IF_ERROR(index->close());
  const fs::path dropped = folder_ / fmt::format("{}{}", kDropped, name);
  KIN_RETURN_IF_ERROR(rename_durably(path_of(name), dropped));
  std::error_code problem;
  fs::remove_all(dropped, problem);
  if (problem) return system_error("remove", dropped, problem.value());
  return Done{};
}

Status Library::close() {
  const std::lock_guard lock(mutex_);
  Status first = Done{};
  for (auto& [name, index] : open_) {
    const Status closed = index->close();
    if (first.ok() && !closed.ok()) first = closed;
  }
  open_.clear();
  return first;
}

}  // namespace kin::search
