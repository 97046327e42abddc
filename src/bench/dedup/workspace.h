// A generated corpus on disk, and the programs that are measured on it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "bench/child_process.h"
#include "bench/dedup/corpus.h"
#include "bench/dedup/figures.h"

namespace kin::bench {

struct WorkspaceOptions {
  CorpusOptions corpus;
  std::optional<std::string> sentences;  // a dataset whose sentences make the corpus
  std::string field = "text";            // of that dataset
  std::string format = "parquet";
  std::optional<std::filesystem::path> folder;  // to make the temporary folder in
  int threads = 0;                              // 0: one for each core
};

// A temporary folder with a corpus. Every program runs in a process of its own, after the outputs
// of the previous one were removed. One thread only.
class Workspace {
 public:
  static Result<Workspace> make(WorkspaceOptions options);

  BenchInput input() const;
  // DuckDB's COPY of the corpus, to a file of the same format.
  Result<ChildUsage> copy() const;
  // `kindred dedup` of the corpus, with these arguments beside input, output and threads.
  Result<ChildUsage> dedup(const std::vector<std::string>& arguments) const;
  // The JSON report of the last dedup().
  Result<std::string> report() const;
  // Hash of the records and the audit log that the last dedup() wrote.
  Result<std::uint64_t> output_hash() const;

 private:
  Workspace(TemporaryFolder folder, WorkspaceOptions options)
      : folder_(std::move(folder)), options_(std::move(options)) {}
  std::filesystem::path file(const std::string& name) const { return folder_.path() / name; }
  std::filesystem::path corpus() const { return file("corpus." + options_.format); }
  std::filesystem::path output() const { return file("out." + options_.format); }
  void remove_outputs() const;

  TemporaryFolder folder_;
  WorkspaceOptions options_;
};

// Adds one run to those of its command.
void add(Runs& runs, const ChildUsage& usage);

}  // namespace kin::bench
