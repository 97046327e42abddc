// A store and a ledger whose calls are counted and timed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "cloud/call_counts.h"
#include "store/cached_fingerprints.h"
#include "store/fingerprint_store.h"
#include "store/ledger.h"

namespace kin::store {

// Upper bounds of call durations in seconds; the last count is of all longer calls.
inline constexpr std::array<double, 8> kCallSeconds = {0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60};

struct CallFigures {
  std::uint64_t calls = 0;
  std::uint64_t failures = 0;
  std::uint64_t items = 0;  // documents or entries in the calls
  double seconds = 0;
  std::array<std::uint64_t, kCallSeconds.size() + 1> by_seconds{};  // each call in one of them
};

// Documents that were looked up and share a key of the kind with a stored one.
struct KeyHits {
  std::uint64_t content = 0;
  std::uint64_t minhash = 0;  // shingles or a band
  std::uint64_t simhash = 0;
  std::uint64_t chunk = 0;
};

struct StoreFigures {
  std::map<std::string, CallFigures> calls =
      {};                                       // "find", "get", "admit", "was_processed", "record"
  std::uint64_t documents_with_candidates = 0;  // of those that were looked up
  KeyHits hits = {};
  cloud::CallCounts requests = {};  // to services; none for a store on this machine
  CacheCounts cache = {};
};

// Thread-safe.
class StoreMeter {
 public:
  explicit StoreMeter(Clock& clock) : clock_(clock) {}

  // Runs `call` and records it under `name`.
  template <typename Call>
  auto measure(const char* name, std::size_t items, const Call& call) {
    const SteadyTime begun = clock_.steady_now();
    auto result = call();
    note(name, items, clock_.seconds_since(begun), result.ok());
    return result;
  }
  void note_candidates(const Found& found);
  StoreFigures figures() const;

 private:
  void note(const char* name, std::size_t items, double seconds, bool ok);

  Clock& clock_;
  mutable std::mutex mutex_;
  StoreFigures figures_;
};

// The wrapped stores and the meter must outlive them.
std::unique_ptr<FingerprintStore> measured(FingerprintStore& store, StoreMeter& meter);
std::unique_ptr<Ledger> measured(Ledger& ledger, StoreMeter& meter);

}  // namespace kin::store
