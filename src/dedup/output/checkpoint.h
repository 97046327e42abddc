// Where a run has got to, on disk, so that a killed one can go on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "data/dataset.h"
#include "dedup/groups/grouping.h"
#include "dedup/scan/scan.h"
#include "dedup/scan/sources.h"

namespace kin::dedup {

// What deciding counted, for the report of a run that goes on from there: candidates, verified,
// false candidates, not needed, large and capped buckets, cold reads and their errors, bytes
// spilled, linked.
using DecidedCounts = std::array<std::uint64_t, 10>;

// What a checkpoint says. The spills, the signature store and the tables beside it hold the rest.
struct Checkpoint {
  enum class Stage : std::uint8_t { kScanning, kDecided };
  Stage stage = Stage::kScanning;
  std::uint64_t run = 0;  // fingerprint of options and inputs: another run's checkpoint is not ours
  data::Position position;
  bool scanned = false;                          // the scan is complete
  std::array<std::uint64_t, 4> spill_lengths{};  // exact, words, bands, chunks
  std::array<std::uint64_t, 5> counts{};         // of ScanCounts, in its order
  data::ScanMemory dataset;                      // what the dataset learnt by scanning
  DecidedCounts decided{};
};

std::string encode(const Checkpoint& checkpoint);
Result<Checkpoint> decode_checkpoint(std::string_view bytes);

// Makes everything scanned so far durable, then replaces the checkpoint in `folder`.
Status save_scan(const std::filesystem::path& folder, Checkpoint checkpoint, Scan& scan);
// Takes up what save_scan() left.
Status restore_scan(const std::filesystem::path& folder, const Checkpoint& checkpoint, Scan& scan);

// The decisions of a run, durable: what is left after this is writing.
Status save_decisions(const std::filesystem::path& folder, Checkpoint checkpoint,
                      const std::vector<Removal>& removals, const Sources& sources);
Result<std::vector<Removal>> restore_decisions(const std::filesystem::path& folder,
                                               const Checkpoint& checkpoint, Sources& sources);

std::string encode_removals(const std::vector<Removal>& removals);
Result<std::vector<Removal>> decode_removals(std::string_view bytes);

// The checkpoint in `folder`, if there is one. One of another run is an error.
Result<std::optional<Checkpoint>> load_checkpoint(const std::filesystem::path& folder,
                                                  std::uint64_t run);

// A fingerprint of the inputs: their paths, sizes and times of change.
std::uint64_t fingerprint(const std::vector<data::Input>& inputs);

}  // namespace kin::dedup
