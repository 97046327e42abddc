// One index: documents in, answers out. A shard, what makes its vectors, and a thread that keeps
// both in order.
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
#include "search/question.h"

namespace kin::search {

struct OpenOptions {
  std::vector<std::filesystem::path> models = {};  // where embedders find their files
  std::string embed_key = {};                      // what an http embedder is asked with
  // It may be on this machine or beside it, not only on the internet.
  bool private_embedders = false;
  Clock* clock = &system_clock();
  bool tend = true;  // work that is due is done by a thread, as it comes up
  // What failed while nobody waited for it; called on any thread.
  std::function<void(const Error&)> on_problem = {};
};

// A document that repeats another.
struct RepeatedDocument {
  std::string id = {};
  std::string duplicate_of = {};
  double similarity = 0;
};

struct AddReport {
  std::uint64_t added = 0;  // or written over what there was
  std::vector<RepeatedDocument> refused = {};
  std::vector<RepeatedDocument> linked = {};
};

struct IndexInfo {
  IndexConfig config = {};
  bool open = true;  // if not, `stats` has counters alone
  index::ShardStats stats = {};
  // Of the main space, as it is now: 0 if it has none yet, nothing if that takes opening it.
  std::optional<std::uint32_t> dimension = 0;
  bool by_meaning = false;       // words can be asked for by what they mean
  bool building = false;         // vectors are being made, or made anew
  std::uint64_t disk_bytes = 0;  // of everything it keeps
};

struct Neighbours {
  struct Node {
    std::string id = {};
    std::string title = {};
    std::uint32_t hops = 0;
    bool missing = false;  // linked to, but not there
  };
  std::vector<Node> nodes = {};
  std::vector<AnswerEdge> edges = {};
  bool complete = true;
};

struct NeighboursQuestion {
  std::string id = {};
  std::uint32_t hops = 1;
  std::size_t limit = 50;
  std::optional<index::Millis> as_of = {};
};

// Thread-safe, but settle() and close() are for one thread. One process has it open at a time.
class SearchIndex {
 public:
  // In an empty or missing folder. Fails if what makes its vectors cannot be opened.
  static Status create(const std::filesystem::path& folder, const IndexConfig& config,
                       const OpenOptions& options);
  static Result<std::unique_ptr<SearchIndex>> open(const std::filesystem::path& folder,
                                                   const OpenOptions& options);
  // As close(), whose error is lost.
  ~SearchIndex();

  // What its files say of one that need not be open, here or elsewhere. Reads little of them.
  static Result<IndexInfo> peek(const std::filesystem::path& folder);
  // kFailedPrecondition if it is open, here or elsewhere; one that is damaged is not.
  static Status check_closed(const std::filesystem::path& folder);

  const IndexConfig& config() const;

  // kInvalidArgument, which names the document, if it cannot be added.
  Status check_document(const Document& document) const;
  // Durable, and found by every search that begins after it returned. All of them or, with an
  // error, none; kInvalidArgument names the document.
  Result<AddReport> add(std::span<const Document> documents);
  // How many of them there were.
  Result<std::uint64_t> remove(std::span<const std::string> ids);

  Result<Answer> search(const Question& question) const;
  // With its links. Nothing where there is none, or it is not valid then.
  Result<std::optional<Document>> document(std::string_view id,
                                           std::optional<index::Millis> as_of = {}) const;
  // kNotFound if the document is not there.
  Result<Neighbours> neighbours(const NeighboursQuestion& question) const;
  // Every document with its links, in the order they were added.
  Status each(const std::function<Status(const Document&)>& visit) const;

  IndexInfo info() const;
  Result<index::CheckReport> check(const std::function<void(double)>& progress = {}) const;

  // Returns when nothing is left to do for now: vectors are learnt and in their places, segments
  // merged, a checkpoint written. `stop` is asked now and then.
  Status settle(const std::function<bool()>& stop = {});
  // Waits for those who are at it; who comes later is told that it is closed.
  Status close();

 private:
  class State;
  explicit SearchIndex(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kin::search
