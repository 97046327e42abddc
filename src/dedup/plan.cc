#include "dedup/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/bytes.h"
#include "base/file.h"
#include "base/locked_folder.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/workers.h"
#include "data/parquet_memory.h"
#include "data/remote_files.h"
#include "dedup/output/record_outputs.h"
#include "dedup/output/run_checks.h"
#include "dedup/outputs.h"
#include "dedup/pairs/simhash_pairs.h"
#include "dedup/scan/columns.h"
#include "dedup/scan/long_records.h"
#include "dedup/scan/scan.h"
#include "dedup/spill/budget.h"
#include "dedup/spill/long_texts.h"
#include "dedup/spill/run_memory.h"
#include "dedup/spill/shared_keys.h"
#include "dedup/trial/duplicate_share.h"
#include "dedup/trial/plan_trial.h"
#include "dedup/trial/planting.h"
#include "dedup/trial/simhash_cost.h"

namespace kin::dedup {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSampleBytes = 48 << 20;
// A trial this small shows the costs that do not depend on the amount of work.
constexpr std::size_t kFewRecords = 64;
constexpr double kNearCopy = 0.9;
// How disks are measured.
constexpr std::size_t kBlock = 1 << 20;
constexpr std::size_t kBlocks = 96;

// Speed of the disks, in seconds per byte.
struct DiskSpeed {
  double read = 0;   // of the inputs: about 0 if they are in the system's cache
  double spill = 0;  // written to the temporary folder and read back
  double sync = 0;   // written there and made durable
};

// Bytes that a run keeps for each record.
struct RecordCosts {
  RecordCosts(const DedupOptions& options, double text_bytes) {
    const KeyBytes keys(options);
    const Detectors& by = options.detectors;
    const double chunks = by.chunk ? text_bytes / options.chunks.size + 1 : 0;
    bands = static_cast<double>(keys.bands);
    spills = bands + static_cast<double>(keys.hashes) + sizeof(HashRecord) * chunks;
    signature = static_cast<double>(keys.signature);
    const bool ordered = options.keep.kind != KeepPolicy::Kind::kFirst;
    scan_tables = (by.simhash ? 8 : 0) + (ordered ? 8 : 0) + (options.source_column ? 2 : 0);
    // SimHashes are collected in a list for each distinct one.
    decide_tables = scan_tables + 12.125 + (ordered ? 4 : 0) + (by.simhash ? 64 : 0);
  }
  double spills = 0;  // keys
  double bands = 0;   // of these, band keys
  double signature = 0;
  double scan_tables = 0;
  double decide_tables = 0;  // equal records and connected ones
};

// The memory for the records of a run at the end of the scan and while candidates are found.
class MemoryModel {
 public:
  MemoryModel(const DedupOptions& options, const RecordCosts& costs)
      : costs_(costs),
        budget_(options.max_memory),
        hot_(options.max_hot_signatures
                 ? static_cast<double>(*options.max_hot_signatures) * options.hashes
                 : static_cast<double>(budget_.signatures)) {}

  double scan(double records) const {
    return keys(records) + signatures(records) + records * costs_.scan_tables;
  }
  double decide(double records) const {
    const double bands = costs_.spills > 0 ? keys(records) * costs_.bands / costs_.spills : 0;
    return bands + signatures(records) + records * costs_.decide_tables;
  }
  // Bytes on disk because they do not fit into memory.
  double spilled(double records) const {
    const double all = records * costs_.spills;
    return all > static_cast<double>(budget_.spills) ? all : 0;
  }
  double cold(double records) const { return std::max(0.0, records * costs_.signature - hot_); }
  // If all keys are saved, so that the run can be resumed.
  double keys_on_disk(double records) const { return records * costs_.spills; }

 private:
  double keys(double records) const {
    return std::min(records * costs_.spills, static_cast<double>(budget_.spills));
  }
  double signatures(double records) const { return std::min(records * costs_.signature, hot_); }

