// Datasets of Parquet files.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "data/dataset.h"
#include "data/duckdb/session.h"
#include "data/pages/page_scan.h"
#include "data/parquet/file.h"
#include "data/text/skip_log.h"

namespace kin::data {

// Flat columns are scanned page by page, and DuckDB scans the others.
class ParquetDataset : public Dataset {
 public:
  static Result<std::unique_ptr<Dataset>> open(std::vector<Input> inputs, DatasetOptions options);

  const std::vector<Input>& inputs() const override { return inputs_; }
  void limit_memory(std::uint64_t bytes) override;
  Result<std::vector<std::string>> columns() override;
  Result<ScanEnd> scan(const ScanOptions& options, const Visitor& visitor) override;
  std::optional<std::uint64_t> rows() const override {
    return files_.back().first_row + files_.back().rows;
  }
  std::vector<std::uint64_t> first_rows() const override;
  const SkippedRecords& skipped() const override { return skipped_.records(); }
  ScanMemory memory() const override { return {first_rows(), rows(), skipped_.records()}; }
  void restore(ScanMemory memory) override { skipped_.restore(std::move(memory.skipped)); }
  Result<Sample> sample(const SampleOptions& options) override;
  Result<std::vector<std::string>> foreseen_losses(const std::filesystem::path& output,
                                                   const WriteOptions& options) override;
  Result<std::uint64_t> least_scan_memory(const std::vector<std::string>& columns) override;
  Result<WriteMemory> least_write_memory(const std::filesystem::path& output,
                                         const WriteOptions& options) override;
  Result<std::pair<StagedOutput, WriteReport>> write_staged(const RecordSet& keep,
                                                            const std::filesystem::path& output,
                                                            const WriteOptions& options) override;

 private:
  struct RowRange {
    std::size_t file = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  ParquetDataset(std::vector<Input> inputs, DatasetOptions options);
  Result<ScanEnd> scan_files(const ScanOptions& options, const Visitor& visitor);
  // Scans one file from `at` on, which is advanced. False if it was asked to pause.
  Result<bool> scan_file(Position& at, const ScanOptions& options, const Visitor& visitor);
  // The next rows of `file` from `begin` on for one query; empty at the end.
  RowRange next_range(std::size_t file, std::uint64_t begin, const ScanOptions& options) const;
  // How a file is scanned: by pages, or by SQL expressions for each column.
  struct Way {
    std::optional<std::vector<ScannedColumn>> pages;
    std::vector<std::string> expressions;
  };
  Result<Way> way_to_scan(std::size_t file, const ScanOptions& options);
  Result<std::vector<std::string>> expressions(std::size_t file, const ScanOptions& options);
  Status scan_range(const RowRange& rows, const Way& way, const ScanOptions& options,
                    const Visitor& visitor);
  Status scan_by_pages(const RowRange& rows, const Way& way, const ScanOptions& options,
                       const Visitor& visitor);
  Status scan_by_duckdb(const RowRange& rows, const Way& way, const ScanOptions& options,
                        const Visitor& visitor);
  // As many threads as fit into the memory. Pages are kept in the rest.
  Result<int> threads_for_pages(std::size_t file, const Way& way, const ScanOptions& options);
  // The memory of all pages of the columns that are scanned by pages.
  std::uint64_t bytes_to_keep(const ScanOptions& options) const;
  bool has_column(std::size_t file, const std::string& column);
  Error explain_scan_error(std::size_t file, Error error);
  Error explain_output_error(const std::filesystem::path& output, Error error);
  static Error explain_page_error(const std::filesystem::path& output, Error error);
  void skip_file(std::size_t file, const std::string& why);

  std::vector<Input> inputs_;
  DatasetOptions options_;
  LazyDuckDb duckdb_;
  std::vector<ParquetFile> files_;
  SkipLog skipped_;
};

}  // namespace kin::data
