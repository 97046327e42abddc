// The shortest path between two documents.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "index/graph.h"
#include "search/answer.h"

namespace kin::search {

struct PathQuestion {
  std::string from = {};  // ids of documents
  std::string to = {};
  index::Direction direction = index::Direction::kBoth;  // in which links may be followed
  std::vector<std::string> edges = {};                   // names of links; empty: all
  std::optional<index::Millis> as_of = {};               // documents and links that are valid then
  std::uint32_t hops = 16;                               // most links of the path
};

struct PathNode {
  std::string id = {};
  std::string title = {};
};

struct Path {
  std::vector<PathNode> nodes = {};    // from the first document to the last
  std::vector<AnswerEdge> edges = {};  // one fewer; each joins its two nodes in either direction
};

// The shortest path, by the number of links. Nothing if there is none of at most `hops` links.
// kNotFound if a document at an end is missing.
Result<std::optional<Path>> find_path(const index::TruthView& truth, const PathQuestion& question);

// `{"path": {"hops", "nodes", "edges"} or null}`, as docs/api.md has it. `behind` is that of an
// Answer.
std::string to_json(const std::optional<Path>& path,
                    std::optional<std::chrono::milliseconds> behind = {});

}  // namespace kin::search