  RecordCosts costs_;
  Budget budget_;
  double hot_;
};

class Planner {
 public:
  Planner(const DedupJob& job, Progress& progress, Clock& clock)
      : job_(job), options_(job.options), progress_(progress), clock_(clock) {}

  Result<Plan> plan() {
    KIN_RETURN_IF_ERROR(open());
    KIN_RETURN_IF_ERROR(take_sample());
    KIN_RETURN_IF_ERROR(check_long_records());
    KIN_TRY(const DiskSpeed disk, measure_disk());
    progress_.stage = "trial";
    KIN_RETURN_IF_ERROR(check_stop());
    KIN_TRY(const Trial few, run_few());
    KIN_RETURN_IF_ERROR(check_stop());
    KIN_TRY(const Trial whole, run_representative());
    KIN_RETURN_IF_ERROR(check_stop());
    fill_plan(few, whole, disk);
    return std::move(plan_);
  }

 private:
  Status check_stop() const {
    if (progress_.stop) return Error{Code::kCancelled, "stopped"};
    return Done{};
  }

  Status open() {
    if (options_.threads <= 0) options_.threads = available_cores();
    needs_.threads = options_.threads;
    KIN_RETURN_IF_ERROR(validate(options_));
    KIN_TRY(LockedFolder folder, LockedFolder::create(work_parent()));
    folder_.emplace(std::move(folder));
    KIN_TRY(std::vector<data::Input> inputs,
            data::find_inputs(job_.inputs, folder_->path(), nullptr, options_.remote));
    needs_.pages = hold_pages(inputs);
    from_ = inputs.front().type;
    to_ = from_;
    if (!job_.output.empty() && job_.output != "-" && !writes_folder(job_)) {
      KIN_TRY(to_, data::file_type(job_.output));
    } else if (job_.output == "-") {
      to_ = {};
    }
    for (const data::Input& input : inputs) {
      plan_.inputs.push_back(input.shown_as);
      plan_.input_bytes += input.bytes;
    }
    if (from_.format == data::Format::kParquet) KIN_RETURN_IF_ERROR(read_footers(inputs));
    data::DatasetOptions dataset_options;
    dataset_options.threads = options_.threads;
    dataset_options.temporary_folder = folder_->path();
    KIN_TRY(dataset_, data::Dataset::open(std::move(inputs), dataset_options));
    KIN_RETURN_IF_ERROR(settle_columns(*dataset_, options_));
    return choose_columns();
  }

  // If the run would refuse single records, the plan fails with the same figure.
  Status check_long_records() {
    KIN_RETURN_IF_ERROR(measure_io(job_, options_, *dataset_, *dataset_, needs_));
    // Columns that are not sampled count, too.
    std::uint64_t longest = dataset_->longest_record();
    for (const TrialRecord& record : sample_) {
      for (const auto& value : record)
        longest = std::max<std::uint64_t>(longest, value ? value->size() : 0);
    }
    // If all sampled records are short, the inputs are not searched for a long one.
    if (std::max<std::uint64_t>(longest, filler_) > kShortText || !check_needs(options_, needs_))
      KIN_RETURN_IF_ERROR(measure_records(dataset_->inputs(), options_, folder_->path(), needs_));
    return check_needs(options_, needs_);
  }

  // Reads the footers of Parquet files among the inputs, up to a number that is representative.
  Status read_footers(const std::vector<data::Input>& inputs) {
    constexpr std::size_t kMost = 16;
    for (const data::Input& input : inputs) {
      if (input.type.format != data::Format::kParquet || parquet_.size() == kMost) continue;
      KIN_TRY(data::ParquetFile file, data::read_parquet_footer(input, folder_->path()));
      parquet_.push_back(std::move(file));
    }
    return Done{};
  }

