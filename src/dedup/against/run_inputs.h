// The records of a run: its inputs, and the references they are compared with.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/record_set.h"
#include "base/result.h"
#include "data/dataset.h"
#include "dedup/options.h"

namespace kin::dedup {

// Opens inputs and references as one dataset, in which the rows of the references come first. One
// thread only.
class RunInputs {
 public:
  // Finds the files. Standard input is copied into `folder`. References that --contains looks for
  // are not part of the dataset. Adds to `notes` what a user should know.
  static Result<RunInputs> find(const std::vector<std::string>& inputs, const DedupOptions& options,
                                const std::filesystem::path& folder,
                                std::vector<std::string>& notes);

  // Opens the dataset. Opened again, it keeps what it learnt.
  Status open(const data::DatasetOptions& options);

  data::Dataset& dataset() { return *dataset_; }
  const data::Dataset& dataset() const { return *dataset_; }
  // The inputs alone, whose rows count from 0, and the rows of `all` that are theirs.
  data::Dataset& own();
  RecordSet own_rows(const RecordSet& all) const;
  // References and inputs.
  const std::vector<data::Input>& files() const { return files_; }
  std::size_t reference_files() const { return reference_files_; }
  // How many of the first rows are references. Known when all of them were read.
  std::uint64_t references() const;

 private:
  std::vector<data::Input> files_;
  std::size_t reference_files_ = 0;
  std::unique_ptr<data::Dataset> dataset_;
};

}  // namespace kin::dedup
