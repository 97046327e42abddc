// Finds documents of the batch that is being decided, which are not in the store yet.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/doc_id.h"
#include "store/fingerprint_store.h"

namespace kin::dedup {

// One thread only.
class BatchIndex {
 public:
  // `keys`: about how many will be added.
  BatchIndex(int hamming, std::size_t keys);

  void add(std::size_t number, const store::Fingerprint& fingerprint);

  struct Sharing {
    store::Shared shared = store::Shared::kNone;
    std::vector<std::uint32_t> chunks = {};  // chunks of the given fingerprint
  };
  // By number of the document.
  std::map<std::size_t, Sharing> find(const store::Fingerprint& of) const;

 private:
  // A key of a document; `next` is one more than the place of the next in its chain.
  struct Entry {
    std::uint64_t key = 0;
    std::uint32_t number = 0;
    std::uint32_t next = 0;
  };
  std::size_t chain_of(std::uint64_t key) const { return key & (chains_.size() - 1); }

  int hamming_;
  std::vector<std::uint32_t> chains_;  // one more than the place of the first entry; 0: none
  std::vector<Entry> entries_;
  std::vector<std::pair<std::uint64_t, std::size_t>> simhashes_;
};

}  // namespace kin::dedup
