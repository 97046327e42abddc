// Passes ids through a seen set and prints the new or the seen ones.
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
  bool insert = false;  // add new ids; otherwise only look them up
  Print print = Print::kNothing;
  std::uint64_t commit_every = 8'192;  // ids between commits, at most
  data::OnError on_error = data::OnError::kFail;
};

// Counts so far; readable from other threads.
struct SeenCounts {
  std::atomic<std::uint64_t> fresh{0};
  std::atomic<std::uint64_t> seen{0};
  std::atomic<std::uint64_t> skipped{0};  // invalid ids
};

// Prints to standard output, one id per line, unchanged; new ids are durable before they are
// printed. One thread only, except for the counts.
class SeenFilter {
 public:
  // `set` must outlive the filter.
  SeenFilter(store::SeenSet& set, SeenFilterOptions options);

  // Processes a batch. An invalid id (not a number, in a set of numbers) is skipped or, by default,
  // an error; the ids before it are processed in any case.
  Status take(const IdBatch& batch);
  // Commits and prints the remaining ids.
  Status finish();

  const SeenCounts& counts() const { return counts_; }
  // True if printing failed because the reader of the pipe is gone.
  bool reader_has_gone() const { return reader_has_gone_; }

 private:
  // Reads the ids of the batch up to the first invalid one.
  Status understand(const IdBatch& batch);
  Status put_through(std::size_t begin, std::size_t end);

  store::SeenSet& set_;
  SeenFilterOptions options_;
  std::vector<store::SeenId> ids_;
  std::vector<std::string_view> texts_;  // the texts of `ids_`
  std::vector<std::uint8_t> answers_;
  std::uint64_t uncommitted_ = 0;
  std::string to_print_;
  SeenCounts counts_;
  bool reader_has_gone_ = false;
};

}  // namespace kin::app
