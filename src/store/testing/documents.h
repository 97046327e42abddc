// Fingerprints for tests, and judges.
#pragma once

#include <string>

#include "base/hash.h"
#include "store/fingerprint_store.h"

namespace kin::store {

inline FingerprintParameters some_parameters() {
  return {.settings = {{"--by", "exact,minhash"}, {"--shingle", "word:5"}}, .hamming = 3};
}

inline Fingerprint document(const std::string& key) {
  Fingerprint made;
  made.doc = doc_id_of("test", key);
  made.key = key;
  made.source = "test";
  made.type = "page";
  made.language = "en";
  made.run = "monday";
  made.created = WallTime(std::chrono::milliseconds(1'000'000'000));
  made.content = hash128(key);
  made.packed_text = "text of " + key;
  return made;
}

inline Judge never() {
  return [](const Fingerprint&, const Fingerprint&) -> Result<bool> { return false; };
}
inline Judge always() {
  return [](const Fingerprint&, const Fingerprint&) -> Result<bool> { return true; };
}

}  // namespace kin::store