  // The folder where the run itself would work, so that its disk is measured.
  std::optional<fs::path> work_parent() const {
    if (options_.temporary_folder) return options_.temporary_folder;
    if (job_.output.empty() || job_.output == "-" || data::is_remote(job_.output)) return {};
    return job_.output.has_parent_path() ? job_.output.parent_path() : fs::path(".");
  }

  // The columns of the trial: those that the run reads, and if all records have the same columns
  // the others too, because they are copied.
  Status choose_columns() {
    columns_ = options_.fields;
    const auto add = [&](const std::string& name) {
      if (std::find(columns_.begin(), columns_.end(), name) == columns_.end())
        columns_.push_back(name);
    };
    if (options_.id_column) add(*options_.id_column);
    if (options_.source_column) add(*options_.source_column);
    if (options_.keep.needs_column()) add(options_.keep.column);
    if (from_.format == data::Format::kJsonl) return Done{};
    KIN_TRY(const std::vector<std::string> all, dataset_->columns());
    for (const std::string& name : all) add(name);
    return Done{};
  }

  Status take_sample() {
    progress_.stage = "sample";
    data::SampleOptions sample_options;
    sample_options.columns = columns_;
    sample_options.optional_columns = columns_.size();
    sample_options.max_bytes = kSampleBytes;
    sample_options.on_error = options_.on_error;
    std::uint64_t value_bytes = 0;
    sample_options.visitor = [&](const data::Batch& batch, int) -> Status {
      for (std::size_t i = 0; i < batch.size(); ++i) {
        TrialRecord record(columns_.size());
        for (std::size_t column = 0; column < columns_.size(); ++column) {
          if (const auto value = batch.value(column, i)) record[column] = std::string(*value);
          value_bytes += record[column].value_or("").size() + columns_[column].size() + 6;
          if (column < options_.fields.size())
            text_bytes_ += static_cast<double>(record[column].value_or("").size());
        }
        sample_.push_back(std::move(record));
      }
      return Done{};
    };
    KIN_TRY(const data::Sample sample, dataset_->sample(sample_options));
    if (sample_.empty()) {
      return Error{Code::kInvalidArgument, "there are no records in " + plan_.inputs.front()};
    }
    KIN_RETURN_IF_ERROR(check_sampled_fields());
    const bool everything = sample.bytes >= plan_.input_bytes;
    plan_.documents = everything ? sample.rows : sample.total_rows;
    plan_.documents_exact = everything || sample.exact;
    plan_.documents = std::max<std::uint64_t>(plan_.documents, sample_.size());
    plan_.sample_documents = sample_.size();
    const auto rows = static_cast<double>(sample_.size());
    plan_.text_bytes =
        static_cast<std::uint64_t>(text_bytes_ / rows * static_cast<double>(plan_.documents));
    if (from_ == data::FileType{} && sample.bytes > value_bytes)
      filler_ = (sample.bytes - value_bytes) / sample_.size();
    return Done{};
  }

  // A field that no sampled record has is probably misspelt.
  Status check_sampled_fields() const {
    std::vector<bool> found(options_.fields.size());
    for (const TrialRecord& record : sample_) {
      for (std::size_t i = 0; i < found.size(); ++i) found[i] = found[i] || record[i].has_value();
    }
    return check_found(*dataset_, options_, found);
  }

  Result<DiskSpeed> measure_disk() const {
    DiskSpeed speed;
    KIN_TRY(speed.read, seconds_to_read());
    std::string block(kBlock, '\0');
    Random random(1);
    for (std::size_t at = 0; at < kBlock; at += 8) store_le(block.data() + at, random.next());
    const fs::path path = folder_->path() / "speed";
    KIN_TRY(File file, File::create(path));
    const SteadyTime start = clock_.steady_now();
    for (std::size_t i = 0; i < kBlocks; ++i) KIN_RETURN_IF_ERROR(file.write(block));
    const double written = clock_.seconds_since(start);
    KIN_RETURN_IF_ERROR(file.sync());
    speed.sync = clock_.seconds_since(start) / (kBlocks * kBlock);
    const SteadyTime again = clock_.steady_now();
    for (std::size_t i = 0; i < kBlocks; ++i) {
      KIN_RETURN_IF_ERROR(file.read_at(i * kBlock, block.data(), kBlock));
    }
    speed.spill = (written + clock_.seconds_since(again)) / (kBlocks * kBlock);
    KIN_RETURN_IF_ERROR(file.close());
    fs::remove(path);
    return speed;
  }

