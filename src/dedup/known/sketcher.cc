#include "dedup/known/sketcher.h"

#include <algorithm>

#include "base/bytes.h"
#include "dedup/record_text.h"
#include "sketch/simhash.h"

namespace kin::dedup {

KnownSketcher::KnownSketcher(const DedupOptions& options)
    : options_(options),
      content_hash_(options.fields.size(), options.exact_normalization),
      shingler_(options.shingles),
      word_shingler_(word_shingles(options)),
      hasher_(options.hashes),
      signature_(options.hashes) {
  if (const auto banding = banding_of(options); options.detectors.minhash && banding)
    banding_ = *banding;
  row_.bands.resize(bands(options));
  row_.signature.resize(signature_bytes(options));
}

std::size_t KnownSketcher::bands(const DedupOptions& options) {
  const auto banding = banding_of(options);
  return options.detectors.minhash && banding ? banding->bands : 0;
}

std::size_t KnownSketcher::signature_bytes(const DedupOptions& options) {
  const bool needed = options.detectors.minhash && options.verification != Verification::kNone;
  return needed ? options.hashes : 0;
}

KnownSketcher::Sketched KnownSketcher::sketch(const data::Batch& batch, std::size_t record) {
  row_.exact.reset();
  row_.words.reset();
  row_.simhash = 0;
  row_.bands.assign(row_.bands.size(), 0);
  row_.signature.assign(row_.signature.size(), 0);
  std::optional<std::string_view> id;
  if (options_.id_column) id = batch.value(options_.fields.size(), record);
  const auto text = text_of(batch, record, options_.fields.size(), joined_);
  if (!text || is_blank(*text)) return {row_, {}, id, {}};
  if (options_.detectors.exact) row_.exact = content_hash_(batch, record);
  sketch_text(*text);
  return {row_, text, id, packer_.pack(*text)};
}

void KnownSketcher::sketch_text(std::string_view text) {
  if (options_.detectors.simhash) {
    const auto features = word_shingler_.shingles(text);
    if (!features.empty()) row_.simhash = std::max<std::uint64_t>(1, sketch::simhash64(features));
  }
  if (!options_.detectors.minhash) return;
  const std::span<const std::uint64_t> shingles = shingler_.shingles(text);
  if (shingles.empty()) return;
  row_.words = hash128(as_bytes_view(shingles));
  hasher_.sign(shingles, signature_);
  sketch::band_keys(signature_, banding_, row_.bands);
  if (!row_.signature.empty()) sketch::compact(signature_, row_.signature);
}

}  // namespace kin::dedup
