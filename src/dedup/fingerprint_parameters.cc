#include "dedup/fingerprint_parameters.h"

#include <fmt/format.h>

#include "sketch/banding.h"
#include "sketch/minhash.h"
#include "sketch/shingles.h"
#include "sketch/word_hash.h"
#include "text/normalize.h"

namespace kin::dedup {

store::FingerprintParameters fingerprint_parameters(const DedupOptions& options) {
  store::FingerprintParameters parameters;
  const auto add = [&](const char* flag, std::string value) {
    parameters.settings.emplace_back(flag, std::move(value));
  };
  add("--by", by_of(options));
  // Columns are hashed one by one; their names may differ between sources.
  const std::size_t columns = options.fields.size();
  add("--field", fmt::format("{} column{}", columns, columns == 1 ? "" : "s"));
  // An explicit value also applies to exact duplicates, so it differs from the default.
  add("--normalize", fmt::format("{}{}", text::name_of(options.shingles.normalization),
                                 options.exact_normalization ? "" : " by default"));
  add("--shingle", sketch::to_string(options.shingles));
  if (options.detectors.minhash) {
    add("--threshold", fmt::format("{}", options.threshold));
    add("--hashes", fmt::format("{}", options.hashes));
    const auto banding = banding_of(options);
    add("--bands", banding ? sketch::to_string(*banding) : "none");
    add("--verify", std::string(name_of(options.verification)));
  }
  if (options.detectors.chunk) {
    const bool fixed = options.chunks.kind == sketch::ChunkOptions::Kind::kFixed;
    add("--chunk", fmt::format("{}:{}", fixed ? "fixed" : "content", options.chunks.size));
  }
  add("sketches",
      fmt::format("{}.{}.{} (Unicode {})", sketch::kShingleVersion, sketch::kMinHashVersion,
                  sketch::kBandKeyVersion, text::unicode_version()));
  parameters.hamming = options.hamming;
  return parameters;
}

}  // namespace kin::dedup
