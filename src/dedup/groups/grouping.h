// Decides from pairs which records are removed.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "base/record_set.h"
#include "base/result.h"
#include "dedup/options.h"
#include "dedup/pairs/candidates.h"
#include "dedup/pairs/classes.h"
#include "dedup/scan/keep_order.h"
#include "dedup/scan/scan.h"
#include "store/kept_values.h"

namespace kin::dedup {

// A record that is removed, and why.
struct Removal {
  RecordId record;
  // The record that stays in its place; itself if there is none in this run (kSeen, kContains).
  RecordId kept;
  float similarity;
  Method method;
};

// Every pair of the candidates, and every added one, is counted in exactly one of the other three.
struct GroupCounts {
  std::atomic<std::uint64_t> verified{0};         // pairs found to be duplicates
  std::atomic<std::uint64_t> below_threshold{0};  // pairs found not to be
  std::atomic<std::uint64_t> not_needed{0};       // pairs that could no longer change anything
  std::atomic<std::uint64_t> added{0};            // pairs added because partners were removed
  // Components with records so many of whose pairs were not alike that the rest were not compared.
  std::atomic<std::uint64_t> capped{0};
};

// Decides which class representatives are removed. In a star, every removal was checked against the
// record that stays; in a component, a path of checked pairs leads to it. Sorted by record. The
// result does not depend on threads or memory.
struct GroupingInput {
  const Candidates& candidates;
  const Classes& classes;
  const Scan& scan;
  const store::KeptValues& texts;
  std::uint64_t fixed_memory = 0;  // kFixedBytes, and other memory of the run
};
// `memory` is for compared texts. The pairs of a component are held at once; if those of the
// largest do not fit --max-memory, the error names a sufficient amount.
Result<std::vector<Removal>> group_candidates(const GroupingInput& input,
                                              const DedupOptions& options, std::uint64_t memory,
                                              GroupCounts& counts);

// Adds the members of every class: they are removed like their representative, or as its copies if
// it stays. Sorted by record.
std::vector<Removal> expand_classes(const Classes& classes,
                                    const std::vector<Removal>& representatives);

// Adds the records among the first `records` that the scan left out: they have no class and no
// pair. Sorted by record.
Status add_left_out(const Scan& scan, std::size_t records, std::vector<Removal>& removals);

// Drops the removals of references, which always stay.
void drop_references(const KeepOrder& order, std::vector<Removal>& removals);

// The records of `removals`, and those that keep their texts, that are missing in `have`.
RecordSet texts_missing(const std::vector<Removal>& removals, const Classes& classes,
                        const RecordSet& have);

}  // namespace kin::dedup
