// The state of a run on disk, from which a killed run is resumed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "data/dataset.h"
#include "dedup/groups/grouping.h"
#include "dedup/output/input_digest.h"
#include "dedup/scan/scan.h"
#include "dedup/scan/sources.h"

namespace kin::dedup {

// The counts of the decision, for the report of a resumed run: candidates, verified,
// false candidates, not needed, large and capped buckets, cold reads and their errors, bytes
// spilled, linked.
using DecidedCounts = std::array<std::uint64_t, 10>;

// The contents of a checkpoint. The rest is in the spills, the signature store and the tables
// beside it.
struct Checkpoint {
  enum class Stage : std::uint8_t { kScanning, kDecided };
  Stage stage = Stage::kScanning;
  std::uint64_t run = 0;  // hash of options and inputs
  data::Position position;
  bool scanned = false;                          // the scan is complete
  std::array<std::uint64_t, 4> spill_lengths{};  // exact, words, bands, chunks
  ScanCounts::Values counts{};                   // of ScanCounts, in its order
  data::ScanMemory dataset;                      // what scanning found out about the dataset
  DecidedCounts decided{};
  std::vector<bool> found;           // for each of columns_read(), whether some record had it
  std::vector<InputDigest> digests;  // of the bytes that were read
};

std::string encode(const Checkpoint& checkpoint);
Result<Checkpoint> decode_checkpoint(std::string_view bytes);

// Makes everything scanned so far durable, then replaces the checkpoint in `folder`.
Status save_scan(const std::filesystem::path& folder, Checkpoint checkpoint, Scan& scan);
// Restores the state that save_scan() wrote.
Status restore_scan(const std::filesystem::path& folder, const Checkpoint& checkpoint, Scan& scan);

// Makes the decisions of a run durable; only writing is left after this.
Status save_decisions(const std::filesystem::path& folder, Checkpoint checkpoint,
                      const std::vector<Removal>& removals, const Sources& sources);
Result<std::vector<Removal>> restore_decisions(const std::filesystem::path& folder,
                                               const Checkpoint& checkpoint, Sources& sources);

std::string encode_removals(const std::vector<Removal>& removals);
Result<std::vector<Removal>> decode_removals(std::string_view bytes);

// The checkpoint in `folder`, if there is one. A checkpoint of another run is an error.
Result<std::optional<Checkpoint>> load_checkpoint(const std::filesystem::path& folder,
                                                  std::uint64_t run);

// A hash of the inputs: their paths, sizes and times of change.
std::uint64_t inputs_hash(const std::vector<data::Input>& inputs);

}  // namespace kin::dedup
