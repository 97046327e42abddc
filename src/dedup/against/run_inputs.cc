#include "dedup/against/run_inputs.h"

#include <fmt/format.h>

#include <optional>
#include <span>

#include "dedup/against/against_dataset.h"
#include "dedup/known/dataset.h"

namespace kin::dedup {
namespace {

Error is_both(const data::Input& input) {
  return {
      Code::kInvalidArgument,
      fmt::format("{} is an input and a reference of --against (name it once)", input.shown_as)};
}

}  // namespace

Result<RunInputs> RunInputs::find(const std::vector<std::string>& inputs,
                                  const DedupOptions& options, const std::filesystem::path& folder,
                                  std::vector<std::string>& notes) {
  RunInputs found;
  found.fields_ = options.fields.size();
  KIN_TRY(std::vector<data::Input> own, data::find_inputs(inputs, folder, &notes, options.remote));
  if (!options.against.empty() && !options.contains) {
    KIN_TRY(found.files_, data::find_inputs(options.against, folder, &notes, options.remote));
    found.reference_files_ = found.files_.size();
    for (const data::Input& input : own) {
      for (const data::Input& reference : found.files_) {
        if (data::same_file(input, reference.path)) return is_both(input);
      }
    }
  }
  for (data::Input& input : own) found.files_.push_back(std::move(input));
  return found;
}

Status RunInputs::open(const data::DatasetOptions& options) {
  std::optional<data::ScanMemory> learnt;
  if (dataset_) learnt = dataset_->memory();
  dataset_.reset();
  const auto middle = files_.begin() + static_cast<std::ptrdiff_t>(reference_files_);
  KIN_TRY(auto inputs,
          data::Dataset::open(std::vector<data::Input>(middle, files_.end()), options));
  if (has_known()) {
    dataset_ = std::make_unique<AgainstDataset>(std::make_unique<KnownDataset>(*known_, fields_),
                                                std::move(inputs));
  } else if (reference_files_ == 0) {
    dataset_ = std::move(inputs);
  } else {
    KIN_TRY(auto references,
            data::Dataset::open(std::vector<data::Input>(files_.begin(), middle), options));
    dataset_ = std::make_unique<AgainstDataset>(std::move(references), std::move(inputs));
  }
  if (learnt) dataset_->restore(std::move(*learnt));
  return Done{};
}

void RunInputs::rename(const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < files_.size() && i < names.size(); ++i) files_[i].shown_as = names[i];
}

data::Dataset& RunInputs::own() {
  return !has_references() ? *dataset_ : static_cast<AgainstDataset&>(*dataset_).own();
}

std::size_t RunInputs::reference_files() const {
  return has_known() ? known_->files().size() : reference_files_;
}

RecordSet RunInputs::own_rows(const RecordSet& all) const {
  return data::slice(all, references(), all.size() - references());
}

std::uint64_t RunInputs::references() const {
  if (!has_references()) return 0;
  return static_cast<const AgainstDataset&>(*dataset_).reference_rows().value_or(0);
}

}  // namespace kin::dedup