  // Seconds per byte of the inputs, read at several places.
  Result<double> seconds_to_read() const {
    const data::Input& input = dataset_->inputs().front();
    if (input.bytes < kBlocks * kBlock) return 0.0;
    std::string block(kBlock, '\0');
    KIN_TRY(const File file, open_input(input));
    const SteadyTime start = clock_.steady_now();
    for (std::uint64_t i = 0; i < kBlocks; ++i) {
      const std::uint64_t offset = (input.bytes - kBlock) / kBlocks * i;
      KIN_RETURN_IF_ERROR(file.read_at(offset, block.data(), kBlock));
    }
    return clock_.seconds_since(start) / (kBlocks * kBlock);
  }

  Result<Trial> run(const std::vector<TrialRecord>& records) const {
    return run_trial({.columns = columns_, .records = records, .filler = filler_},
                     {.from = from_, .to = to_, .folder = folder_->path()}, options_, clock_);
  }

  Result<Trial> run_few() const {
    const std::size_t count = std::min(kFewRecords, sample_.size());
    const std::vector<TrialRecord> few(sample_.begin(),
                                       sample_.begin() + static_cast<std::ptrdiff_t>(count));
    KIN_RETURN_IF_ERROR(run(few));  // pays costs that only the first run of a process has
    return run(few);
  }

  // A trial with as many duplicates as the whole input seems to have; the faster of two.
  Result<Trial> run_representative() {
    KIN_TRY(Trial first, run(sample_));
    const DuplicateShare share = estimate_duplicates(first.fates, plan_.documents);
    plan_.exact_share = share.exact;
    plan_.near_share = share.near;
    if (plan_.documents > sample_.size()) {
      mix(first.fates, share);
      KIN_TRY(first, run(sample_));
    }
    KIN_TRY(Trial second, run(sample_));
    Trial& quicker = first.report.seconds < second.report.seconds ? first : second;
    for (const auto& [stage, bytes] : first.memory)
      quicker.memory[stage] = std::max(quicker.memory[stage], bytes);
    for (const auto& [stage, bytes] : second.memory)
      quicker.memory[stage] = std::max(quicker.memory[stage], bytes);
    return std::move(quicker);
  }

  // Keeps the distinct records of the sample and copies of some, in the given shares.
  void mix(const std::vector<Fate>& fates, const DuplicateShare& share) {
    std::vector<TrialRecord> distinct;
    for (std::size_t i = 0; i < fates.size(); ++i) {
      if (!fates[i].kept) distinct.push_back(std::move(sample_[i]));
    }
    std::vector<std::string> texts;
    for (const TrialRecord& record : distinct) texts.push_back(record.front().value_or(""));
    Random random(1);
    Planter planter(texts, options_.shingles, 1);
    const double similarity = std::max(kNearCopy, (options_.threshold + 1) / 2);
    sample_.clear();
    for (std::size_t next = 0; next < distinct.size();) {
      const double draw = random.unit();
      if (next == 0 || draw >= share.all()) {
        sample_.push_back(distinct[next++]);
        continue;
      }
      const std::size_t of = random.below(next);
      TrialRecord copy = distinct[of];
      if (draw < share.near && copy.front())
        copy.front() = planter.copy(texts[of], Edit::kReplacements, similarity);
      sample_.push_back(std::move(copy));
    }
  }

