// Computes the keys and the packed text of a record, which a store keeps.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/batch.h"
#include "data/text_packer.h"
#include "dedup/options.h"
#include "dedup/scan/scan.h"
#include "sketch/banding.h"
#include "sketch/minhash.h"
#include "sketch/shingles.h"
#include "store/fingerprint.h"

namespace kin::dedup {

// The keys of a record.
struct KnownRow {
  std::optional<Hash128> exact;  // of the text
  std::optional<Hash128> words;  // of the shingles
  std::uint64_t simhash = 0;     // 0: none
  std::vector<std::uint64_t> bands;
  std::vector<std::uint8_t> signature;
};

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
  // Copies keys, packed text and key_of_record() of a record with a text.
  static void fill(const Sketched& sketched, store::Fingerprint& made);

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

// The key of a document: its id, or one made from its text if it has none.
std::string key_of_record(std::optional<std::string_view> id, std::string_view text);
// The id that the key was made from; nothing if it was made from the text.
std::optional<std::string_view> id_of_key(std::string_view key, std::string_view text);

}  // namespace kin::dedup
