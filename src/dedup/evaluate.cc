#include "dedup/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "base/file.h"
#include "base/locked_folder.h"
#include "base/workers.h"
#include "dedup/output/audit.h"
#include "dedup/output/json_lines.h"
#include "dedup/output/removed_log.h"
#include "dedup/record_text.h"
#include "dedup/scan/scan.h"
#include "sketch/shingles_reference.h"
#include "text/words.h"

namespace kin::dedup {
namespace {

namespace fs = std::filesystem;

// Texts with fewer words are not changed: a single word would change too large a share.
constexpr std::size_t kFewestWords = 20;
constexpr std::array kEdges{0.0, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0};

struct Record {
  std::string text;
  std::optional<std::string> order;  // the value of --keep's column
};

// The input of the run. Records are in the order of the file.
struct Plantation {
  struct Pair {
    std::size_t original;  // rows
    std::size_t copy;
    Edit edit;
  };
  std::vector<Record> records;
  std::vector<Pair> pairs;
};

double reference_similarity(const std::string& a, const std::string& b,
                            const sketch::ShingleOptions& options) {
  if (a == b) return 1;
  const auto set_of = [&](const std::string& text) {
    const auto shingles = sketch::shingles_reference(text, options);
    return std::set<std::uint64_t>(shingles.begin(), shingles.end());
  };
  const auto of_a = set_of(a);
  const auto of_b = set_of(b);
  std::size_t shared = 0;
  for (const std::uint64_t shingle : of_a) shared += of_b.count(shingle);
  const std::size_t all = of_a.size() + of_b.size() - shared;
  return all == 0 ? 0 : static_cast<double>(shared) / static_cast<double>(all);
}

std::size_t bucket_of(double similarity) {
  const auto above = std::upper_bound(kEdges.begin(), kEdges.end() - 1, similarity);
  return static_cast<std::size_t>(above - kEdges.begin()) - 1;
}

Result<std::vector<Record>> read_sample(const std::vector<std::string>& inputs,
                                        const EvaluateOptions& options, const fs::path& folder) {
  KIN_TRY(std::vector<data::Input> files,
          data::find_inputs(inputs, folder, nullptr, options.dedup.remote));
  data::DatasetOptions dataset_options;
  dataset_options.threads = options.dedup.threads;
  dataset_options.temporary_folder = folder;
  KIN_TRY(const auto dataset, data::Dataset::open(std::move(files), dataset_options));
  std::vector<Record> records;
  std::string scratch;
  const KeepPolicy& keep = options.dedup.keep;
  const std::size_t fields = options.dedup.fields.size();
  data::SampleOptions sample;
  sample.columns = options.dedup.fields;
  if (keep.needs_column()) sample.columns.push_back(keep.column);
  sample.optional_columns = sample.columns.size();
  sample.max_bytes = options.sample_bytes;
  sample.on_error = options.dedup.on_error;
  sample.visitor = [&](const data::Batch& batch, int) -> Status {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto text = text_of(batch, i, fields, scratch);
      if (!text) continue;
      Record record{.text = std::string(*text), .order = {}};
      if (keep.needs_column()) {
        if (const auto value = batch.value(fields, i)) record.order = std::string(*value);
      }
      records.push_back(std::move(record));
    }
    return Done{};
  };
  KIN_RETURN_IF_ERROR(dataset->sample(sample));
  return records;
}

// A random selection of the records that can be changed, in random order.
std::vector<std::size_t> choose_originals(const std::vector<std::string>& texts, Random& random,
                                          const EvaluateOptions& options) {
  std::vector<std::size_t> chosen;
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    text::split_words(texts[i], options.dedup.shingles.normalization, words);
    if (words.size() >= kFewestWords) chosen.push_back(i);
  }
  for (std::size_t i = chosen.size(); i > 1; --i) std::swap(chosen[i - 1], chosen[random.below(i)]);
  if (chosen.size() > options.pairs) chosen.resize(options.pairs);
  return chosen;
}

