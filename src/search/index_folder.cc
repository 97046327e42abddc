#include "search/index_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/file.h"

namespace kin::search {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 64;
// The prefix of a folder that is being deleted; a crash may leave one behind.
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
      fmt::format("\"{}\" is not a name for an index (use up to 64 letters, digits, - and _)",
                  name)};
}

IndexFolder::IndexFolder(fs::path folder, OpenOptions options)
    : folder_(std::move(folder)), options_(std::move(options)) {}

Result<std::vector<std::string>> IndexFolder::names() const {
  std::vector<std::string> names;
  // The folder is made with the first index.
  KIN_TRY(const bool there, file_exists(folder_));
  if (!there) return names;
  std::error_code problem;
  for (fs::directory_iterator at(folder_, problem), end; !problem && at != end;
       at.increment(problem)) {
    std::string name = at->path().filename().string();
    std::error_code ignored;  // a folder that cannot be read is not an index
    if (is_name(name) && fs::exists(at->path() / kConfigName, ignored))
      names.push_back(std::move(name));
  }
  if (problem) return system_error("read", folder_, problem.value());
  std::ranges::sort(names);
  return names;
}

Error IndexFolder::not_found(std::string_view name) const {
  const auto known = names();
  if (!known || known->empty())
    return {
        Code::kNotFound,
        fmt::format("there is no index \"{0}\"; create it with: kindred index create {0}", name)};
  return {Code::kNotFound,
          fmt::format("there is no index \"{}\"; there are: {}", name, fmt::join(*known, ", "))};
}

Status IndexFolder::check_there(const std::string& name) const {
  KIN_TRY(const bool there, file_exists(path_of(name) / kConfigName));
  return there ? Status(Done{}) : not_found(name);
}

std::shared_ptr<IndexFolder::Place> IndexFolder::place_of(const std::string& name) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Place>& place = places_[name];
  if (!place) place = std::make_shared<Place>();
  return place;
}

std::shared_ptr<SearchIndex> IndexFolder::opened(const std::string& name) {
  const std::shared_ptr<Place> place = place_of(name);
  // A list must not wait for an index that takes long to open.
  const std::unique_lock lock(place->mutex, std::try_to_lock);
  return lock ? place->index : nullptr;
}

Result<std::vector<ListedIndex>> IndexFolder::list() {
  KIN_TRY(const std::vector<std::string> all, names());
  std::vector<ListedIndex> listed;
  for (const std::string& name : all) {
    ListedIndex& one = listed.emplace_back(ListedIndex{.name = name});
    if (const auto index = opened(name)) {
      one.info = index->info();
    } else if (auto info = SearchIndex::peek(path_of(name))) {
      one.info = std::move(*info);
    } else {
      one.problem = info.error().message;
    }
  }
  return listed;
}

Status IndexFolder::create(const std::string& name, const IndexConfig& config) {
  KIN_RETURN_IF_ERROR(check_name(name));
  const std::shared_ptr<Place> place = place_of(name);
  const std::lock_guard lock(place->mutex);
  KIN_TRY(const bool there, file_exists(path_of(name) / kConfigName));
  if (there)
    return Error{Code::kFailedPrecondition, fmt::format("there is an index \"{}\" already", name)};
  return SearchIndex::create(path_of(name), config, options_);
}

Result<std::shared_ptr<SearchIndex>> IndexFolder::open(const std::string& name) {
  KIN_RETURN_IF_ERROR(check_name(name));
  // Checked before a place is made, so that names without an index take no memory.
  KIN_RETURN_IF_ERROR(check_there(name));
  const std::shared_ptr<Place> place = place_of(name);
  const std::lock_guard lock(place->mutex);
  if (place->index) return place->index;
  // Again under the lock: it may have been dropped meanwhile.
  KIN_RETURN_IF_ERROR(check_there(name));
  KIN_TRY(place->index, SearchIndex::open(path_of(name), options_));
  return place->index;
}

Status IndexFolder::drop(const std::string& name) {
  KIN_RETURN_IF_ERROR(check_name(name));
  KIN_RETURN_IF_ERROR(check_there(name));
  const std::shared_ptr<Place> place = place_of(name);
  const std::lock_guard lock(place->mutex);
  KIN_RETURN_IF_ERROR(check_there(name));
  if (const auto index = std::exchange(place->index, nullptr)) KIN_RETURN_IF_ERROR(index->close());
  // Closed here, it may still be open in another process.
  KIN_RETURN_IF_ERROR(SearchIndex::check_closed(path_of(name)));
  const fs::path dropped = folder_ / fmt::format("{}{}", kDropped, name);
  // The rename makes the index disappear at once, because the new name is not a valid name of an
  // index. If removing the files is interrupted, the next drop of the name removes the rest.
  std::error_code problem;
  fs::remove_all(dropped, problem);
  if (!problem) {
    KIN_RETURN_IF_ERROR(rename_durably(path_of(name), dropped));
    fs::remove_all(dropped, problem);
  }
  if (problem) return system_error("remove", dropped, problem.value());
  return Done{};
}

Status IndexFolder::close() {
  std::map<std::string, std::shared_ptr<Place>> all;
  {
    // Copied: while one index closes, others can still be asked for.
    const std::lock_guard lock(mutex_);
    all = places_;
  }
  Status first = Done{};
  for (auto& [name, place] : all) {
    const std::lock_guard lock(place->mutex);
    const auto index = std::exchange(place->index, nullptr);
    const Status closed = index ? index->close() : Status(Done{});
    if (first.ok() && !closed.ok()) first = closed;
  }
  return first;
}

}  // namespace kin::search
