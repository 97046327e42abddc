// All indexes of a data folder, by name.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "search/search_index.h"

namespace kin::search {

// 1 to 64 letters, digits, - and _; kInvalidArgument otherwise.
Status check_name(std::string_view name);

struct ListedIndex {
  std::string name = {};
  IndexInfo info = {};
  std::string problem = {};  // why there is no info
};

// Opens indexes when they are first asked for, and keeps them open. One that takes its time to be
// opened, made or dropped is waited for by those alone who want that one. Thread-safe.
class Library {
 public:
  // `folder` need not be there.
  Library(std::filesystem::path folder, OpenOptions options);

  // In order.
  Result<std::vector<std::string>> names() const;
  // All of them, in order. Opens none: of those that are not open it tells what their files say,
  // also while another process has them open.
  Result<std::vector<ListedIndex>> list();
  // kFailedPrecondition if there is one of that name.
  Status create(const std::string& name, const IndexConfig& config);
  // kNotFound, with the names there are.
  Result<std::shared_ptr<SearchIndex>> open(const std::string& name);
  // All that it holds goes, also if it is damaged. kFailedPrecondition while another process has it
  // open.
  Status drop(const std::string& name);

  // Closes all; the first error.
  Status close();

 private:
  // What happens to an index happens under its mutex.
  struct Place {
    std::mutex mutex;
    std::shared_ptr<SearchIndex> index;  // if it is open
  };

  std::filesystem::path path_of(std::string_view name) const { return folder_ / name; }
  Error not_found(std::string_view name) const;
  // kNotFound if there is none of that name.
  Status check_there(const std::string& name) const;
  std::shared_ptr<Place> place_of(const std::string& name);
  // Nothing if it is not open, or is just being opened.
  std::shared_ptr<SearchIndex> opened(const std::string& name);

  const std::filesystem::path folder_;
  const OpenOptions options_;
  std::mutex mutex_;  // guards the map; held by nobody who waits for a place
  std::map<std::string, std::shared_ptr<Place>> places_;
};

}  // namespace kin::search
