// Finds documents of the batch that is being decided, which the store does not have yet.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/doc_id.h"
#include "store/fingerprint_store.h"

namespace kin::dedup {

// One thread only.
class BatchIndex {
 public:
  explicit BatchIndex(int hamming) : hamming_(hamming) {}

  // `fingerprint` must outlive the index.
  void add(std::size_t number, const store::Fingerprint& fingerprint);

  struct Sharing {
    store::Shared shared = store::Shared::kNone;
    std::vector<std::uint32_t> chunks = {};  // of the one asked about
  };
  // By number of the document.
  std::map<std::size_t, Sharing> find(const store::Fingerprint& of) const;

 private:
  int hamming_;
  std::unordered_multimap<std::uint64_t, std::size_t> keys_;
  std::vector<std::pair<std::uint64_t, std::size_t>> simhashes_;
};

}  // namespace kin::dedup
