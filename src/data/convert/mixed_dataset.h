// Datasets of several formats, or of CSV files with different columns.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "data/dataset.h"

namespace kin::data {

// Divides inputs into runs of neighbours that one dataset can read: the same format, and for CSV
// and TSV the same header.
Result<std::vector<std::vector<Input>>> parts_alike(std::vector<Input> inputs);

// The rows of several datasets, one after another.
class MixedDataset : public Dataset {
 public:
  static Result<std::unique_ptr<Dataset>> open(std::vector<std::vector<Input>> parts,
                                               const DatasetOptions& options);

  const std::vector<Input>& inputs() const override { return inputs_; }
  void limit_memory(std::uint64_t bytes) override;
  Result<std::vector<std::string>> columns() override;
  Result<ScanEnd> scan(const ScanOptions& options, const Visitor& visitor) override;
  std::optional<std::uint64_t> rows() const override { return first_row(parts_.size()); }
  std::vector<std::uint64_t> first_rows() const override;
  const SkippedRecords& skipped() const override { return skipped_; }
  std::uint64_t longest_record() const override;
  ScanMemory memory() const override { return {first_rows(), rows(), skipped_}; }
  void restore(ScanMemory memory) override;
  Result<Sample> sample(const SampleOptions& options) override;
  Status check_output(const std::filesystem::path& output) const override;
  Result<std::vector<std::string>> foreseen_losses(const std::filesystem::path& output,
                                                   const WriteOptions& options) override;
  Result<std::uint64_t> least_scan_memory(const std::vector<std::string>& columns) override;
  Result<WriteMemory> least_write_memory(const std::filesystem::path& output,
                                         const WriteOptions& options) override;
  // Text outputs are concatenated from those of the parts; for other formats all records become
  // JSON first.
  Result<std::pair<StagedOutput, WriteReport>> write_staged(const RecordSet& keep,
                                                            const std::filesystem::path& output,
                                                            const WriteOptions& options) override;
  Result<StagedOutput> write_skipped(const std::filesystem::path& output) const override;

 private:
  struct Part {
    std::unique_ptr<Dataset> dataset;
    std::uint32_t first_file = 0;
    std::uint32_t files = 0;
  };

  // The first row of a part; nothing until the rows before it have been counted.
  std::optional<std::uint64_t> first_row(std::size_t part) const;
  Result<ScanEnd> scan_part(std::size_t part, const ScanOptions& options, const Visitor& visitor);
  void merge_skipped();
  Result<WriteReport> write_json(const RecordSet& keep, const std::filesystem::path& path,
                                 Compression compression, const WriteOptions& options);

  std::vector<Input> inputs_;
  DatasetOptions options_;
  std::vector<Part> parts_;
  SkippedRecords skipped_;
};

}  // namespace kin::data