  void fill_plan(const Trial& few, const Trial& whole, const DiskSpeed& disk) {
    const double documents = static_cast<double>(plan_.documents);
    const double scale = documents / static_cast<double>(sample_.size());
    const RecordCosts costs(options_, static_cast<double>(plan_.text_bytes) / documents);
    const MemoryModel model(options_, costs);
    plan_.options = options_;
    plan_.removed = static_cast<std::uint64_t>((plan_.exact_share + plan_.near_share) * documents);
    fill_disk(whole, scale, model);
    fill_seconds(few, whole, disk, scale, model);
    fill_memory(whole, model);
  }

  void fill_seconds(const Trial& few, const Trial& whole, const DiskSpeed& disk, double scale,
                    const MemoryModel& model) {
    const auto documents = static_cast<double>(plan_.documents);
    const double reading = disk.read * static_cast<double>(plan_.input_bytes);
    const double spilling = disk.spill * (model.spilled(documents) + model.cold(documents));
    // Small outputs become durable faster than in proportion.
    const double durable = disk.sync * static_cast<double>(plan_.output_bytes);
    double staged = 0;
    for (const auto& [stage, ignored] : whole.report.stage_seconds) {
      const double fixed = few.seconds(stage);
      double seconds = fixed + std::max(0.0, whole.seconds(stage) - fixed) * scale;
      if (stage == "candidates" && scale > 1) seconds += simhash_seconds(scale);
      if (stage == "scan") seconds = std::max(seconds, reading) + spilling;
      if (stage == "write") seconds = std::max(seconds, durable);
      plan_.stage_seconds.emplace_back(stage, seconds);
      staged += seconds;
    }
    double few_staged = 0;
    for (const auto& [stage, seconds] : few.report.stage_seconds) few_staged += seconds;
    plan_.seconds = staged + std::max(0.0, few.report.seconds - few_staged);
  }

  // The quadratic part of comparing SimHashes: negligible in a trial, not in the whole run, where
  // it is bounded for each part of the hashes. Every comparison waits for memory.
  double simhash_seconds(double scale) const {
    constexpr double kComparison = 5e-9;
    if (!options_.detectors.simhash) return 0;
    std::vector<std::string> texts;
    for (const TrialRecord& record : sample_) texts.push_back(record.front().value_or(""));
    const double bound = static_cast<double>(plan_.documents) *
                         static_cast<double>(kMostHashesCompared) * (options_.hamming + 1);
    return kComparison * std::min(bound, simhash_comparisons(texts, options_) * scale * scale);
  }

  void fill_disk(const Trial& whole, double scale, const MemoryModel& model) {
    const auto documents = static_cast<double>(plan_.documents);
    // The trial's file may be compressed better or worse than the input.
    const double packing = from_ == to_ && from_ != data::FileType{}
                               ? static_cast<double>(plan_.input_bytes) /
                                     (static_cast<double>(whole.input_bytes) * scale)
                               : 1;
    plan_.output_bytes =
        static_cast<std::uint64_t>(scale * (packing * static_cast<double>(whole.output_bytes) +
                                            static_cast<double>(whole.log_bytes)));
    const double beside =
        scale * static_cast<double>(whole.disk_bytes - whole.output_bytes - whole.log_bytes);
    // The trial includes signatures only if a run writes them at its end.
    const bool saved =
        whole.seconds("scan") * scale >= options_.checkpoint_seconds && job_.output != "-";
    const double keys = saved ? model.keys_on_disk(documents) : model.spilled(documents);
    plan_.temporary_bytes =
        static_cast<std::uint64_t>(std::max(beside, model.cold(documents)) + keys);
    const auto space = fs::space(folder_->path());
    // Copies of remote files take up to half of what is free.
    std::uint64_t copied = 0;
    for (const data::Input& input : dataset_->inputs())
      copied += input.remote != nullptr ? input.bytes : 0;
    plan_.temporary_bytes += std::min<std::uint64_t>(copied, space.available / 2);
    if (plan_.disk_bytes() > space.available) {
      plan_.fits = false;
      plan_.notes.push_back(fmt::format("there is not enough room on the disk: {} is free",
                                        format_bytes(space.available)));
    }
  }

