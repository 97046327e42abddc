// Ingests records into a fingerprint store that other runs and workers share: finds the new ones.
//
//   KIN_TRY(auto store, store::open_local_fingerprints(where, fingerprint_parameters(options)));
//   KIN_TRY(auto ledger, store::open_local_ledger(where_else));
//   KIN_TRY(const IngestReport report, run_ingest(job, {*store, *ledger}, progress, clock));
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/doc_id.h"
#include "base/result.h"
#include "dedup/fingerprint_parameters.h"
#include "dedup/options.h"
#include "dedup/progress.h"
#include "dedup/run.h"
#include "store/fingerprint_store.h"
#include "store/ledger.h"
#include "store/measured_stores.h"

namespace kin::dedup {

enum class Action : std::uint8_t {
  kKeep,
  kDrop,
  kKeepLink,  // kept, and linked with documents that it shares chunks with
  kSkip,      // the ledger has the document already
};
inline constexpr std::size_t kActions = 4;
std::string_view name_of(Action action);

// A document of the store, or an earlier one of the same run, that a record matches.
struct Existing {
  DocId doc{};
  std::string key = {};
  std::string source = {};
  Method method = Method::kExact;
  double similarity = 0;  // for kChunk: the share of the record's chunks

  friend bool operator==(const Existing&, const Existing&) = default;
};

struct Decision {
  Action action = Action::kKeep;
  std::vector<Existing> existing = {};     // the deciding one first
  std::vector<std::uint32_t> chunks = {};  // numbers of the record's chunks that others have, too
  std::string reason = {};                 // for people; empty for a record that is simply kept

  friend bool operator==(const Decision&, const Decision&) = default;
};

// Preferences: names that come first are preferred; unlisted names come last.
struct Priorities {
  std::vector<std::string> types = {};  // of documents; decide before sources
  std::vector<std::string> sources = {};
};

// Turns matches into a decision. `matches` are verified, the most alike first, matches by chunk
// last. A record is dropped for the first match that is not by chunk, unless its type and source
// are preferred to those of the match. A chunk match links and never drops. Thread-safe.
struct Rival {
  Existing existing = {};
  std::string type = {};
};
Decision decide(const store::Fingerprint& record, std::span<const Rival> matches,
                std::vector<std::uint32_t> shared_chunks, const Priorities& priorities);

struct IngestJob {
  // The audit log gets every record that was not simply kept. Only fields, columns, detectors and
  // sketches of the options are used: records are compared in their order.
  DedupJob dedup;
  std::string run;                              // a repeated run decides its records as before
  std::string worker;                           // names the part of the run
  std::optional<std::string> source_name = {};  // of all records, instead of a column
  std::optional<std::string> type_column = {};
  std::optional<std::string> language_column = {};
  Priorities priorities = {};
  // Where checkpoints are written, so that another machine can take over the run: a folder, or an
  // address for dedup.options.remote. Empty: nowhere. Every dedup.options.checkpoint_seconds.
  std::string checkpoints = {};
  // `worker` was given, not made from the names of the inputs: the checkpoint's name contains it.
  bool named_worker = false;
};

// The stores. Borrowed.
struct IngestStores {
  store::FingerprintStore& fingerprints;
  store::Ledger& ledger;
};

struct IngestReport {
  std::string run;
  std::vector<std::string> inputs;
  std::string output;
  std::string log;         // records that were not simply kept; empty if there is none
  std::string quarantine;  // the file of the skipped records; empty if there are none
  std::uint64_t documents = 0;
  std::array<std::uint64_t, kActions> decided{};     // by Action
  std::array<std::uint64_t, kMethods> dropped_by{};  // by Method
  std::uint64_t repeated = 0;                        // decided by an earlier attempt of this run
  std::uint64_t attempt = 1;                         // counted by the checkpoint
  std::uint64_t lost_races = 0;    // dropped for a document that another worker admitted meanwhile
  std::uint64_t cross_source = 0;  // dropped for a document of another source
  std::uint64_t preferred = 0;     // kept although alike, because of a priority
  std::uint64_t without_text = 0;  // kept, and compared with nothing
  std::uint64_t skipped = 0;       // could not be read
  std::uint64_t chunks = 0;        // of all records that were decided
  std::uint64_t reused_chunks = 0;
  std::uint64_t candidates = 0;
  std::uint64_t verified = 0;
  double seconds = 0;
  store::StoreFigures stores;
  std::vector<std::string> notes;

  std::uint64_t count(Action action) const { return decided[static_cast<std::size_t>(action)]; }
};
std::string to_json(const IngestReport& report, int indent);

// Processes the records of the inputs in order: looks their documents up in the ledger and their
// content in the store, decides, admits kept ones to the store, records every decision in the
// ledger, and writes the kept records. The output appears when everything is decided. A killed run
// is run again with the same inputs, `run` and `worker`, and gives the same output. With
// dedup.options.resume it continues as the worker of the checkpoint, whose inputs must be the same
// but may have other names, for example on another machine.
Result<IngestReport> run_ingest(const IngestJob& job, const IngestStores& stores,
                                Progress& progress, Clock& clock);

}  // namespace kin::dedup
