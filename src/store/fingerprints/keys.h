// The keys by which a fingerprint is found in a key-value store.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "store/fingerprint.h"
#include "store/fingerprint_store.h"

namespace kin::store {

struct LookupKey {
  std::string bytes;
  Shared kind = Shared::kNone;
  std::uint32_t chunk = 0;  // its number in the document, for kChunk
};

// Content, words, bands and chunks: equal documents have equal keys. A chunk that occurs twice in a
// document is one key. Appends to `keys`.
void append_keys(const Fingerprint& fingerprint, std::vector<LookupKey>& keys);

// Calls visit(key) for content, words, bands and chunks, each as one number of 64 bits: equal
// documents have equal keys, and others by chance.
template <typename Visit>
void each_index_key(const Fingerprint& fingerprint, const Visit& visit) {
  if (fingerprint.content) visit(mix64(fingerprint.content->low ^ 1));
  if (fingerprint.words) visit(mix64(fingerprint.words->low ^ 2));
  for (const std::uint64_t band : fingerprint.bands) visit(band);
  for (const ChunkHash& chunk : fingerprint.chunks) visit(load_le<std::uint64_t>(chunk.data()));
}

// The keys that `mine` and `theirs` share, by comparing them; kSimHash up to `hamming` bits.
Candidate sharing_of(const Fingerprint& mine, const Fingerprint& theirs, int hamming);

// Adds the version of a candidate to Found::rows, once.
void note_row(Found& found, const Fingerprint& candidate);

// SimHashes that differ in at most `hamming` bits are equal in at least one of hamming + 1 blocks
// of their bits. One prefix per block; a row of the store has the number of the document after it.
std::vector<std::string> simhash_prefixes(std::uint64_t simhash, int hamming);

}  // namespace kin::store