// The sample and the copies, shuffled.
Plantation plant(std::vector<Record> sample, const EvaluateOptions& options) {
  Random random(options.seed);
  std::vector<std::string> texts;
  for (const Record& record : sample) texts.push_back(record.text);
  const std::vector<std::size_t> originals = choose_originals(texts, random, options);
  Planter planter(texts, options.dedup.shingles, random.next());
  Plantation planted;
  for (const std::size_t original : originals) {
    const Edit edit = kEdits[random.below(kEdits.size())];
    const double similarity = 0.5 + 0.5 * random.unit();
    planted.pairs.push_back({original, sample.size(), edit});
    sample.push_back(
        {.text = planter.copy(texts[original], edit, similarity), .order = sample[original].order});
  }
  std::vector<std::size_t> row_of(sample.size());
  std::iota(row_of.begin(), row_of.end(), std::size_t{0});
  for (std::size_t i = row_of.size(); i > 1; --i) std::swap(row_of[i - 1], row_of[random.below(i)]);
  planted.records.resize(sample.size());
  for (std::size_t i = 0; i < sample.size(); ++i) planted.records[row_of[i]] = std::move(sample[i]);
  for (Plantation::Pair& pair : planted.pairs) {
    pair.original = row_of[pair.original];
    pair.copy = row_of[pair.copy];
  }
  return planted;
}

Status write_records(const std::vector<Record>& records, const KeepPolicy& keep,
                     const fs::path& path) {
  return write_json_lines(path, records.size(), [&](std::size_t i, JsonWriter& json) {
    const Record& record = records[i];
    json.field("text", record.text);
    if (!keep.needs_column()) return;
    json.key(keep.column);
    record.order ? json.value(*record.order) : json.null();
  });
}

// Compares the removals with the expected ones.
class Judge {
 public:
  Judge(const Plantation& planted, const std::vector<Fate>& removed, const DedupOptions& options)
      : planted_(planted), removed_(removed), options_(options) {
    for (std::size_t i = 0; i + 1 < kEdges.size(); ++i) {
      Evaluation::Bucket bucket;
      bucket.low = kEdges[i];
      bucket.high = kEdges[i + 1];
      result_.buckets.push_back(bucket);
    }
    for (const Edit edit : kEdits) result_.edits.push_back({.edit = edit});
    result_.threshold = options.threshold;
    result_.planted = planted.pairs.size();
  }

  Result<Evaluation> judge() {
    if (const auto banding = banding_of(options_); banding.ok() && options_.detectors.minhash)
      banding_ = *banding;
    // Measured on many threads, summed on one, so that sums do not depend on the order.
    std::vector<double> of_pairs(planted_.pairs.size());
    KIN_RETURN_IF_ERROR(parallel_for(options_.threads, of_pairs.size(), [&](std::size_t i) {
      of_pairs[i] = similarity(planted_.pairs[i].original, planted_.pairs[i].copy);
      return Status(Done{});
    }));
    std::vector<double> of_removals(removed_.size());
    KIN_RETURN_IF_ERROR(parallel_for(options_.threads, of_removals.size(), [&](std::size_t row) {
      if (removed_[row].kept) of_removals[row] = similarity(row, *removed_[row].kept);
      return Status(Done{});
    }));
    for (std::size_t i = 0; i < of_pairs.size(); ++i) judge_pair(planted_.pairs[i], of_pairs[i]);
    for (std::size_t row = 0; row < of_removals.size(); ++row) {
      if (removed_[row].kept) judge_removal(removed_[row], of_removals[row]);
    }
    return std::move(result_);
  }

 private:
  double similarity(std::size_t a, std::size_t b) const {
    return reference_similarity(planted_.records[a].text, planted_.records[b].text,
                                options_.shingles);
  }

  void judge_pair(const Plantation::Pair& pair, double alike) {
    const auto& kept_original = removed_[pair.original].kept;
    const auto& kept_copy = removed_[pair.copy].kept;
    const bool found = kept_copy == pair.original || kept_original == pair.copy ||
                       (kept_original && kept_original == kept_copy);
    if (!found && (kept_original || kept_copy)) {
      ++result_.elsewhere;
      return;
    }
    const bool due = alike >= options_.threshold;
    Evaluation::Bucket& bucket = result_.buckets[bucket_of(alike)];
    Evaluation::ByEdit& edit = result_.edits[static_cast<std::size_t>(pair.edit)];
    ++bucket.planted;
    ++edit.planted;
    bucket.due += due;
    edit.due += due;
    bucket.found += due && found;
    edit.found += due && found;
    bucket.not_due += !due && found;
    if (due) result_.due.push_back({.similarity = alike, .found = found});
    if (due && banding_) bucket.expected += sketch::candidate_probability(*banding_, alike);
  }

