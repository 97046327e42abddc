#include "store/fingerprints/keys.h"

#include <algorithm>
#include <bit>
#include <set>

#include "base/bytes.h"

namespace kin::store {
namespace {

template <typename T>
std::string key_of(char kind, const T& value) {
  std::string key(1, kind);
  append_le(key, value);
  return key;
}

}  // namespace

void append_keys(const Fingerprint& fingerprint, std::vector<LookupKey>& keys) {
  if (fingerprint.content) keys.push_back({key_of('c', *fingerprint.content), Shared::kContent, 0});
  if (fingerprint.words) keys.push_back({key_of('w', *fingerprint.words), Shared::kWords, 0});
  for (const std::uint64_t band : fingerprint.bands)
    keys.push_back({key_of('b', band), Shared::kBand, 0});
  std::set<ChunkHash> met;
  for (std::uint32_t i = 0; i < fingerprint.chunks.size(); ++i) {
    if (!met.insert(fingerprint.chunks[i]).second) continue;
    keys.push_back({key_of('k', fingerprint.chunks[i]), Shared::kChunk, i});
  }
}

Candidate sharing_of(const Fingerprint& mine, const Fingerprint& theirs, int hamming) {
  Candidate found{.doc = theirs.doc};
  const auto note = [&](bool shared, Shared kind) {
    if (shared) found.shared = found.shared | kind;
  };
  note(mine.content && mine.content == theirs.content, Shared::kContent);
  note(mine.words && mine.words == theirs.words, Shared::kWords);
  const std::set<std::uint64_t> bands(theirs.bands.begin(), theirs.bands.end());
  note(std::any_of(mine.bands.begin(), mine.bands.end(),
                   [&](std::uint64_t band) { return bands.contains(band); }),
       Shared::kBand);
  note(mine.simhash && theirs.simhash && std::popcount(*mine.simhash ^ *theirs.simhash) <= hamming,
       Shared::kSimHash);
  std::set<ChunkHash> chunks(theirs.chunks.begin(), theirs.chunks.end());
  for (std::uint32_t i = 0; i < mine.chunks.size(); ++i) {
    if (chunks.erase(mine.chunks[i]) > 0) found.chunks.push_back(i);
  }
  note(!found.chunks.empty(), Shared::kChunk);
  return found;
}

void note_row(Found& found, const Fingerprint& candidate) {
  if (!found.rows.contains(candidate.doc))
    found.rows.emplace(candidate.doc, row_version(candidate));
}

std::vector<std::string> simhash_prefixes(std::uint64_t simhash, int hamming) {
  const int blocks = hamming + 1;
  std::vector<std::string> prefixes;
  for (int block = 0; block < blocks; ++block) {
    const int begin = 64 * block / blocks;
    const int end = 64 * (block + 1) / blocks;
    const std::uint64_t mask =
        end - begin == 64 ? ~std::uint64_t{0} : ((std::uint64_t{1} << (end - begin)) - 1) << begin;
    std::string prefix = {'s', static_cast<char>(block)};
    append_le(prefix, simhash & mask);
    prefixes.push_back(std::move(prefix));
  }
  return prefixes;
}

}  // namespace kin::store
