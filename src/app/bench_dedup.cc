#include <fmt/format.h>
#include <unistd.h>

#include "app/bench.h"
#include "app/child_process.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/workers.h"

namespace kin::app {
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
      KIN_RETURN_IF_ERROR(run_self({"bench", "copy", lines.string(), workspace.input().string()}));
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

struct Runs {
  std::vector<double> seconds;
  std::vector<double> cpu_seconds;
  std::uint64_t peak_bytes = 0;

  void add(const ChildUsage& usage) {
    seconds.push_back(usage.seconds);
    cpu_seconds.push_back(usage.cpu_seconds);
    peak_bytes = std::max(peak_bytes, usage.peak_bytes);
  }
};

Result<ChildUsage> run_copy(const Workspace& workspace, const DedupBench& bench) {
  workspace.remove_outputs();
  return run_self({"bench", "copy", workspace.input().string(), workspace.output().string(),
                   "--threads", std::to_string(bench.threads)});
}

Result<ChildUsage> run_dedup(const Workspace& workspace, const DedupBench& bench,
                             const std::optional<std::string>& max_memory) {
  workspace.remove_outputs();
  std::vector<std::string> arguments{
      "dedup",    workspace.input().string(),  "-o",     workspace.output().string(),
      "--report", workspace.report().string(), "--quiet"};
  if (bench.threads > 0)
    arguments.insert(arguments.end(), {"--threads", std::to_string(bench.threads)});
  if (max_memory) arguments.insert(arguments.end(), {"--max-memory", *max_memory});
  return run_self(arguments);
}

void add_runs(JsonWriter& json, std::string_view name, const Runs& runs, double megabytes) {
  json.key(name).begin_object().field("median_seconds", median(runs.seconds));
  json.key("seconds").begin_array();
  for (const double seconds : runs.seconds) json.value(seconds);
  json.end().field("median_cpu_seconds", median(runs.cpu_seconds));
  json.field("peak_bytes", runs.peak_bytes);
  json.field("mb_per_second", megabytes / median(runs.seconds)).end();
}

void add_corpus(JsonWriter& json, const DedupBench& bench, const Workspace& workspace) {
  json.key("corpus").begin_object().field("records", bench.corpus.records);
  json.field("average_text_bytes", bench.corpus.bytes).field("duplicates", bench.corpus.duplicates);
  json.field("format", bench.format).field("file_bytes", fs::file_size(workspace.input()));
  json.field("texts", bench.sentences ? "sentences of " + *bench.sentences
                                      : std::string("made-up English prose"))
      .end();
  json.field("threads", bench.threads > 0 ? bench.threads : available_cores());
}

double megabytes(const Workspace& workspace) {
  return static_cast<double>(fs::file_size(workspace.input())) / 1e6;
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

}  // namespace

Status bench_dedup(const DedupBench& bench, JsonWriter& json) {
  KIN_TRY(const Workspace workspace, Workspace::make(bench));
  Runs copy;
  Runs dedup;
  for (int round = 0; round < bench.rounds; ++round) {
    KIN_TRY(const ChildUsage copied, run_copy(workspace, bench));
    copy.add(copied);
    KIN_TRY(const ChildUsage deduplicated, run_dedup(workspace, bench, bench.max_memory));
    dedup.add(deduplicated);
  }
  KIN_TRY(const std::string report, read_file(workspace.report()));
  add_corpus(json, bench, workspace);
  add_runs(json, "duckdb_copy", copy, megabytes(workspace));
  add_runs(json, "dedup", dedup, megabytes(workspace));
  json.field("ratio", median(dedup.seconds) / median(copy.seconds));
  json.key("report").raw(report.substr(0, report.find_last_not_of('\n') + 1));
  return Done{};
}

Status bench_memory(const DedupBench& bench, const std::vector<std::string>& budgets,
                    JsonWriter& json) {
  KIN_TRY(const Workspace workspace, Workspace::make(bench));
  add_corpus(json, bench, workspace);
  json.key("runs").begin_array();
  std::optional<std::uint64_t> first_hash;
  double first_seconds = 0;
  bool same = true;
  for (const std::string& budget : budgets) {
    Runs runs;
    std::uint64_t hash = 0;
    for (int round = 0; round < bench.rounds; ++round) {
      const std::optional<std::string> given =
          budget == "default" ? std::nullopt : std::optional(budget);
      KIN_TRY(const ChildUsage usage, run_dedup(workspace, bench, given));
      runs.add(usage);
      KIN_TRY(const std::uint64_t output, hash_of_file(workspace.output()));
      KIN_TRY(const std::uint64_t removed, hash_of_file(workspace.removed()));
      hash = mix64(output) ^ removed;
      if (!first_hash) first_hash = hash;
      same = same && hash == *first_hash;
    }
    if (first_seconds == 0) first_seconds = median(runs.seconds);
    json.begin_object().field("max_memory", budget);
    add_runs(json, "dedup", runs, megabytes(workspace));
    json.field("times_the_first", median(runs.seconds) / first_seconds);
    json.field("output_hash", fmt::format("{:016x}", hash));
    KIN_TRY(const std::string report, read_file(workspace.report()));
    json.key("report").raw(report.substr(0, report.find_last_not_of('\n') + 1)).end();
  }
  json.end().field("same_output", same);
  return Done{};
}

}  // namespace kin::app
