// Decides about batches of records: ledger, store, comparison, admission, ledger.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "dedup/ingest.h"
#include "dedup/ingest/comparison.h"
#include "dedup/ingest/taker.h"

namespace kin::dedup {

// One thread only.
class Decider {
 public:
  // All must outlive it.
  Decider(const IngestJob& job, const DedupOptions& options, const IngestStores& stores,
          Clock& clock);

  // One decision for each record, in order. When it returns, kept records are in the store and
  // every decision is in the ledger. Adds to the counts of `report`.
  Result<std::vector<Decision>> decide_batch(const std::vector<Taken>& batch, IngestReport& report);

 private:
  // A batch while it is decided.
  struct Work {
    const std::vector<Taken>& batch;
    std::unordered_map<DocId, std::size_t> numbers;  // of the documents in the batch
    std::vector<std::optional<Decision>> decisions;  // nothing: not decided yet
    std::vector<std::size_t> compared;               // numbers of the records to look up
    std::vector<store::Fingerprint> fingerprints;    // theirs
    store::Found found;
    std::unordered_map<DocId, store::Fingerprint> stored;  // the candidates
    std::unordered_set<DocId> losers;                      // beaten by rivals of other workers
  };

  // The position of a stored document relative to one that is compared.
  enum class Order : std::uint8_t {
    kBefore,   // stored before
    kInBatch,  // an earlier one of the batch, by an earlier attempt of this run
    kLater,    // a later one of the batch
  };

  Status ask_ledger(Work& work, IngestReport& report);
  Status look_up(Work& work);
  Status compare(Work& work, IngestReport& report);
  Order order_of(const Work& work, std::size_t number, const store::Fingerprint& other) const;
  Result<std::vector<Rival>> rivals_of(const Work& work, std::size_t number,
                                       const class BatchIndex& earlier,
                                       std::vector<std::uint32_t>& chunks, IngestReport& report);
  Status admit(Work& work, IngestReport& report);
  // Reopens decisions that named a document of the batch that lost. True if there were any.
  bool reopen(Work& work) const;
  Status record(Work& work);
  Status name_existing(Work& work);
  bool is_preferred(const store::Fingerprint& mine, const store::Fingerprint& theirs) const;

  const IngestJob& job_;
  const DedupOptions& options_;
  IngestStores stores_;
  Clock& clock_;
  Comparison comparison_;
  std::string version_;
};

}  // namespace kin::dedup