  // The texts of duplicates and of the records they are compared with, as far as a run keeps them
  // in memory.
  double kept_texts(double documents) const {
    if (plan_.documents == 0) return 0;
    const double mean =
        static_cast<double>(plan_.text_bytes) / static_cast<double>(plan_.documents);
    const double wanted = documents * std::min(1.0, plan_.exact_share + 2 * plan_.near_share);
    const auto records = static_cast<std::uint64_t>(documents);
    return static_cast<double>(RunMemory(options_).of_texts(
        records, static_cast<std::uint64_t>(wanted * mean), 0, options_.max_memory));
  }

  void fill_memory(const Trial& whole, const MemoryModel& model) {
    const auto documents = static_cast<double>(plan_.documents);
    const auto sampled = static_cast<double>(sample_.size());
    const Budget budget(options_.max_memory);
    double most = 0;
    for (const auto& [stage, bytes] : whole.memory) {
      auto grown = static_cast<double>(bytes);
      if (stage == "scan") {
        grown = reading(grown, budget.scanner(options_, plan_.documents)) + model.scan(documents) -
                model.scan(sampled);
      } else if (stage == "write") {
        grown = reading(grown, budget.writer);
        if (to_.format == data::Format::kParquet && parquet_.empty() && documents > sampled)
          grown += data::DuckDbLimits().held_back_bytes;
      } else {
        grown += model.decide(documents) - model.decide(sampled);
      }
      if (stage != "scan") grown += kept_texts(documents) - kept_texts(sampled);
      most = std::max(most, grown);
    }
    plan_.memory_bytes =
        std::min(static_cast<std::uint64_t>(most) + base_memory_, options_.max_memory);
    // The run refuses by the same figure, once it has counted the records.
    needs_.records = std::max(needs_.records, plan_.documents);
    if (const Status enough = check_needs(options_, needs_); !enough) {
      plan_.fits = false;
      plan_.notes.push_back(enough.error().message);
    }
  }

  // The memory of a stage that used `in_trial` bytes in the trial and reads the inputs. With
  // Parquet, each thread holds a page or a row group, and the input's may be larger than the
  // trial's.
  double reading(double in_trial, std::uint64_t memory) const {
    if (parquet_.empty()) return in_trial;
    std::uint64_t need = 0;
    for (const data::ParquetFile& file : parquet_) need = std::max(need, file.thread_bytes);
    const data::DuckDbLimits limits = data::share_memory(parquet_, options_.threads, memory);
    const double most = static_cast<double>(limits.threads) * static_cast<double>(need) +
                        static_cast<double>(limits.held_back_bytes);
    const double scale = static_cast<double>(plan_.documents) / static_cast<double>(sample_.size());
    return std::max(in_trial, std::min(most, in_trial * scale));
  }

  const DedupJob& job_;
  DedupOptions options_;
  Progress& progress_;
  Clock& clock_;
  const std::uint64_t base_memory_ = resident_bytes();
  Plan plan_;
  MemoryNeeds needs_;
  std::optional<LockedFolder> folder_;
  std::unique_ptr<data::Dataset> dataset_;
  std::vector<data::ParquetFile> parquet_;  // metadata of some inputs
  data::FileType from_;
  data::FileType to_;
  std::vector<std::string> columns_;
  std::vector<TrialRecord> sample_;
  std::size_t filler_ = 0;
  double text_bytes_ = 0;  // of the sample
};

}  // namespace

Result<Plan> make_plan(const DedupJob& job, Progress& progress, Clock& clock) {
  return Planner(job, progress, clock).plan();
}

}  // namespace kin::dedup
