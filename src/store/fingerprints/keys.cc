#include "store/fingerprints/keys.h"

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

std::vector<std::string> simhash_prefixes(std::uint64_t simhash, int hamming) {
  const int blocks = hamming + 1;
  std::vector<std::string> prefixes;
  for (int block = 0; block < blocks; ++block) {
    const int begin = 64 * block / blocks;
    const int end = 64 * (block + 1) / blocks;
    const std::uint64_t mask = end - begin == 64 ? ~std::uint64_t{0}
                                                 : ((std::uint64_t{1} << (end - begin)) - 1) << begin;
    std::string prefix = {'s', static_cast<char>(block)};
    append_le(prefix, simhash & mask);
    prefixes.push_back(std::move(prefix));
  }
  return prefixes;
}

}  // namespace kin::store
