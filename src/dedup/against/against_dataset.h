// References and inputs as one dataset.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/result.h"
#include "data/dataset.h"

namespace kin::dedup {

// The rows of the references come first, then those of the inputs. Both are read; only inputs are
// written, and rows of `keep` that are references are ignored. In references all columns but the
// first may be missing. Like any dataset, for one operation at a time.
class AgainstDataset final : public data::Dataset {
 public:
  AgainstDataset(std::unique_ptr<data::Dataset> references, std::unique_ptr<data::Dataset> inputs);

  data::Dataset& own() { return *inputs_; }

  // Known at once for Parquet, for others after a scan of all references.
  std::optional<std::uint64_t> reference_rows() const { return references_->rows(); }
  std::size_t reference_files() const { return references_->inputs().size(); }

  const std::vector<data::Input>& inputs() const override { return files_; }
  void limit_memory(std::uint64_t bytes) override;
  Result<std::vector<std::string>> columns() override { return inputs_->columns(); }
  Result<data::ScanEnd> scan(const data::ScanOptions& options,
                             const data::Visitor& visitor) override;
  std::optional<std::uint64_t> rows() const override;
  std::vector<std::uint64_t> first_rows() const override;
  const data::SkippedRecords& skipped() const override { return skipped_; }
  std::uint64_t longest_record() const override {
    return std::max(references_->longest_record(), inputs_->longest_record());
  }
  data::ScanMemory memory() const override;
  void restore(data::ScanMemory memory) override;
  Result<data::Sample> sample(const data::SampleOptions& options) override {
    return inputs_->sample(options);
  }
  Status check_output(const std::filesystem::path& output) const override {
    return inputs_->check_output(output);
  }
  Result<std::vector<std::string>> foreseen_losses(const std::filesystem::path& output,
                                                   const data::WriteOptions& options) override {
    return inputs_->foreseen_losses(output, options);
  }
  Result<std::uint64_t> least_scan_memory(const std::vector<std::string>& columns) override {
    KIN_TRY(const std::uint64_t references, references_->least_scan_memory(columns));
    KIN_TRY(const std::uint64_t inputs, inputs_->least_scan_memory(columns));
    return std::max(references, inputs);
  }
  Result<data::WriteMemory> least_write_memory(const std::filesystem::path& output,
                                               const data::WriteOptions& options) override {
    return inputs_->least_write_memory(output, options);
  }
  Result<std::pair<data::StagedOutput, data::WriteReport>> write_staged(
      const RecordSet& keep, const std::filesystem::path& output,
      const data::WriteOptions& options) override;
  Result<data::StagedOutput> write_skipped(const std::filesystem::path& output) const override {
    return inputs_->write_skipped(output);
  }

 private:
  Result<data::ScanEnd> scan_inputs(const data::ScanOptions& options, const data::Visitor& visitor);
  void gather_skipped();

  std::unique_ptr<data::Dataset> references_;
  std::unique_ptr<data::Dataset> inputs_;
  std::vector<data::Input> files_;
  data::SkippedRecords skipped_;
};

}  // namespace kin::dedup
