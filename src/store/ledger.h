// The documents that were processed, by which run, and with which outcome.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/doc_id.h"
#include "base/result.h"

namespace kin::store {

enum class Outcome : std::uint8_t { kAccepted, kRejected };
std::string_view name_of(Outcome outcome);
Result<Outcome> parse_outcome(std::string_view text);

// The outcome of one document.
struct LedgerEntry {
  DocId doc{};
  std::string key = {};  // the document's key in its source
  std::string source = {};
  std::string run = {};
  std::string worker = {};  // the part of the run; the same name when the part is run again
  std::uint64_t row = 0;    // of the record in that part, because several may have the same key
  WallTime at{};
  Outcome outcome = Outcome::kAccepted;
  std::string reason = {};  // for people; empty: none
  std::optional<DocId> duplicate_of = {};
  std::string method = {};   // that found the duplicate, or the kind of link of an accepted one
  double similarity = 0;     // to the duplicate
  std::string version = {};  // of the fingerprints: version_of()

  friend bool operator==(const LedgerEntry&, const LedgerEntry&) = default;
};

struct ListRequest {
  std::optional<Outcome> outcome = {};    // nothing: all
  std::optional<std::string> after = {};  // `next` of the page before
  std::size_t limit = 1'000;
};

struct LedgerPage {
  std::vector<LedgerEntry> entries = {};  // by time; may be empty before the last page
  std::optional<std::string> next = {};   // opaque; nothing: this was the last page
};

// Whether `there` stays when `next` is to be recorded. The first record of a document counts,
// except that a rejection gives way to an acceptance: the document is in the store of fingerprints,
// and others may have been dropped for it.
inline bool stays(const LedgerEntry& there, const LedgerEntry& next) {
  return there.outcome == Outcome::kAccepted || next.outcome == Outcome::kRejected;
}

// One entry for each document. Thread-safe. Entries older than the ledger's retention count as
// missing.
class Ledger {
 public:
  virtual ~Ledger() = default;

  // Records the documents, except where an earlier entry stays. Returns for each document the entry
  // that stays; nothing if this call recorded it. Durable when it returns. `entries` name each
  // document once.
  virtual Result<std::vector<std::optional<LedgerEntry>>> record_processed(
      std::span<const LedgerEntry> entries) = 0;

  // The entries of documents, in the order of `docs`; nothing for unprocessed ones.
  virtual Result<std::vector<std::optional<LedgerEntry>>> was_processed(
      std::span<const DocId> docs) = 0;

  virtual Result<LedgerPage> list_by_source(std::string_view source,
                                            const ListRequest& request) = 0;
  virtual Result<LedgerPage> list_by_run(std::string_view run, const ListRequest& request) = 0;

  // Visits every entry, in no particular order.
  using Visit = std::function<Status(const LedgerEntry&)>;
  virtual Status each(const Visit& visit) = 0;
};

}  // namespace kin::store
