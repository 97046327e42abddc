// Computes the keys and the packed text that a store of known records keeps.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/batch.h"
#include "data/text_packer.h"
#include "dedup/known/format.h"
#include "dedup/options.h"
#include "dedup/scan/scan.h"
#include "sketch/banding.h"
#include "sketch/minhash.h"
#include "sketch/shingles.h"

namespace kin::dedup {

// Computes the same keys as scan_records(). One thread only.
class KnownSketcher {
 public:
  explicit KnownSketcher(const DedupOptions& options);

  // Band keys of a record, and bytes of its signature; 0 if the options need none.
  static std::size_t bands(const DedupOptions& options);
  static std::size_t signature_bytes(const DedupOptions& options);

  // Views are valid until the next call.
  struct Sketched {
    const KnownRow& row;
    std::optional<std::string_view> text;  // nothing: compared with nothing
    std::optional<std::string_view> id;
    std::string_view packed;  // the text
  };
  // Columns of the batch: the fields, and the id if the options have one.
  Sketched sketch(const data::Batch& batch, std::size_t record);

 private:
  void sketch_text(std::string_view text);

  const DedupOptions& options_;
  sketch::Banding banding_{};
  ContentHasher content_hash_;
  sketch::Shingler shingler_;
  sketch::Shingler word_shingler_;
  sketch::MinHasher hasher_;
  data::TextPacker packer_;
  std::vector<std::uint32_t> signature_;
  std::string joined_;
  KnownRow row_;
};

}  // namespace kin::dedup
