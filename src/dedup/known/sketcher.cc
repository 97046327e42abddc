#include "dedup/known/sketcher.h"

#include <fmt/format.h>

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

void KnownSketcher::fill(const Sketched& sketched, store::Fingerprint& made) {
  made.key = key_of_record(sketched.id, *sketched.text);
  made.content = sketched.row.exact;
  made.words = sketched.row.words;
  if (sketched.row.simhash != 0) made.simhash = sketched.row.simhash;
  if (sketched.row.words) {
    made.bands = sketched.row.bands;
    made.signature = sketched.row.signature;
  }
  made.packed_text = sketched.packed;
}

std::string key_of_record(std::optional<std::string_view> id, std::string_view text) {
  if (id) return std::string(*id);
  const Hash128 hash = hash128(text);
  return fmt::format("text:{:016x}{:016x}", hash.high, hash.low);
}

std::optional<std::string_view> id_of_key(std::string_view key, std::string_view text) {
  if (key.starts_with("text:") && key == key_of_record({}, text)) return {};
  return key;
}

}  // namespace kin::dedup
