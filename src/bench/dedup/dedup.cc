#include <fmt/format.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/workers.h"
#include "bench/dedup/child_process.h"
#include "bench/dedup/dedup.h"

namespace kin::bench {
namespace {

namespace fs = std::filesystem;

// A corpus on disk, and the folder that goes with it.
class Workspace {
 public:
  static Result<Workspace> make(const DedupBench& bench) {
    KIN_TRY(TemporaryFolder folder, TemporaryFolder::create(bench.folder));
    Workspace workspace(std::move(folder), bench.format);
    const fs::path lines = workspace.file("corpus.jsonl");
    Prose prose;
    if (bench.sentences) {
      KIN_TRY(const auto texts, sample_texts(*bench.sentences, bench.field, 16 << 20));
      prose = Prose(texts);
    }
    KIN_RETURN_IF_ERROR(write_corpus(bench.corpus, prose, lines));
    if (bench.format != "jsonl") {
      // In a process of its own: what this one holds counts as the peak of those it starts.
      KIN_RETURN_IF_ERROR(
          run_beside({"kindred-bench", "copy", lines.string(), workspace.input().string()}));
      fs::remove(lines);
    }
    return workspace;
  }

  fs::path input() const { return file("corpus." + format_); }
  fs::path output() const { return file("out." + format_); }
  fs::path removed() const { return file("out.removed.jsonl"); }
  fs::path report() const { return file("report.json"); }

  void remove_outputs() const {
    for (const fs::path& path : {output(), removed(), report()}) fs::remove(path);
    ::sync();  // what was written before must not slow down what is measured next
  }

 private:
  Workspace(TemporaryFolder folder, std::string format)
      : folder_(std::move(folder)), format_(std::move(format)) {}
  fs::path file(const std::string& name) const { return folder_.path() / name; }

  TemporaryFolder folder_;
  std::string format_;
};

void add(Runs& runs, const ChildUsage& usage) {
  runs.seconds.push_back(usage.seconds);
  runs.cpu_seconds.push_back(usage.cpu_seconds);
  runs.peak_bytes = std::max(runs.peak_bytes, usage.peak_bytes);
}

Result<ChildUsage> run_copy(const Workspace& workspace, const DedupBench& bench) {
  workspace.remove_outputs();
  return run_beside({"kindred-bench", "copy", workspace.input().string(),
                     workspace.output().string(), "--threads", std::to_string(bench.threads)});
}

Result<ChildUsage> run_dedup(const Workspace& workspace, const DedupBench& bench,
                             const std::optional<std::string>& max_memory) {
  workspace.remove_outputs();
  std::vector<std::string> arguments{"kindred",
                                     "dedup",
                                     workspace.input().string(),
                                     "-o",
                                     workspace.output().string(),
                                     "--report",
                                     workspace.report().string(),
                                     "--quiet"};
  if (bench.threads > 0)
    arguments.insert(arguments.end(), {"--threads", std::to_string(bench.threads)});
  if (max_memory) arguments.insert(arguments.end(), {"--max-memory", *max_memory});
  return run_beside(arguments);
}

BenchInput input_of(const DedupBench& bench, const Workspace& workspace) {
  return {.corpus = bench.corpus,
          .texts = bench.sentences ? "sentences of " + *bench.sentences
                                   : std::string("generated English prose"),
          .format = bench.format,
          .file_bytes = fs::file_size(workspace.input()),
          .threads = bench.threads > 0 ? bench.threads : available_cores()};
}

Result<std::string> read_report(const Workspace& workspace) {
  KIN_TRY(const std::string report, read_file(workspace.report()));
  return report.substr(0, report.find_last_not_of('\n') + 1);
}

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

Result<std::uint64_t> hash_of_outputs(const Workspace& workspace) {
  KIN_TRY(const std::uint64_t output, hash_of_file(workspace.output()));
  KIN_TRY(const std::uint64_t removed, hash_of_file(workspace.removed()));
  return mix64(output) ^ removed;
}

}  // namespace

Result<DedupFigures> bench_dedup(const DedupBench& bench) {
  KIN_TRY(const Workspace workspace, Workspace::make(bench));
  DedupFigures figures;
  figures.input = input_of(bench, workspace);
  for (int round = 0; round < bench.rounds; ++round) {
    KIN_TRY(const ChildUsage copied, run_copy(workspace, bench));
    add(figures.copy, copied);
    KIN_TRY(const ChildUsage deduplicated, run_dedup(workspace, bench, bench.max_memory));
    add(figures.dedup, deduplicated);
  }
  KIN_TRY(figures.report, read_report(workspace));
  return figures;
}

Result<MemoryFigures> bench_memory(const DedupBench& bench,
                                   const std::vector<std::string>& budgets) {
  KIN_TRY(const Workspace workspace, Workspace::make(bench));
  MemoryFigures figures;
  figures.input = input_of(bench, workspace);
  std::optional<std::uint64_t> first_hash;
  for (const std::string& name : budgets) {
    MemoryFigures::Budget budget;
    budget.max_memory = name;
    const auto given = name == "default" ? std::nullopt : std::optional(name);
    for (int round = 0; round < bench.rounds; ++round) {
      KIN_TRY(const ChildUsage usage, run_dedup(workspace, bench, given));
      add(budget.runs, usage);
      KIN_TRY(budget.output_hash, hash_of_outputs(workspace));
      if (!first_hash) first_hash = budget.output_hash;
      figures.same_output = figures.same_output && budget.output_hash == *first_hash;
    }
    KIN_TRY(budget.report, read_report(workspace));
    figures.budgets.push_back(std::move(budget));
  }
  return figures;
}

}  // namespace kin::bench
