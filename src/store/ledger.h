// What was processed, by which run, and what became of it.
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

// What became of one document.
struct LedgerEntry {
  DocId doc{};
  std::string key = {};  // the document's key in its source
  std::string source = {};
  std::string run = {};
  std::string worker = {};  // which part of the run; a part that is run again has the same name
  std::uint64_t row = 0;    // of the record in that part: another one may have the same key
  WallTime at{};
  Outcome outcome = Outcome::kAccepted;
  std::string reason = {};  // for people; empty: none
  std::optional<DocId> duplicate_of = {};
  std::string method = {};   // that found the duplicate, or what an accepted one is linked to
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

// Whether `there` stays when `next` is to be recorded. Whoever records a document first has
// processed it, except that a rejection gives way to an acceptance: the document is in the store of
// fingerprints, and others may have been dropped for it.
inline bool stays(const LedgerEntry& there, const LedgerEntry& next) {
  return there.outcome == Outcome::kAccepted || next.outcome == Outcome::kRejected;
}

// One entry for each document. Thread-safe. Entries older than the ledger's retention count as
// missing.
class Ledger {
 public:
  virtual ~Ledger() = default;

  // Records the documents whose entries do not stay. Gives, for each, the entry that was there
  // before and stays; nothing if this call recorded it. Durable when it returns. `entries` name
  // each document once.
  virtual Result<std::vector<std::optional<LedgerEntry>>> record_processed(
      std::span<const LedgerEntry> entries) = 0;

  // The entries of documents, in the order of `docs`; nothing for those that were not processed.
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
