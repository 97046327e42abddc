// Fingerprints of documents, shared by every worker that uses the store: finds known content.
//
//   KIN_TRY(auto store, open_local_fingerprints({.folder = "fingerprints", ...}));
//   KIN_TRY(const Found found, store->find(batch));           // documents that share a key
//   ...                                                       // compare, and choose what to keep
//   KIN_TRY(const auto lost, store->admit(batch, found, chosen, judge));
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/doc_id.h"
#include "base/result.h"
#include "store/fingerprint.h"

namespace kin::store {

// Keys that two documents share. A set of bits.
enum class Shared : std::uint8_t {
  kNone = 0,
  kContent = 1,
  kWords = 2,
  kBand = 4,
  kSimHash = 8,  // at most FingerprintParameters::hamming bits differ
  kChunk = 16,
};
constexpr Shared operator|(Shared a, Shared b) {
  return Shared(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
constexpr bool has(Shared set, Shared key) {
  return (static_cast<std::uint8_t>(set) & static_cast<std::uint8_t>(key)) != 0;
}

// A stored document that shares a key with the given one.
struct Candidate {
  DocId doc{};
  Shared shared = Shared::kNone;
  std::vector<std::uint32_t> chunks = {};  // numbers of the shared chunks in the given one

  friend bool operator==(const Candidate&, const Candidate&) = default;
};

// The result of a look-up of a batch. Valid as long as its store.
struct Found {
  // By document of the batch, sorted by DocId. Never the document itself.
  std::vector<std::vector<Candidate>> candidates = {};
  // By document of the batch: it is in the store, admitted by this run or another.
  std::vector<bool> stored = {};
  // row_version() of every candidate, as the look-up saw it.
  std::unordered_map<DocId, Hash128> rows = {};
  // Private state of the store about the look-up.
  std::shared_ptr<const void> state = {};
};

// Whether `mine`, which is being admitted, is a duplicate of `theirs`, which another worker
// admitted since the look-up. Must not call the store.
using Judge = std::function<Result<bool>(const Fingerprint& mine, const Fingerprint& theirs)>;

// The outcome for a chosen document.
struct Admission {
  std::optional<DocId> lost_to = {};  // nothing: it is in the store now
  friend bool operator==(const Admission&, const Admission&) = default;
};

struct FingerprintStats {
  std::uint64_t documents = 0;
  std::uint64_t bytes = 0;        // approximate size of the store
  std::uint64_t capped_keys = 0;  // keys that more documents share than the store lists
  FingerprintParameters parameters = {};
};

// Thread-safe. Several processes may use one store if its kind allows it. Documents older than the
// store's retention are never returned.
class FingerprintStore {
 public:
  virtual ~FingerprintStore() = default;

  virtual const FingerprintParameters& parameters() const = 0;

  // Looks up every key of every document. If more documents share a key than the store lists
  // (templates), the first ones are given.
  virtual Result<Found> find(std::span<const Fingerprint> batch) = 0;

  // The stored documents, in the order of `ids`; nothing for missing ones.
  virtual Result<std::vector<std::optional<Fingerprint>>> get(std::span<const DocId> ids) = 0;

  // Adds the documents batch[i] for i in `chosen`, which ascends. If another worker admitted a
  // document since `found` that `judge` calls a duplicate, exactly one of the two stays, the same
  // for all workers; Admission says which. Durable when it returns. A document that is in the store
  // is replaced; repeating the call changes nothing.
  virtual Result<std::vector<Admission>> admit(std::span<const Fingerprint> batch,
                                               const Found& found,
                                               std::span<const std::size_t> chosen,
                                               const Judge& judge) = 0;

  // Visits every document, in the order of the store.
  using Visit = std::function<Status(const Fingerprint&)>;
  virtual Status each(const Visit& visit) = 0;

  virtual Result<FingerprintStats> stats() = 0;
  // Reads everything and compares documents with their keys. Returns the first hundred faults.
  virtual Result<std::vector<std::string>> check() = 0;
};

}  // namespace kin::store
