#include "dedup/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "dedup/pairs/candidates.h"
#include "dedup/record_text.h"
#include "sketch/chunks.h"
#include "sketch/jaccard.h"
#include "sketch/minhash.h"
#include "sketch/simhash.h"

namespace kin::dedup {
namespace {

using Shingles = std::vector<std::uint64_t>;

Shingles shingles_of(std::string_view text, const sketch::ShingleOptions& options) {
  sketch::Shingler shingler(options);
  const auto found = shingler.shingles(text);
  return {found.begin(), found.end()};
}

std::string normalized(std::string_view text, text::Normalization preset) {
  std::string out;
  text::normalize(text, preset, out);
  return out;
}

void compare_signatures(const Shingles& a, const Shingles& b, const DedupOptions& options,
                        Explanation& result) {
  const sketch::MinHasher hasher(options.hashes);
  std::vector<std::uint32_t> signature_a(options.hashes);
  std::vector<std::uint32_t> signature_b(options.hashes);
  hasher.sign(a, signature_a);
  hasher.sign(b, signature_b);
  std::vector<std::uint8_t> compact_a(options.hashes);
  std::vector<std::uint8_t> compact_b(options.hashes);
  sketch::compact(signature_a, compact_a);
  sketch::compact(signature_b, compact_b);
  result.estimate =
      sketch::estimate_jaccard(sketch::equal_slots(compact_a, compact_b), options.hashes);

  std::vector<std::uint64_t> keys_a(result.banding.bands);
  std::vector<std::uint64_t> keys_b(result.banding.bands);
  sketch::band_keys(signature_a, result.banding, keys_a);
  sketch::band_keys(signature_b, result.banding, keys_b);
  for (std::uint32_t band = 0; band < result.banding.bands; ++band) {
    if (keys_a[band] == keys_b[band]) result.matching_bands.push_back(band);
  }
}

void compare_shingles(std::string_view a, std::string_view b, const DedupOptions& options,
                      Explanation& result) {
  Shingles shingles_a = shingles_of(a, options.shingles);
  Shingles shingles_b = shingles_of(b, options.shingles);
  result.same_words = !shingles_a.empty() && shingles_a == shingles_b;
  if (!shingles_a.empty() && !shingles_b.empty())
    compare_signatures(shingles_a, shingles_b, options, result);
  sketch::sort_unique(shingles_a);
  sketch::sort_unique(shingles_b);
  Shingles shared;
  std::set_intersection(shingles_a.begin(), shingles_a.end(), shingles_b.begin(), shingles_b.end(),
                        std::back_inserter(shared));
  result.shared_shingles = shared.size();
  result.only_a_shingles = shingles_a.size() - shared.size();
  result.only_b_shingles = shingles_b.size() - shared.size();
  result.similarity = sketch::exact_jaccard(shingles_a, shingles_b);
  result.deviation = sketch::estimate_deviation(result.similarity, options.hashes);
  if (result.banding.bands == 0) return;
  result.candidate_probability = sketch::candidate_probability(result.banding, result.similarity);
}

void compare_simhashes(std::string_view a, std::string_view b, const DedupOptions& options,
                       Explanation& result) {
  const sketch::ShingleOptions words{.unit = sketch::ShingleOptions::Unit::kWord,
                                     .size = 1,
                                     .normalization = options.shingles.normalization};
  const Shingles words_a = shingles_of(a, words);
  const Shingles words_b = shingles_of(b, words);
  if (words_a.empty() || words_b.empty()) return;
  result.simhash_distance = sketch::hamming(sketch::simhash64(words_a), sketch::simhash64(words_b));
}

void compare_chunks(std::string_view a, std::string_view b, const DedupOptions& options,
                    Explanation& result) {
  const auto chunks_of = [&](std::string_view text) {
    const std::string subject = options.exact_normalization
                                    ? normalized(text, *options.exact_normalization)
                                    : std::string(text);
    std::set<std::array<std::byte, 32>> hashes;
    for (const sketch::Chunk& chunk : sketch::chunks(subject, options.chunks))
      hashes.insert(chunk.sha256);
    return hashes;
  };
  const auto chunks_a = chunks_of(a);
  const auto chunks_b = chunks_of(b);
  result.chunks_a = chunks_a.size();
  result.chunks_b = chunks_b.size();
  for (const auto& chunk : chunks_a) result.shared_chunks += chunks_b.count(chunk);
}

bool minhash_accepts(const Explanation& pair, const DedupOptions& options) {
  if (pair.same_words) return true;
  if (pair.matching_bands.empty()) return false;
  switch (options.verification) {
    case Verification::kNone: return true;
    case Verification::kEstimate: return pair.estimate >= options.threshold;
    case Verification::kExact:
      return pair.similarity >= options.threshold && pair.estimate >= estimate_floor(options);
  }
  KIN_UNREACHABLE();
}

bool simhash_accepts(const Explanation& pair, const DedupOptions& options) {
  if (pair.simhash_distance > options.hamming) return false;
  return decides_by_distance(Method::kSimHash, options) || pair.similarity >= options.threshold;
}

bool accepts(Method method, const Explanation& pair, const DedupOptions& options) {
  if (pair.blank) return false;
  switch (method) {
    case Method::kExact: return options.exact_normalization ? pair.same_normalized : pair.identical;
    case Method::kMinHash: return minhash_accepts(pair, options);
    case Method::kSimHash: return simhash_accepts(pair, options);
    case Method::kChunk:
      return pair.shared_chunks > 0 && pair.shared_chunks == std::min(pair.chunks_a, pair.chunks_b);
    case Method::kSeen:
    case Method::kContains: return false;  // these do not compare two texts
  }
  KIN_UNREACHABLE();
}

std::string say_minhash(const Explanation& pair, const DedupOptions& options) {
  if (pair.same_words) {
    return "Duplicates: after normalisation they have the same words in the same order.";
  }
  switch (options.verification) {
    case Verification::kNone:
      return "Duplicates: they agree in a band, and without verification that is enough.";
    case Verification::kEstimate:
      return fmt::format(
          "Duplicates: the similarity estimated from their signatures, {:.3f}, "
          "reaches the threshold of {}.",
          pair.estimate, options.threshold);
    case Verification::kExact:
      return fmt::format("Duplicates: their exact similarity, {:.3f}, reaches the threshold of {}.",
                         pair.similarity, options.threshold);
  }
  KIN_UNREACHABLE();
}

std::string say_found(Method method, const Explanation& pair, const DedupOptions& options) {
  switch (method) {
    case Method::kExact:
      return pair.identical ? "Duplicates: they are identical, byte for byte."
                            : "Duplicates: they are identical after normalisation.";
    case Method::kMinHash: return say_minhash(pair, options);
    case Method::kSimHash:
      return decides_by_distance(method, options)
                 ? fmt::format(
                       "Duplicates: their SimHashes differ in {} of 64 bits, and up to {} "
                       "may.",
                       pair.simhash_distance, options.hamming)
                 : fmt::format(
                       "Duplicates: their SimHashes differ in {} of 64 bits, and their "
                       "exact similarity, {:.3f}, reaches the threshold of {}.",
                       pair.simhash_distance, pair.similarity, options.threshold);
    case Method::kChunk: return "Duplicates: every chunk of one of them is in the other.";
    case Method::kSeen:
    case Method::kContains: break;
  }
  KIN_UNREACHABLE();
}

// Why each requested detector finds nothing, if MinHash is not among them.
std::string say_not_found_without_minhash(const Explanation& pair, const DedupOptions& options) {
  std::vector<std::string> reasons;
  if (options.detectors.exact) reasons.emplace_back("they are not identical");
  if (options.detectors.simhash && pair.simhash_distance > options.hamming) {
    reasons.push_back(fmt::format("their SimHashes differ in {} of 64 bits, and up to {} may",
                                  pair.simhash_distance, options.hamming));
  } else if (options.detectors.simhash) {
    reasons.push_back(fmt::format("their exact similarity, {:.3f}, is below the threshold of {}",
                                  pair.similarity, options.threshold));
  }
  if (options.detectors.chunk) {
    reasons.push_back(
        fmt::format("{} of {} chunks are shared, and all of one text would have to be",
                    pair.shared_chunks, std::min(pair.chunks_a, pair.chunks_b)));
  }
  return fmt::format("Not duplicates: {}.", fmt::join(reasons, "; "));
}

std::string say_not_found(const Explanation& pair, const DedupOptions& options) {
  if (pair.blank) {
    return "Not duplicates: one of them has nothing but white space, and such texts are kept "
           "without being compared.";
  }
  if (!options.detectors.minhash) return say_not_found_without_minhash(pair, options);
  if (pair.shared_shingles == 0) {
    return fmt::format("Not duplicates: they have no {} in common.",
                       sketch::to_string(options.shingles));
  }
  if (pair.similarity >= options.threshold) {
    return fmt::format(
        "Duplicates that a run would miss: their exact similarity, {:.3f}, reaches "
        "the threshold of {}, but their signatures {}.",
        pair.similarity, options.threshold,
        pair.matching_bands.empty() ? "agree in no band" : "happen to look too different");
  }
  return fmt::format(
      "Not duplicates: their exact similarity, {:.3f}, is below the threshold of "
      "{}.",
      pair.similarity, options.threshold);
}

}  // namespace

Result<Explanation> explain(std::string_view a, std::string_view b, const DedupOptions& options) {
  Explanation result;
  if (options.detectors.minhash) {
    KIN_TRY(result.banding, banding_of(options));
  }
  const text::Normalization preset =
      options.exact_normalization.value_or(options.shingles.normalization);
  result.blank = is_blank(a) || is_blank(b);
  result.identical = a == b;
  result.same_normalized = normalized(a, preset) == normalized(b, preset);
  compare_shingles(a, b, options, result);
  compare_simhashes(a, b, options, result);
  compare_chunks(a, b, options, result);
  for (const Method method : {Method::kExact, Method::kMinHash, Method::kSimHash, Method::kChunk}) {
    if (!options.detectors.has(method) || !accepts(method, result, options)) continue;
    result.found_by = method;
    break;
  }
  result.verdict = result.found_by ? say_found(*result.found_by, result, options)
                                   : say_not_found(result, options);
  result.passages = compare_words(a, b, options.shingles.normalization);
  return result;
}

}  // namespace kin::dedup