  void judge_removal(const Fate& removed, double alike) {
    const bool below = alike < options_.threshold;
    const auto method = static_cast<std::size_t>(removed.method);
    Evaluation::Bucket& bucket = result_.buckets[bucket_of(alike)];
    ++bucket.removed;
    bucket.below += below;
    ++result_.removed_by[method];
    result_.below_by[method] += below;
  }

  const Plantation& planted_;
  const std::vector<Fate>& removed_;
  const DedupOptions& options_;
  std::optional<sketch::Banding> banding_;
  Evaluation result_;
};

// The run to be judged: the user's options, on a file that has one field and no ids.
DedupJob job_on(const fs::path& folder, const DedupOptions& options) {
  DedupJob job;
  job.inputs = {(folder / "planted.jsonl").string()};
  job.output = folder / "clean.jsonl";
  job.options = options;
  job.options.fields = {"text"};
  job.options.id_column.reset();
  job.options.source_column.reset();
  job.options.temporary_folder.reset();
  job.options.signature_store.reset();
  job.options.append = false;
  job.options.dry_run = false;
  job.options.resume = false;
  return job;
}

}  // namespace

double Evaluation::recall(double from) const {
  constexpr double kRounding = 1e-9;  // 0.8 + 0.05 > 0.85
  std::uint64_t count = 0;
  std::uint64_t found = 0;
  for (const Due& pair : due) {
    if (pair.similarity < from - kRounding) continue;
    ++count;
    found += pair.found;
  }
  return count == 0 ? 1 : static_cast<double>(found) / static_cast<double>(count);
}

std::uint64_t Evaluation::removed() const {
  return std::accumulate(removed_by.begin(), removed_by.end(), std::uint64_t{0});
}

std::uint64_t Evaluation::below_threshold() const {
  return std::accumulate(below_by.begin(), below_by.end(), std::uint64_t{0});
}

double Evaluation::precision() const {
  const std::uint64_t all = removed();
  return all == 0 ? 1 : static_cast<double>(all - below_threshold()) / static_cast<double>(all);
}

Result<Evaluation> evaluate(const std::vector<std::string>& inputs, const EvaluateOptions& asked,
                            Progress& progress, Clock& clock) {
  EvaluateOptions options = asked;
  if (options.dedup.threads <= 0) options.dedup.threads = available_cores();
  KIN_RETURN_IF_ERROR(validate(options.dedup));
  KIN_TRY(const LockedFolder folder, LockedFolder::create(options.dedup.temporary_folder));
  KIN_TRY(std::vector<Record> sample, read_sample(inputs, options, folder.path()));
  const std::size_t sampled = sample.size();
  const Plantation planted = plant(std::move(sample), options);
  if (planted.pairs.empty()) {
    return Error{Code::kInvalidArgument,
                 fmt::format("none of the {} records of the sample has the {} words that planting "
                             "needs (use --field to name the text)",
                             sampled, kFewestWords)};
  }
  const DedupJob job = job_on(folder.path(), options.dedup);
  KIN_RETURN_IF_ERROR(write_records(planted.records, options.dedup.keep, job.inputs.front()));
  KIN_TRY(const DedupReport report, run_dedup(job, progress, clock));
  KIN_TRY(const std::vector<Fate> removed,
          read_fates(removed_path(job.output), planted.records.size(), folder.path()));
  progress.stage = "judge";
  KIN_TRY(Evaluation evaluation, Judge(planted, removed, options.dedup).judge());
  evaluation.records = sampled;
  evaluation.seconds = report.seconds;
  if (evaluation.planted < options.pairs) {
    evaluation.notes.push_back(
        fmt::format("{} pairs were planted, not {}: the sample has no more records of {} words "
                    "(use --sample to take more)",
                    evaluation.planted, options.pairs, kFewestWords));
  }
  return evaluation;
}

}  // namespace kin::dedup
