// From pairs to the records that go.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "dedup/options.h"
#include "dedup/pairs/candidates.h"
#include "dedup/pairs/classes.h"
#include "dedup/scan/keep_order.h"
#include "dedup/scan/scan.h"
#include "store/kept_values.h"

namespace kin::dedup {

// A record that goes, and why.
struct Removal {
  RecordId record;
  RecordId kept;  // the record that stays in its place; itself, if none of this run does (kSeen)
  float similarity;
  Method method;
};

struct GroupCounts {
  std::atomic<std::uint64_t> verified{0};         // pairs found to be duplicates
  std::atomic<std::uint64_t> below_threshold{0};  // pairs found not to be
  std::atomic<std::uint64_t> not_needed{0};       // pairs that could change nothing any more
};

// Decides which class representatives go. In a star, every removal was checked against the record
// that stays; in a component, some path of checked pairs leads to it. Sorted by record. The same
// for any number of threads and any memory.
struct GroupingInput {
  const Candidates& candidates;
  const Classes& classes;
  const Scan& scan;
  const store::KeptValues& texts;
  std::uint64_t fixed_memory = 0;  // fixed_bytes() of the run
};
// `memory` is for texts that are compared. The pairs of a component are held at once: where
// --max-memory has no room for those of the largest, that is an error that says how much would do.
Result<std::vector<Removal>> group_candidates(const GroupingInput& input,
                                              const DedupOptions& options, std::uint64_t memory,
                                              GroupCounts& counts);

// Adds the members of every class: they go the way of their representative, or, where it stays,
// because they are the same as it. Sorted by record.
std::vector<Removal> expand_classes(const Classes& classes,
                                    const std::vector<Removal>& representatives);

// Adds the first `records` of which `seen` has 1: they are in no class and no pair. Sorted by
// record.
void add_seen(const RecordTable<std::uint8_t>& seen, std::size_t records,
              std::vector<Removal>& removals);

}  // namespace kin::dedup
