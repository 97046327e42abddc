// Options that the verbs about indexes share.
#pragma once

#include <memory>
#include <string>

#include "app/options.h"
#include "base/result.h"
#include "search/index_folder.h"

namespace kin::app {

struct IndexFlags {
  std::string data;
  std::string name;
};

// NAME and --data.
void add_index_flags(Verb verb, IndexFlags& flags);
void add_data_flag(Verb verb, std::string& data);

struct OpenIndexesOptions {
  bool tend = false;  // do background work in a thread
};
// The indexes of the data folder.
Result<std::unique_ptr<search::IndexFolder>> open_indexes(const std::string& data,
                                                          OpenIndexesOptions options);

// Options to open indexes with: folders of models, keys.
Result<search::OpenOptions> index_open_options(const std::string& data);
// The folder of all indexes in a data folder.
std::filesystem::path indexes_folder(const std::filesystem::path& data);

}  // namespace kin::app
