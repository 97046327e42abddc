#include "dedup/fingerprint_parameters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sketch/banding.h"
#include "sketch/minhash.h"
#include "sketch/shingles.h"
#include "sketch/word_hash.h"
#include "text/normalize.h"

namespace kin::dedup {
namespace {

std::string columns_text(const std::vector<std::string>& fields) {
  return fmt::format("{}", fmt::join(fields, ","));
}

}  // namespace

store::FingerprintParameters fingerprint_parameters(const DedupOptions& options) {
  store::FingerprintParameters parameters;
  const auto add = [&](const char* flag, std::string value) {
    parameters.settings.emplace_back(flag, std::move(value));
  };
  add("--by", by_of(options));
  // Columns are hashed one by one. Names are compared by check_columns().
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
    add("--chunk", fmt::format("{}:{}", fixed ? "fixed" : "cdc", options.chunks.size));
  }
  add("sketches",
      fmt::format("{}.{}.{} (Unicode {})", sketch::kShingleVersion, sketch::kMinHashVersion,
                  sketch::kBandKeyVersion, text::unicode_version()));
  parameters.settings.emplace_back(store::kColumnsSetting, columns_text(options.fields));
  parameters.hamming = options.hamming;
  return parameters;
}

Status check_columns(const store::FingerprintParameters& of_store, const DedupOptions& options) {
  if (options.other_fields) return Done{};
  const std::string ours = columns_text(options.fields);
  for (const auto& [name, value] : of_store.settings) {
    if (name != store::kColumnsSetting || value == ours) continue;
    return Error{Code::kFailedPrecondition,
                 fmt::format("the store has the texts of --field {}, and this run has --field {} "
                             "(use the same, or add --other-fields if both are texts of one kind)",
                             value, ours)};
  }
  return Done{};
}

}  // namespace kin::dedup
