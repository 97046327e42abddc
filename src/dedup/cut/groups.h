// Groups of windows: neighbouring windows for which one fingerprint was selected. They are matched
// as wholes where that is enough.
#pragma once

#include <cstdint>
#include <memory>

#include "base/ids.h"
#include "base/record_set.h"
#include "base/result.h"
#include "dedup/cut/cut_input.h"
#include "dedup/cut/matches.h"
#include "dedup/cut/sampling.h"
#include "dedup/spill/fingerprint_filter.h"
#include "dedup/spill/spill.h"

namespace kin::dedup {

// The windows that have to be compared one by one.
struct Contested {
  RecordSet records;               // records with such windows
  FingerprintFilter fingerprints;  // their fingerprints, and a few more
};

// Equal windows have equal fingerprints, at the same place in them. So if all groups of a
// fingerprint have the same text, their windows are equal in order, and a group is matched by one
// record; this holds inside every copied passage. Other fingerprints, mostly at the ends of such
// passages, are contested. Adds the matches to `matches` like find_matches().
Result<Contested> match_groups(const CutInput& input, const Sampled& sampled, Spill& matches,
                               std::uint64_t& bytes_spilled);

}  // namespace kin::dedup
