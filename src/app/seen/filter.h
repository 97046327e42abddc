// Ids on their way through a seen set: which are new, which were seen?
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "app/seen/id_source.h"
#include "base/result.h"
#include "store/seen_set.h"

namespace kin::app {

struct SeenFilterOptions {
  enum class Print { kNothing, kNew, kSeen };
  std::string name;     // of the set, for messages
  bool insert = false;  // otherwise the set is only asked
  Print print = Print::kNothing;
  std::uint64_t commit_every = 8'192;  // ids between commits, at most
  data::OnError on_error = data::OnError::kFail;
};

// What went through so far; other threads may look.
struct SeenCounts {
  std::atomic<std::uint64_t> fresh{0};
  std::atomic<std::uint64_t> seen{0};
  std::atomic<std::uint64_t> skipped{0};  // are no ids of this set
};

// What it prints goes to standard output, one id a line, as it came; new ids are durable before
// they are printed. One thread only, but for the counts.
class SeenFilter {
 public:
  // `set` outlives the filter.
  SeenFilter(store::SeenSet& set, SeenFilterOptions options);

  // Of a batch with an id that is none (not a number, for a set of numbers), what stands before it
  // still goes through; then that is the error, unless such ids are to be skipped.
  Status take(const IdBatch& batch);
  // Makes durable and prints what is left.
  Status finish();

  const SeenCounts& counts() const { return counts_; }
  // Whether an error came from printing into a pipe that nobody reads any more.
  bool reader_has_gone() const { return reader_has_gone_; }

 private:
  // The ids of the batch, up to the first problem.
  Status understand(const IdBatch& batch);
  Status put_through(std::size_t begin, std::size_t end);

  store::SeenSet& set_;
  SeenFilterOptions options_;
  std::vector<store::SeenId> ids_;
  std::vector<std::string_view> texts_;  // what the ids were made of
  std::vector<std::uint8_t> answers_;
  std::uint64_t uncommitted_ = 0;
  std::string to_print_;
  SeenCounts counts_;
  bool reader_has_gone_ = false;
};

}  // namespace kin::app
