// Datasets of JSONL, CSV and TSV files.
#pragma once

#include <memory>
#include <vector>

#include "data/dataset.h"
#include "data/text/record_reader.h"
#include "data/text/skip_log.h"

namespace kin::data {

class TextDataset : public Dataset {
 public:
  static Result<std::unique_ptr<Dataset>> open(std::vector<Input> inputs, DatasetOptions options);

  const std::vector<Input>& inputs() const override { return inputs_; }
  void limit_memory(std::uint64_t bytes) override { options_.memory_bytes = bytes; }
  Result<std::vector<std::string>> columns() override;
  Result<ScanEnd> scan(const ScanOptions& options, const Visitor& visitor) override;
  std::optional<std::uint64_t> rows() const override { return rows_; }
  std::vector<std::uint64_t> first_rows() const override { return first_rows_; }
  const SkippedRecords& skipped() const override { return skipped_.records(); }
  std::uint64_t longest_record() const override { return longest_record_; }
  ScanMemory memory() const override { return {first_rows_, rows_, skipped_.records()}; }
  void restore(ScanMemory memory) override;
  Result<Sample> sample(const SampleOptions& options) override;
  Status check_output(const std::filesystem::path& output) const override;
  Result<WriteMemory> least_write_memory(const std::filesystem::path& output,
                                         const WriteOptions& options) override;
  Result<std::pair<StagedOutput, WriteReport>> write_staged(const RecordSet& keep,
                                                            const std::filesystem::path& output,
                                                            const WriteOptions& options) override;
  Result<StagedOutput> write_skipped(const std::filesystem::path& output) const override;

 private:
  TextDataset(std::vector<Input> inputs, DatasetOptions options);
  Format format() const { return inputs_.front().type.format; }
  Result<std::unique_ptr<RecordReader>> record_reader(const std::vector<std::string>& columns,
                                                      std::size_t optional_columns) const;
  Result<WriteReport> write_to(const StagedOutput& staged, const FileType& type,
                               const RecordSet& keep, const WriteOptions& options) const;
  Result<WriteReport> write_as_is(const StagedOutput& staged, const FileType& type,
                                  const RecordSet& keep, const WriteOptions& options) const;
  bool writes_array(const std::filesystem::path& output) const;
  RecordId first_written(const RecordSet& keep) const;
  std::vector<Position> sample_places(std::uint64_t total) const;

  std::vector<Input> inputs_;
  DatasetOptions options_;
  CsvHeader header_;  // empty for JSONL
  std::optional<std::uint64_t> rows_;
  std::vector<std::uint64_t> first_rows_;
  SkipLog skipped_;
  std::uint64_t longest_record_ = 0;
};

}  // namespace kin::data
