// Options that the verbs about indexes share.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "search/library.h"

namespace CLI {
class App;
}  // namespace CLI

namespace kin::app {

struct IndexFlags {
  std::string data;
  std::string name;
};

// NAME and --data.
void add_index_flags(CLI::App& verb, IndexFlags& flags);
void add_data_flag(CLI::App& verb, std::string& data);

// The indexes of the data folder. With a thread that keeps them in order if `tend`.
struct LibraryOptions {
  bool tend = false;
};
Result<std::unique_ptr<search::Library>> open_library(const std::string& data,
                                                      LibraryOptions options);

// What indexes are opened with, wherever they are: models, keys.
Result<search::OpenOptions> index_open_options(const std::string& data);
// The folder of all indexes in a data folder.
std::filesystem::path indexes_folder(const std::filesystem::path& data);

}  // namespace kin::app
