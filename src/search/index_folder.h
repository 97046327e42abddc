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
  std::string problem = {};  // why `info` could not be read; empty if it was
};

// Opens an index when it is first asked for and keeps it open. A call that takes long (open,
// create, drop) blocks only calls for the same index. Thread-safe.
class IndexFolder {
 public:
  // `folder` need not exist.
  IndexFolder(std::filesystem::path folder, OpenOptions options);

  // Names of all indexes, sorted.
  Result<std::vector<std::string>> names() const;
  // All indexes, sorted by name. Opens none: it reads the files of those that are not open, even if
  // another process has them open.
  Result<std::vector<ListedIndex>> list();
  // kFailedPrecondition if the name is taken.
  Status create(const std::string& name, const IndexConfig& config);
  // kNotFound names the indexes that exist.
  Result<std::shared_ptr<SearchIndex>> open(const std::string& name);
  // Deletes the index, even if it is damaged. kFailedPrecondition while another process has it
  // open.
  Status drop(const std::string& name);

  // Closes all indexes. Returns the first error.
  Status close();

 private:
  struct Place {
    std::mutex mutex;                    // held while the index is opened, created or dropped
    std::shared_ptr<SearchIndex> index;  // null if it is not open
  };

  std::filesystem::path path_of(std::string_view name) const { return folder_ / name; }
  Error not_found(std::string_view name) const;
  // kNotFound if there is no index of that name.
  Status check_there(const std::string& name) const;
  std::shared_ptr<Place> place_of(const std::string& name);
  // Null if the index is not open, or is being opened.
  std::shared_ptr<SearchIndex> opened(const std::string& name);

  const std::filesystem::path folder_;
  const OpenOptions options_;
  std::mutex mutex_;  // guards the map; never held while waiting for a place's mutex
  std::map<std::string, std::shared_ptr<Place>> places_;
};

}  // namespace kin::search
