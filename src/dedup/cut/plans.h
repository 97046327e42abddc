// The comparisons to make in each record, collected from matches.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/record_set.h"
#include "base/result.h"
#include "dedup/cut/cut_input.h"
#include "dedup/cut/matches.h"
#include "store/kept_values.h"

namespace kin::dedup {

// Units of a record with the same hashes as units of another record, or of an earlier place of it.
struct MatchRun {
  UnitRange units;
  WindowPlace of;  // the first unit of the other
  friend bool operator==(const MatchRun&, const MatchRun&) = default;
};

// The work on one record. Both lists are sorted and their runs are maximal.
struct CutPlan {
  std::vector<UnitRange> references;  // others are compared with these; disjoint, not adjacent
  std::vector<MatchRun> matches;      // may overlap

  std::string encode() const;
  static Result<CutPlan> decode(std::string_view bytes);
  friend bool operator==(const CutPlan&, const CutPlan&) = default;
};

// The plans of a run, on disk except for an index. Reading is thread-safe.
struct Plans {
  std::unique_ptr<store::KeptValues> values;
  RecordSet matched;     // records with matches
  RecordSet references;  // records with references

  Result<CutPlan> get(RecordId record) const;
};

// Makes plans from the matches of find_matches(), over `rows` rows.
Result<Plans> make_plans(const CutInput& input, const Spill& matches, std::uint64_t rows);

}  // namespace kin::dedup
