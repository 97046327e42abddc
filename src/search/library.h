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

// Opens indexes when they are first asked for, and keeps them open. Thread-safe.
class Library {
 public:
  // `folder` need not be there.
  Library(std::filesystem::path folder, OpenOptions options);

  // In order.
  Result<std::vector<std::string>> names() const;
  // kFailedPrecondition if there is one of that name.
  Status create(const std::string& name, const IndexConfig& config);
  // kNotFound, with the names there are.
  Result<std::shared_ptr<SearchIndex>> open(const std::string& name);
  // All that it holds goes. kFailedPrecondition while another process has it open.
  Status drop(const std::string& name);

  // Closes all; the first error.
  Status close();

 private:
  std::filesystem::path path_of(std::string_view name) const { return folder_ / name; }
  Error not_found(std::string_view name) const;

  const std::filesystem::path folder_;
  const OpenOptions options_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<SearchIndex>> open_;
};

}  // namespace kin::search
