// Reports about indexes, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "index/shard.h"
#include "search/index_folder.h"

namespace kin::app {

struct AddedReport {
  std::string name;
  std::uint64_t added = 0;
  std::uint64_t skipped = 0;
  std::uint64_t holds = 0;
  std::vector<search::RepeatedDocument> refused;
  std::vector<search::RepeatedDocument> linked;
};
std::string to_json(const AddedReport& report);
std::string to_words(const AddedReport& report);

using search::ListedIndex;
std::string to_json(const std::vector<ListedIndex>& indexes);
std::string to_table(const std::vector<ListedIndex>& indexes);
std::string to_json(const ListedIndex& index);
std::string to_words(const ListedIndex& index);

std::string to_json(const std::string& name, const index::CheckReport& report);
std::string to_words(const std::string& name, const index::CheckReport& report);

}  // namespace kin::app
