#include "index/text_sketch.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "sketch/jaccard.h"
#include "sketch/shingles.h"
#include "text/normalize.h"

namespace kin::index {
namespace {

// Half the bytes of a key are kept. Bands that differ then have the same key once in 2^32.
std::uint32_t short_key(std::uint64_t key) {
  return static_cast<std::uint32_t>(key >> 32);
}

// Texts may be ill-formed; words are found in well-formed UTF-8.
std::string as_utf8(std::string_view text) {
  std::string made(text);
  if (text::is_valid_utf8(text)) return made;
  const char* const end = made.data() + made.size();
  for (char* at = made.data(); at < end;) {
    const std::size_t length = *at >= 0 ? 1 : utf8_sequence_length(at, end);
    if (length == 0) *at = ' ';
    at += std::max<std::size_t>(length, 1);
  }
  return made;
}

}  // namespace

Result<TextSketcher> TextSketcher::create(double threshold) {
  KIN_TRY(const sketch::Banding banding, sketch::choose_banding(sketch::kDefaultHashes, threshold));
  return TextSketcher(threshold, banding);
}

std::uint64_t TextSketcher::options_hash() const {
  std::string bytes;
  append_le(bytes, banding_.bands);
  append_le(bytes, banding_.rows);
  append_le(bytes, sketch::kMinHashVersion);
  append_le(bytes, sketch::kBandKeyVersion);
  return hash64(bytes);
}

TextSketch TextSketcher::sketch(const Entity& entity) const {
  const std::string text = as_utf8(entity.text.empty() ? entity.title : entity.text);
  sketch::Shingler shingler({});  // for one thread, so each call has its own
  const auto shingles = shingler.shingles(text);
  TextSketch made{.shingles = {shingles.begin(), shingles.end()}};
  if (made.shingles.empty()) return made;
  std::vector<std::uint32_t> signature(hasher_.hashes());
  hasher_.sign(made.shingles, signature);
  std::vector<std::uint64_t> keys(banding_.bands);
  sketch::band_keys(signature, banding_, keys);
  made.keys.resize(keys.size());
  std::ranges::transform(keys, made.keys.begin(), short_key);
  // After signing, which needs no order; comparing two sets does.
  sketch::sort_unique(made.shingles);
  return made;
}

}  // namespace kin::index
