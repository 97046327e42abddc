#include "dedup/ingest/batch_index.h"

#include <bit>

#include "sketch/simhash.h"

namespace kin::dedup {
namespace {

// Calls visit(key, kind, chunk) for every key but the SimHash. Different kinds share a key only by
// chance, which does no harm: every candidate is compared.
template <typename Visit>
void each_key(const store::Fingerprint& fingerprint, const Visit& visit) {
  using store::Shared;
  if (fingerprint.content) visit(mix64(fingerprint.content->low ^ 1), Shared::kContent, 0U);
  if (fingerprint.words) visit(mix64(fingerprint.words->low ^ 2), Shared::kWords, 0U);
  for (const std::uint64_t band : fingerprint.bands) visit(band, Shared::kBand, 0U);
  for (std::uint32_t i = 0; i < fingerprint.chunks.size(); ++i)
    visit(load_le<std::uint64_t>(fingerprint.chunks[i].data()), Shared::kChunk, i);
}

}  // namespace

BatchIndex::BatchIndex(int hamming, std::size_t keys)
    : hamming_(hamming), chains_(std::bit_ceil(keys + 1)) {}

void BatchIndex::add(std::size_t number, const store::Fingerprint& fingerprint) {
  each_key(fingerprint, [&](std::uint64_t key, store::Shared, std::uint32_t) {
    std::uint32_t& chain = chains_[chain_of(key)];
    entries_.push_back({key, static_cast<std::uint32_t>(number), chain});
    chain = static_cast<std::uint32_t>(entries_.size());
  });
  if (fingerprint.simhash) simhashes_.emplace_back(*fingerprint.simhash, number);
}

std::map<std::size_t, BatchIndex::Sharing> BatchIndex::find(const store::Fingerprint& of) const {
  std::map<std::size_t, Sharing> found;
  each_key(of, [&](std::uint64_t key, store::Shared kind, std::uint32_t chunk) {
    for (std::uint32_t at = chains_[chain_of(key)]; at != 0; at = entries_[at - 1].next) {
      if (entries_[at - 1].key != key) continue;
      Sharing& sharing = found[entries_[at - 1].number];
      sharing.shared = sharing.shared | kind;
      if (kind == store::Shared::kChunk &&
          (sharing.chunks.empty() || sharing.chunks.back() != chunk))
        sharing.chunks.push_back(chunk);
    }
  });
  if (of.simhash) {
    for (const auto& [simhash, number] : simhashes_) {
      if (sketch::hamming(simhash, *of.simhash) > hamming_) continue;
      Sharing& sharing = found[number];
      sharing.shared = sharing.shared | store::Shared::kSimHash;
    }
  }
  return found;
}

}  // namespace kin::dedup
