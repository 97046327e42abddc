// The progress of a run against shared stores, written where other machines can read it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "data/input.h"
#include "dedup/ingest.h"
#include "dedup/ingest/taker.h"

namespace kin::dedup {

// The contents of a checkpoint.
struct IngestState {
  struct InputFile {
    std::string name;           // as given to the first attempt
    std::string place;          // below the named folder
    std::uint64_t bytes = 0;    // on disk
    std::string digest;         // of its size, its first and its last bytes
    std::uint64_t records = 0;  // decided ones, from its beginning
    friend bool operator==(const InputFile&, const InputFile&) = default;
  };

  std::string run;
  std::string worker;
  std::uint64_t attempt = 1;  // of a worker to go through the inputs
  bool done = false;          // the outputs are in place
  std::string settings;       // version of the store's parameters
  std::vector<InputFile> files;
  std::map<std::string, std::uint64_t> sources;      // records that were decided, by source
  std::array<std::uint64_t, kActions> decided = {};  // by Action
  friend bool operator==(const IngestState&, const IngestState&) = default;
};

// JSON with a checksum. Numbers are below 2^53.
std::string encode_ingest_state(const IngestState& state);
Result<IngestState> decode_ingest_state(std::string_view bytes);

// The name of the file of a checkpoint: "RUN.json", or "RUN.WORKER.json" for a worker that was
// named. Characters that are not letters, digits, - or _ are written as %XX.
std::string checkpoint_name(const IngestJob& job);

// The checkpoint of one run, or of one worker of it. It never decides about a record: the ledger
// does. It gives the worker as which a run continues, and shows that its inputs are those of the
// first attempt and that no other attempt has taken it over. One thread only.
class RunCheckpoint {
 public:
  // Begins a run, or continues it: every attempt has a new number. kNotFound if `job` resumes a run
  // that has no checkpoint; kFailedPrecondition if its inputs or settings differ, or if a run that
  // is not resumed was begun by another worker.
  static Result<std::unique_ptr<RunCheckpoint>> open(const IngestJob& job,
                                                     const std::vector<data::Input>& inputs,
                                                     Clock& clock);

  const IngestState& state() const { return state_; }
  // The names of the inputs in the first attempt.
  std::vector<std::string> names() const;

  // Counts decided records, and saves if it is due.
  Status add(const std::vector<Taken>& batch, const IngestReport& report);
  // kFailedPrecondition if a later attempt has begun.
  Status save(const IngestReport& report);
  // Marks the run as done: the outputs are in place.
  Status finish(const IngestReport& report);

 private:
  RunCheckpoint(std::string where, data::RemoteFiles* remote, double seconds, Clock& clock);
  Result<std::optional<IngestState>> load() const;
  Status write(const IngestState& state) const;

  const std::string where_;  // path or address of the file
  data::RemoteFiles* remote_;
  const double seconds_;
  Clock& clock_;
  SteadyTime saved_;
  IngestState state_;
};

}  // namespace kin::dedup
