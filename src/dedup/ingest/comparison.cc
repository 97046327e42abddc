#include "dedup/ingest/comparison.h"

#include <limits>

#include "sketch/jaccard.h"
#include "sketch/minhash.h"
#include "sketch/simhash.h"

namespace kin::dedup {

Comparison::Comparison(const DedupOptions& options)
    : options_(options), shingler_(options.shingles) {}

Status Comparison::read_shingles(const store::Fingerprint& of, Shingles& into) {
  auto text = packer_.unpack(of.packed_text, std::numeric_limits<std::uint32_t>::max());
  if (!text) return with_context("the stored text of " + of.key, text.error());
  const auto shingles = shingler_.shingles(*text);
  into.assign(shingles.begin(), shingles.end());
  sketch::sort_unique(into);
  return Done{};
}

Result<double> Comparison::similarity(const store::Fingerprint& a, const store::Fingerprint& b) {
  const bool texts = !a.packed_text.empty() && !b.packed_text.empty();
  if (options_.verification == Verification::kExact && texts) {
    const Hash128 text = hash128(a.packed_text);
    if (remembered_ != text) {
      remembered_.reset();
      KIN_RETURN_IF_ERROR(read_shingles(a, first_));
      remembered_ = text;
    }
    KIN_RETURN_IF_ERROR(read_shingles(b, second_));
    return sketch::exact_jaccard(first_, second_);
  }
  if (a.signature.empty() || a.signature.size() != b.signature.size()) return 0.0;
  return sketch::estimate_jaccard(sketch::equal_slots(a.signature, b.signature),
                                  static_cast<std::uint32_t>(a.signature.size()));
}

Result<std::optional<Likeness>> Comparison::between(const store::Fingerprint& a,
                                                    const store::Fingerprint& b) {
  using Found = std::optional<Likeness>;
  const Detectors& by = options_.detectors;
  if (by.exact && a.content && a.content == b.content) return Found({Method::kExact, 1});
  if (by.minhash && a.words && a.words == b.words) return Found({Method::kMinHash, 1});
  const bool near = by.simhash && a.simhash && b.simhash &&
                    sketch::hamming(*a.simhash, *b.simhash) <= options_.hamming;
  if (near && decides_by_distance(Method::kSimHash, options_)) {
    return Found({Method::kSimHash, 1 - sketch::hamming(*a.simhash, *b.simhash) / 64.0});
  }
  if (!near && !by.minhash) return Found();
  // Signatures far below the threshold make reading the texts unnecessary, as in a batch run.
  if (!near && !a.signature.empty() && a.signature.size() == b.signature.size()) {
    const auto slots = static_cast<std::uint32_t>(a.signature.size());
    const double estimate =
        sketch::estimate_jaccard(sketch::equal_slots(a.signature, b.signature), slots);
    const double margin = 4 * sketch::estimate_deviation(options_.threshold, slots);
    if (estimate < options_.threshold - margin) return Found();
  }
  KIN_TRY(const double alike, similarity(a, b));
  if (alike < options_.threshold) return Found();
  return Found({near && !by.minhash ? Method::kSimHash : Method::kMinHash, alike});
}

}  // namespace kin::dedup
