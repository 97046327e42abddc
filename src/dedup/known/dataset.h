// Known records as the references of a run.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "base/result.h"
#include "data/dataset.h"
#include "dedup/known/records.h"

namespace kin::dedup {

// A scan of all records visits none: their keys come from the store (KnownRecords::add_keys). A
// scan of some gives their texts as the first column and their ids as the last. Nothing is written.
// Like any dataset, for one operation at a time.
class KnownDataset final : public data::Dataset {
 public:
  // `known` must outlive it. `fields` are the columns of the text.
  KnownDataset(const KnownRecords& known, std::size_t fields);

  const std::vector<data::Input>& inputs() const override { return files_; }
  void limit_memory(std::uint64_t) override {}
  Result<std::vector<std::string>> columns() override { return std::vector<std::string>(); }
  Result<data::ScanEnd> scan(const data::ScanOptions& options,
                             const data::Visitor& visitor) override;
  std::optional<std::uint64_t> rows() const override { return known_.size(); }
  std::vector<std::uint64_t> first_rows() const override { return first_rows_; }
  const data::SkippedRecords& skipped() const override { return skipped_; }
  data::ScanMemory memory() const override {
    return {.first_rows = first_rows_, .rows = rows(), .skipped = {}};
  }
  void restore(data::ScanMemory) override {}
  Result<data::Sample> sample(const data::SampleOptions&) override { return data::Sample{}; }
  Result<std::pair<data::StagedOutput, data::WriteReport>> write_staged(
      const RecordSet&, const std::filesystem::path&, const data::WriteOptions&) override {
    return Error{Code::kInternal, "known records are not written"};
  }

 private:
  Status give(std::span<const RecordId> rows, const data::ScanOptions& options, int worker,
              const data::Visitor& visitor) const;

  const KnownRecords& known_;
  const std::size_t fields_;
  std::vector<data::Input> files_;
  std::vector<std::uint64_t> first_rows_;
  data::SkippedRecords skipped_;
};

}  // namespace kin::dedup
