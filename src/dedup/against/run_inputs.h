// The records of a run: its inputs, and the references they are compared with.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "base/record_set.h"
#include "base/result.h"
#include "data/dataset.h"
#include "dedup/known/records.h"
#include "dedup/options.h"

namespace kin::dedup {

// Opens inputs and references as one dataset, in which the rows of the references come first. One
// thread only.
class RunInputs {
 public:
  // Finds the files. Standard input is copied into `folder`. References of --contains are not part
  // of the dataset. Adds notes for the user to `notes`.
  static Result<RunInputs> find(const std::vector<std::string>& inputs, const DedupOptions& options,
                                const std::filesystem::path& folder,
                                std::vector<std::string>& notes);

  // Makes known records the references; they must outlive the inputs. Before open().
  void set_known(const KnownRecords* known) { known_ = known; }
  // Gives the files other names, for messages and logs. Before open().
  void rename(const std::vector<std::string>& names);
  // Opens the dataset. If it is opened again, its knowledge about the files is kept.
  Status open(const data::DatasetOptions& options);

  data::Dataset& dataset() { return *dataset_; }
  const data::Dataset& dataset() const { return *dataset_; }
  // The inputs alone, whose rows count from 0, and the rows of `all` that are theirs.
  data::Dataset& own();
  RecordSet own_rows(const RecordSet& all) const;
  // References and inputs, without the files of known records, which are not read.
  const std::vector<data::Input>& files() const { return files_; }
  std::span<const data::Input> own_files() const {
    return std::span(files_).subspan(reference_files_);
  }
  // The number of references among the files; they come first.
  std::size_t reference_files() const;
  // The number of references among the rows, which come first. Known after all of them were read.
  std::uint64_t references() const;

 private:
  bool has_known() const { return known_ != nullptr && known_->size() > 0; }
  bool has_references() const { return reference_files_ > 0 || has_known(); }

  std::vector<data::Input> files_;
  std::size_t reference_files_ = 0;  // of files_
  const KnownRecords* known_ = nullptr;
  std::size_t fields_ = 1;
  std::unique_ptr<data::Dataset> dataset_;
};

}  // namespace kin::dedup
