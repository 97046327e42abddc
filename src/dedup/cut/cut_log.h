// Lines of the log of cuts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "data/dataset.h"
#include "dedup/cut/cutter.h"
#include "dedup/options.h"

namespace kin::dedup {

// Makes the lines of one record at a time. Thread-safe.
class CutLog {
 public:
  // The dataset must have been scanned.
  CutLog(const data::Dataset& dataset, const DedupOptions& options);

  // A line for each passage. `cutter` knows the ids of the records that passages refer to.
  Result<std::string> lines(RecordId record, std::optional<std::string_view> id, const Units& units,
                            const RecordCut& cut, Cutter& cutter) const;

 private:
  const std::string& file_of(RecordId record) const;

  std::vector<std::uint64_t> first_rows_;
  std::vector<std::string> files_;
  std::vector<std::string> fields_;
  std::string method_;
};

}  // namespace kin::dedup
