// Compares two fingerprints.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "data/text_packer.h"
#include "dedup/options.h"
#include "sketch/shingles.h"
#include "store/fingerprint.h"

namespace kin::dedup {

// A duplicate, with the method and the similarity.
struct Likeness {
  Method method = Method::kExact;
  double similarity = 0;
};

// Compares texts if both fingerprints have one and the options ask for it; otherwise the signatures
// or SimHashes. One thread only.
class Comparison {
 public:
  explicit Comparison(const DedupOptions& options);

  // Nothing if they are not duplicates by any detector of the options except chunk.
  Result<std::optional<Likeness>> between(const store::Fingerprint& a, const store::Fingerprint& b);

 private:
  using Shingles = std::vector<std::uint64_t>;
  Result<double> similarity(const store::Fingerprint& a, const store::Fingerprint& b);
  Status read_shingles(const store::Fingerprint& of, Shingles& into);

  const DedupOptions& options_;
  sketch::Shingler shingler_;
  data::TextPacker packer_;
  Shingles first_;
  Shingles second_;
  // The packed text whose shingles are in `first_`: one record is compared with several others.
  std::optional<Hash128> remembered_;
};

}  // namespace kin::dedup
