// Requests of the JSON API of indexes, read. All functions are thread-safe; kInvalidArgument names
// what is wrong.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "search/index_config.h"
#include "search/path.h"
#include "search/question.h"
#include "search/search_index.h"
#include "server/http/message.h"

namespace kin::server {

// Largest body of a request with documents, which come by the thousand.
inline constexpr std::size_t kLargestBatch = std::size_t{16} << 20;
inline constexpr std::uint32_t kMostPartitions = 65'536;

struct NewIndex {
  std::string name;
  search::IndexConfig config;
  std::uint32_t partitions = 0;  // of an index on nodes; 0: not given
  std::vector<search::Document> sample = {};  // the same; documents to learn from
};
Result<NewIndex> new_index_in(const Request& request);
Result<std::vector<search::Document>> documents_in(const Request& request);

Status only_parameters(const Request& request, const std::set<std::string_view>& known);
Result<std::string> id_in(const Request& request);
Result<std::optional<index::Millis>> as_of_in(const Request& request);

// How old a state may answer the request, as its parameter `most_behind` says in seconds, which is
// removed; nothing without it.
Result<std::optional<std::chrono::milliseconds>> take_most_behind(Request& request);

Result<search::Question> question_in_query(const Request& request);
Result<search::Question> question_in_body(const Request& request);
Result<search::NeighboursQuestion> neighbours_in(const Request& request);
Result<search::PathQuestion> path_in(const Request& request);

}  // namespace kin::server
