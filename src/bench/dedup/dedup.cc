#include "bench/dedup/dedup.h"

#include "bench/dedup/workspace.h"

namespace kin::bench {
namespace {

Result<Workspace> make_workspace(const DedupBench& bench) {
  return Workspace::make({.corpus = bench.corpus,
                          .sentences = bench.sentences,
                          .field = bench.field,
                          .format = bench.format,
                          .folder = bench.folder,
                          .threads = bench.threads});
}

std::vector<std::string> memory_argument(const std::optional<std::string>& max_memory) {
  if (!max_memory) return {};
  return {"--max-memory", *max_memory};
}

}  // namespace

Result<DedupFigures> bench_dedup(const DedupBench& bench) {
  KIN_TRY(const Workspace workspace, make_workspace(bench));
  DedupFigures figures;
  figures.input = workspace.input();
  for (int round = 0; round < bench.rounds; ++round) {
    KIN_TRY(const ChildUsage copied, workspace.copy());
    add(figures.copy, copied);
    KIN_TRY(const ChildUsage deduplicated, workspace.dedup(memory_argument(bench.max_memory)));
    add(figures.dedup, deduplicated);
  }
  KIN_TRY(figures.report, workspace.report());
  return figures;
}

Result<MemoryFigures> bench_memory(const DedupBench& bench,
                                   const std::vector<std::string>& budgets) {
  KIN_TRY(const Workspace workspace, make_workspace(bench));
  MemoryFigures figures;
  figures.input = workspace.input();
  std::optional<std::uint64_t> first_hash;
  for (const std::string& name : budgets) {
    MemoryFigures::Budget budget;
    budget.max_memory = name;
    const auto given = name == "default" ? std::nullopt : std::optional(name);
    for (int round = 0; round < bench.rounds; ++round) {
      KIN_TRY(const ChildUsage usage, workspace.dedup(memory_argument(given)));
      add(budget.runs, usage);
      KIN_TRY(budget.output_hash, workspace.output_hash());
      if (!first_hash) first_hash = budget.output_hash;
      figures.same_output = figures.same_output && budget.output_hash == *first_hash;
    }
    KIN_TRY(budget.report, workspace.report());
    figures.budgets.push_back(std::move(budget));
  }
  return figures;
}

}  // namespace kin::bench
