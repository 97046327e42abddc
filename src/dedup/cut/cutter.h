// Compares the matches of a record with their references, and decides which bytes are cut.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "dedup/cut/plans.h"
#include "dedup/cut/references.h"
#include "dedup/cut/units.h"

namespace kin::dedup {

// Bytes that are cut, and the place where the same passage stays. The passages of a record do not
// overlap; everything outside them stays.
struct CutPassage {
  std::uint32_t field = 0;
  ByteRange cut;
  RecordId of{};
  std::uint32_t of_field = 0;
  ByteRange of_range;
};

struct RecordCut {
  std::vector<CutPassage> passages;  // by field, then by place
  bool emptied = false;              // only white space is left of every field
  std::uint64_t unverified = 0;  // units that have the hash of their reference, but another text
};

// Cuts one record at a time. One thread only.
class Cutter {
 public:
  Cutter(const CutOptions& options, const References& references, std::uint64_t memory)
      : options_(options), references_(references, memory) {}

  // The cuts of the record with these units.
  Result<RecordCut> cut(Units& units, const CutPlan& plan);
  // The id of a record that a passage refers to.
  Result<std::optional<std::string>> id_of(RecordId record);

 private:
  // Units whose text was compared and is equal, in one field.
  struct Segment {
    UnitRange units;
    WindowPlace of;
  };

  Status verify(Units& units, const MatchRun& run, std::vector<Segment>& segments,
                RecordCut& result);
  std::uint32_t equal_units(Units& units, UnitRange own, const Reference::Run& reference,
                            std::uint32_t of) const;
  std::vector<Segment> outside_references(const CutPlan& plan,
                                          const std::vector<Segment>& segments) const;
  Status add_passages(const Units& units, const std::vector<Segment>& pieces, RecordCut& result);
  Status name_reference(const Units& units, const Segment& piece, CutPassage& passage);
  ByteRange interval_bytes(const Units& units, UnitRange interval) const;

  const CutOptions options_;
  ReferenceReader references_;
};

}  // namespace kin::dedup
