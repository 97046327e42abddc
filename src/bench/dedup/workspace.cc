#include "bench/dedup/workspace.h"

#include <unistd.h>

#include <algorithm>

#include "base/hash.h"
#include "base/workers.h"
#include "bench/dedup/dedup.h"

namespace kin::bench {
namespace {

namespace fs = std::filesystem;

Result<std::uint64_t> hash_of_file(const fs::path& path) {
  KIN_TRY(File file, File::open_to_read(path));
  std::string block(1 << 20, '\0');
  std::uint64_t hash = 0;
  while (true) {
    KIN_TRY(const std::size_t count, file.read(block.data(), block.size()));
    if (count == 0) return hash;
    hash = hash64(std::string_view(block).substr(0, count), hash);
  }
}

}  // namespace

Result<Workspace> Workspace::make(WorkspaceOptions options) {
  KIN_TRY(TemporaryFolder folder, TemporaryFolder::create(options.folder));
  Workspace workspace(std::move(folder), std::move(options));
  const WorkspaceOptions& how = workspace.options_;
  const fs::path lines = workspace.file("corpus.jsonl");
  Prose prose;
  if (how.sentences) {
    KIN_TRY(const auto texts, sample_texts(*how.sentences, how.field, 16 << 20));
    prose = Prose(texts);
  }
  KIN_RETURN_IF_ERROR(write_corpus(how.corpus, prose, lines));
  if (how.format != "jsonl") {
    // In a separate process: memory held by this one counts as the peak of its children.
    KIN_RETURN_IF_ERROR(
        run_beside({"kindred-bench", "copy", lines.string(), workspace.corpus().string()}));
    fs::remove(lines);
  }
  return workspace;
}

BenchInput Workspace::input() const {
  return {.corpus = options_.corpus,
          .texts = options_.sentences ? "sentences of " + *options_.sentences
                                      : std::string("generated English prose"),
          .format = options_.format,
          .file_bytes = fs::file_size(corpus()),
          .threads = options_.threads > 0 ? options_.threads : available_cores()};
}

void Workspace::remove_outputs() const {
  for (const char* name : {"out.removed.jsonl", "out.cut.jsonl", "report.json"})
    fs::remove(file(name));
  fs::remove(output());
  ::sync();  // earlier writes must not slow down the next measurement
}

Result<ChildUsage> Workspace::copy() const {
  remove_outputs();
  return run_beside({"kindred-bench", "copy", corpus().string(), output().string(), "--threads",
                     std::to_string(options_.threads)});
}

Result<ChildUsage> Workspace::dedup(const std::vector<std::string>& arguments) const {
  remove_outputs();
  std::vector<std::string> all{"kindred",
                               "dedup",
                               corpus().string(),
                               "-o",
                               output().string(),
                               "--report",
                               file("report.json").string(),
                               "--quiet"};
  if (options_.threads > 0) all.insert(all.end(), {"--threads", std::to_string(options_.threads)});
  all.insert(all.end(), arguments.begin(), arguments.end());
  return run_beside(all);
}

Result<std::string> Workspace::report() const {
  KIN_TRY(const std::string report, read_file(file("report.json")));
  return report.substr(0, report.find_last_not_of('\n') + 1);
}

Result<std::uint64_t> Workspace::output_hash() const {
  KIN_TRY(const std::uint64_t records, hash_of_file(output()));
  KIN_TRY(const std::uint64_t removed, hash_of_file(file("out.removed.jsonl")));
  return mix64(records) ^ removed;
}

void add(Runs& runs, const ChildUsage& usage) {
  runs.seconds.push_back(usage.seconds);
  runs.cpu_seconds.push_back(usage.cpu_seconds);
  runs.peak_bytes = std::max(runs.peak_bytes, usage.peak_bytes);
}

}  // namespace kin::bench
