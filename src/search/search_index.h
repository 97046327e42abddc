// One index: a shard, the embedder that makes its vectors, and a thread for background work.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "index/shard.h"
#include "search/answer.h"
#include "search/document.h"
#include "search/index_config.h"
#include "search/path.h"
#include "search/question.h"

namespace kin::search {

struct OpenOptions {
  std::vector<std::filesystem::path> models = {};  // folders with models of embedders
  std::string embed_key = {};                      // bearer token for an http embedder
  bool private_embedders = false;                  // http embedders may have private addresses
  // A new index may use model files of any folder, not only those below `models`.
  bool models_anywhere = false;
  Clock* clock = &system_clock();
  bool tend = true;  // background work runs in a thread; else in wait_until_idle() only
  // Called with errors of background work, on any thread.
  std::function<void(const Error&)> on_problem = {};
};

// A document that is a near-duplicate of another.
struct RepeatedDocument {
  std::string id = {};
  std::string duplicate_of = {};
  double similarity = 0;
};

struct AddReport {
  std::uint64_t added = 0;  // or replaced
  std::vector<RepeatedDocument> refused = {};
  std::vector<RepeatedDocument> linked = {};
};

struct IndexInfo {
  IndexConfig config = {};
  bool open = true;  // if not, `stats` has counters only
  index::ShardStats stats = {};
  // The dimension of the main space: 0 without vectors, nothing if only an open index knows it.
  std::optional<std::uint32_t> dimension = 0;
  bool by_meaning = false;       // texts can be searched by vectors
  bool building = false;         // vectors are being made
  std::uint64_t disk_bytes = 0;  // of all its files
};

struct Neighbours {
  struct Node {
    std::string id = {};
    std::string title = {};
    std::uint32_t hops = 0;
    bool missing = false;  // a link leads to it, but the document does not exist
  };
  std::vector<Node> nodes = {};
  std::vector<AnswerEdge> edges = {};
  bool complete = true;  // `limit` did not cut anything off
};

struct NeighboursQuestion {
  std::string id = {};
  std::uint32_t hops = 1;
  std::size_t limit = 50;
  std::optional<index::Millis> as_of = {};
};

// Thread-safe, except that wait_until_idle() and close() are for one thread. One process can have
// it open at a time.
class SearchIndex {
 public:
  // Makes an index in an empty or missing folder. Fails if its embedder cannot be opened.
  static Status create(const std::filesystem::path& folder, const IndexConfig& config,
                       const OpenOptions& options);
  static Result<std::unique_ptr<SearchIndex>> open(const std::filesystem::path& folder,
                                                   const OpenOptions& options);
  // Closes the index; an error of close() is lost.
  ~SearchIndex();

  // Reads the info from the files of an index, whether or not it is open here or in another
  // process.
  static Result<IndexInfo> peek(const std::filesystem::path& folder);
  // kFailedPrecondition if it is open here or in another process. A damaged index counts as closed.
  static Status check_closed(const std::filesystem::path& folder);

  const IndexConfig& config() const;

  // kInvalidArgument names the document if it cannot be added.
  Status check_document(const Document& document) const;
  // Adds or replaces the documents: all of them or, with an error, none. On return they are durable
  // and every later search finds them. kInvalidArgument names the document.
  Result<AddReport> add(std::span<const Document> documents);
  // Returns how many of them existed.
  Result<std::uint64_t> remove(std::span<const std::string> ids);

  Result<Answer> search(const Question& question) const;
  // With its links and fragments. Nothing if there is no such document, or it is not valid at
  // `as_of`.
  Result<std::optional<Document>> document(std::string_view id,
                                           std::optional<index::Millis> as_of = {}) const;
  // kNotFound if the document does not exist.
  Result<Neighbours> neighbours(const NeighboursQuestion& question) const;
  // See find_path().
  Result<std::optional<Path>> path(const PathQuestion& question) const;
  // Every document with its links and fragments, in the order they were added.
  Status each(const std::function<Status(const Document&)>& visit) const;

  IndexInfo info() const;
  Result<index::CheckReport> check(const std::function<void(double)>& progress = {}) const;

  // Returns when no background work is due: vectors are learnt and placed, segments merged, a
  // checkpoint written. Returns early once `stop` returns true.
  Status wait_until_idle(const std::function<bool()>& stop = {});
  // Blocks until running calls finish; later calls fail with kFailedPrecondition.
  Status close();

 private:
  class State;
  explicit SearchIndex(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kin::search
