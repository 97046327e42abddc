#include "dedup/scan/scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "dedup/record_text.h"
#include "dedup/spill/long_texts.h"
#include "dedup/spill/shared_keys.h"
#include "sketch/minhash.h"
#include "sketch/simhash.h"

namespace kin::dedup {
namespace {

// Texts sketched before, by hash. A hit means that an identical text was sketched already, so the
// work can be saved; a miss means nothing. Thread-safe: one word per slot, and the slot is chosen
// by the other half of the hash, so a false hit needs 77 equal bits or more and would merely leave
// a record without near-duplicates.
class RecentTexts {
 public:
  // Uses a sixteenth of `memory`, within bounds.
  explicit RecentTexts(std::uint64_t memory)
      : slots_(std::clamp(std::bit_floor(memory / 16 / sizeof(std::uint64_t)),
                          std::uint64_t{1} << 14, std::uint64_t{1} << 20)) {}

  // Whether `text` has words; nothing if it was not sketched recently.
  std::optional<bool> has_words(const Hash128& text) const {
    const std::uint64_t found = slot(text).load(std::memory_order_relaxed);
    if (((found ^ text.low) | 1) != 1) return {};
    return (found & 1) != 0;
  }
  // The slot is probably not cached: prefetch it some time before.
  void prefetch(const Hash128& text) const { __builtin_prefetch(&slot(text)); }
  void remember(const Hash128& text, bool has_words) {
    slot(text).store((text.low & ~std::uint64_t{1}) | (has_words ? 1 : 0),
                     std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t>& slot(const Hash128& text) {
    return slots_[text.high & (slots_.size() - 1)];
  }
  const std::atomic<std::uint64_t>& slot(const Hash128& text) const {
    return slots_[text.high & (slots_.size() - 1)];
  }

  std::vector<std::atomic<std::uint64_t>> slots_;
};

// Sketches records, on one thread.
class RecordScanner {
 public:
  RecordScanner(const DedupOptions& options, const sketch::Banding& banding, RecentTexts& recent,
                TextRoom& room, const ScanPart& part, Scan& scan)
      : options_(options),
        room_(room),
        contains_(part.contains),
        reference_files_(part.reference_files),
        records_(part.records),
        banding_(banding),
        recent_(recent),
        scan_(scan),
        content_hash_(options.fields.size(), options.exact_normalization),
        shingler_(options.shingles),
        words_shingler_(word_shingles(options)),
        hasher_(options.hashes),
        signature_(options.hashes),
        band_keys_(banding.bands),
        exact_(scan.exact),
        words_(scan.words),
        bands_(scan.bands),
        chunks_(scan.chunks),
        copies_(sketch_copies(options)) {
    if (part.seen != nullptr) seen_ids_.emplace(part.seen->lookup());
    if (contains_ != nullptr) contained_.emplace(*contains_);
  }

  Status visit(const data::Batch& batch) {
    std::uint64_t text_bytes = 0;
    std::uint64_t longest = 0;
    std::span<const std::uint8_t> seen;
    if (seen_ids_) {
      KIN_TRY(seen, seen_ids_->seen(batch, id_column()));
    }
    const bool input = batch.file() >= reference_files_;
    hash_next(batch, 0);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const std::optional<Hash128> hash = next_hash_;
      // One record ahead, so that the prefetch of its slot has time to finish.
      hash_next(batch, i + 1);
      if (options_.source_column && input) {
        if (const auto source = batch.value(source_column(), i))
          scan_.sources.add(batch.row(i), *source);
      }
      if (!seen.empty() && seen[i] != 0) {
        scan_.left_out.set(batch.row(i), Scan::kSeenBefore);
        continue;
      }
      if (input) set_order(batch, i);
      const auto text = text_of(batch, i, options_.fields.size(), joined_);
      if (!text) {
        scan_.counts.without_text += input ? 1 : 0;
        continue;
      }
      text_bytes += input ? text->size() : 0;
      const std::uint64_t weight = text_weight(*text, options_);
      longest = std::max(longest, weight);
      if (weight > kShortText && weight * copies_ > room_.bytes())
        return too_long(batch.where(i), text->size());
      // Threads with long texts wait for one another.
      std::optional<TextRoom::Share> share;
      if (weight > kShortText) share.emplace(room_, weight * copies_);
      KIN_TRY(const bool contaminated, contains_reference(batch.row(i), *text));
      if (contaminated && weight > kShortText) forget_long_text();
      if (contaminated) continue;
      scan_.order.set_length(batch.row(i), text->size());
      if (is_blank(*text)) {
        scan_.counts.without_words += input ? 1 : 0;
        continue;
      }
      const bool has_words = sketch(batch, i, hash, *text);
      scan_.counts.without_words += input && !has_words ? 1 : 0;
      if (weight > kShortText) forget_long_text();
      if (signature_ids_.size() >= kSignaturesAtOnce) KIN_RETURN_IF_ERROR(hand_signatures_over());
    }
    scan_.counts.documents += batch.size();
    if (records_ != nullptr) *records_ = scan_.counts.documents.load();
    scan_.counts.text_bytes += text_bytes;
    std::uint64_t before = scan_.counts.longest_text;
    while (before < longest && !scan_.counts.longest_text.compare_exchange_weak(before, longest)) {
    }
    scan_.counts.input_bytes += batch.bytes();
    count_work(scan_.work, batch.bytes());
    // Gives the error of a failed append now, not at the end of the scan.
    if (exact_.failed() || words_.failed() || bands_.failed() || chunks_.failed()) return flush();
    return hand_signatures_over();
  }

  Status flush() {
    KIN_RETURN_IF_ERROR(exact_.flush());
    KIN_RETURN_IF_ERROR(words_.flush());
    KIN_RETURN_IF_ERROR(bands_.flush());
    return chunks_.flush();
  }

 private:
  // A block of short texts has so many that their signatures would dominate the memory.
  static constexpr std::size_t kSignaturesAtOnce = 4096;

  Status hand_signatures_over() {
    Status inserted = Done{};
    if (!signature_ids_.empty())
      inserted = scan_.signatures->insert_batch(signature_ids_, signature_bytes_);
    signature_ids_.clear();
    signature_bytes_.clear();
    return inserted;
  }

  std::size_t source_column() const {
    return options_.fields.size() + (options_.keep.needs_column() ? 1 : 0);
  }
  std::size_t id_column() const { return source_column() + (options_.source_column ? 1 : 0); }

  // Memory for one long text is not kept: another thread may need it for the next one.
  void forget_long_text() {
    shingler_ = sketch::Shingler(options_.shingles);
    words_shingler_ = sketch::Shingler(word_shingles(options_));
    content_hash_ = ContentHasher(options_.fields.size(), options_.exact_normalization);
    joined_ = std::string();
    normalized_ = std::string();
    if (contained_) contained_->forget();
  }

  Error too_long(const std::string& where, std::uint64_t length) {
    scan_.met_too_long_text = true;
    return Error{Code::kResourceExhausted,
                 fmt::format("{}: the text has {} bytes, too many for the memory", where, length)};
  }

  Result<bool> contains_reference(RecordId record, std::string_view text) {
    if (!contained_) return false;
    const auto found = contained_->find(text);
    if (!found) return false;
    scan_.left_out.set(record, Scan::kContainsReference);
    KIN_RETURN_IF_ERROR(scan_.evidence->append(record, found->encode()));
    return true;
  }

  void set_order(const data::Batch& batch, std::size_t i) {
    if (!options_.keep.needs_column()) return;
    const auto value = batch.value(options_.fields.size(), i);
    if (!value || !scan_.order.set_value(batch.row(i), value)) ++scan_.counts.without_order;
  }

  // Hashes the text of record `i` in advance, if it is not too long.
  void hash_next(const data::Batch& batch, std::size_t i) {
    constexpr std::size_t kUsual = 64 << 10;
    next_hash_.reset();
    if (!options_.detectors.exact || options_.fields.size() != 1 || i >= batch.size()) return;
    const auto value = batch.value(0, i);
    if (!value || value->size() > kUsual) return;
    next_hash_ = content_hash_(batch, i);
    recent_.prefetch(*next_hash_);
  }

  // `early` is the result of hash_next(). False if a detector that looks at words found none. The
  // same for all records with one text, whichever of them was sketched.
  bool sketch(const data::Batch& batch, std::size_t i, const std::optional<Hash128>& early,
              std::string_view text) {
    const RecordId id = batch.row(i);
    // Only an identical text has identical sketches: one that is equal after normalisation for the
    // exact detector may have others.
    std::optional<Hash128> reusable;
    if (options_.detectors.exact) {
      const Hash128 hash = early ? *early : *content_hash_(batch, i);
      append(exact_, HashRecord{.key = hash, .record = id});
      if (!options_.exact_normalization) reusable = hash;
    }
    std::optional<bool> has_words = reusable ? recent_.has_words(*reusable) : std::nullopt;
    if (!has_words) {
      has_words = sketch_text(id, text);
      if (reusable) recent_.remember(*reusable, *has_words);
    }
    return *has_words;
  }

  // False if a detector that looks at words found none.
  bool sketch_text(RecordId id, std::string_view text) {
    bool has_words = true;
    if (options_.detectors.minhash) has_words = sketch_minhash(id, text);
    if (options_.detectors.simhash) {
      const auto features = words_shingler_.shingles(text);
      has_words = has_words && !features.empty();
      if (!features.empty())
        // At least 1, because 0 stands for a record without a SimHash.
        scan_.simhashes.set(id, std::max<std::uint64_t>(1, sketch::simhash64(features)));
    }
    if (options_.detectors.chunk) sketch_chunks(id, text);
    return has_words;
  }

  // False if there are no shingles.
  bool sketch_minhash(RecordId id, std::string_view text) {
    const std::span<const std::uint64_t> shingles = shingler_.shingles(text);
    if (shingles.empty()) return false;
    append(words_, HashRecord{.key = hash128(as_bytes_view(shingles)), .record = id});
    hasher_.sign(shingles, signature_);
    sketch::band_keys(signature_, banding_, band_keys_);
    for (const std::uint64_t key : band_keys_) {
      append(bands_, BandRecord{.key = key, .record = id});
    }
    if (options_.verification == Verification::kNone) return true;
    signature_ids_.push_back(id);
    signature_bytes_.resize(signature_bytes_.size() + signature_.size());
    sketch::compact(signature_, std::span(signature_bytes_).last(signature_.size()));
    return true;
  }

  void sketch_chunks(RecordId id, std::string_view text) {
    std::string_view subject = text;
    if (options_.exact_normalization) {
      text::normalize(text, *options_.exact_normalization, normalized_);
      subject = normalized_;
    }
    for (const sketch::Chunk& chunk : sketch::chunks(subject, options_.chunks)) {
      const Hash128 key{.low = load_le<std::uint64_t>(chunk.sha256.data()),
                        .high = load_le<std::uint64_t>(chunk.sha256.data() + 8)};
      append(chunks_, HashRecord{.key = key, .record = id});
    }
  }

  template <typename Record>
  static void append(Spill::Writer& writer, const Record& record) {
    writer.append(bin_of(record), record);
  }

  const DedupOptions& options_;
  TextRoom& room_;
  const ContainIndex* const contains_;
  const std::size_t reference_files_;
  std::atomic<std::uint64_t>* const records_;
  std::optional<SeenIds::Lookup> seen_ids_;
  std::optional<ContainIndex::Matcher> contained_;
  const sketch::Banding banding_;
  RecentTexts& recent_;
  Scan& scan_;
  ContentHasher content_hash_;
  std::optional<Hash128> next_hash_;  // of the record behind the current one
  sketch::Shingler shingler_;
  sketch::Shingler words_shingler_;
  sketch::MinHasher hasher_;
  std::vector<std::uint32_t> signature_;
  std::vector<std::uint64_t> band_keys_;
  std::vector<RecordId> signature_ids_;
  std::vector<std::uint8_t> signature_bytes_;
  std::string joined_;
  std::string normalized_;
  Spill::Writer exact_;
  Spill::Writer words_;
  Spill::Writer bands_;
  Spill::Writer chunks_;
  const std::uint64_t copies_;
};

// The share of `memory` for `bytes` per document, out of `total` bytes per document.
std::uint64_t share(std::uint64_t memory, double bytes, double total) {
  return static_cast<std::uint64_t>(static_cast<double>(memory) * bytes / total);
}

}  // namespace

Scan::Scan(const DedupOptions& options, const ScanBudget& memory,
           const std::filesystem::path& folder, Sources& sources_of_records)
    : order(options.keep),
      sources(sources_of_records),
      exact(
          {.file = folder / "exact.spill", .record_bytes = sizeof(HashRecord), .memory_bytes = 0}),
      words(
          {.file = folder / "words.spill", .record_bytes = sizeof(HashRecord), .memory_bytes = 0}),
      bands(
          {.file = folder / "bands.spill", .record_bytes = sizeof(BandRecord), .memory_bytes = 0}),
      chunks({.file = folder / "chunks.spill",
              .record_bytes = sizeof(HashRecord),
              .memory_bytes = 0}) {
  // Each spill gets memory in proportion to its bytes, so that all fill up at about the same time.
  const auto banding = banding_of(options);
  const double band_bytes =
      options.detectors.minhash && banding.ok() ? banding->bands * double{sizeof(BandRecord)} : 0;
  const double chunk_bytes = options.detectors.chunk ? 4.0 * sizeof(HashRecord) : 0;
  const double hash_bytes = sizeof(HashRecord);
  const double total = 2 * hash_bytes + band_bytes + chunk_bytes;
  exact.limit_memory(share(memory.spills, hash_bytes, total));
  words.limit_memory(share(memory.spills, hash_bytes, total));
  bands.limit_memory(share(memory.spills, band_bytes, total));
  chunks.limit_memory(share(memory.spills, chunk_bytes, total));
}

Result<std::unique_ptr<Scan>> Scan::create(const DedupOptions& options, const ScanBudget& memory,
                                           const std::filesystem::path& folder, Sources& sources) {
  auto scan = std::make_unique<Scan>(options, memory, folder, sources);
  if (options.detectors.minhash && options.verification != Verification::kNone) {
    store::SignatureStoreOptions store_options;
    store_options.signature_bytes = options.hashes;
    store_options.max_hot_signatures =
        options.max_hot_signatures.value_or(memory.signatures / options.hashes);
    store_options.path = folder / "signatures";
    if (options.signature_store && !options.append) store_options.path = options.signature_store;
    KIN_TRY(scan->signatures, store::TieredSignatureStore::open(store_options));
  }
  if (options.contains) {
    KIN_TRY(scan->evidence, store::KeptValues::open({.temporary_parent = folder}));
  }
  return scan;
}

sketch::ShingleOptions word_shingles(const DedupOptions& options) {
  return {.unit = sketch::ShingleOptions::Unit::kWord,
          .size = 1,
          .normalization = options.shingles.normalization};
}

std::vector<std::string> columns_read(const DedupOptions& options) {
  std::vector<std::string> columns = options.fields;
  if (options.keep.needs_column()) columns.push_back(options.keep.column);
  return columns;
}

Result<data::ScanEnd> scan_records(data::Dataset& dataset, const DedupOptions& options,
                                   const ScanPart& part, Scan& scan) {
  sketch::Banding banding{};
  if (options.detectors.minhash) {
    KIN_TRY(banding, banding_of(options));
  }
  data::ScanOptions scan_options;
  scan_options.columns = columns_read(options);
  if (options.source_column) scan_options.columns.push_back(*options.source_column);
  if (part.seen != nullptr) scan_options.columns.push_back(*options.id_column);
  scan_options.optional_columns = scan_options.columns.size();
  scan_options.threads = options.threads;
  scan_options.on_error = options.on_error;
  scan_options.start = part.start;
  scan_options.pause = part.pause;

  RecentTexts recent(part.text_room);
  TextRoom room(part.text_room);
  std::vector<std::unique_ptr<RecordScanner>> scanners;
  for (int worker = 0; worker < options.threads; ++worker) {
    scanners.push_back(std::make_unique<RecordScanner>(options, banding, recent, room, part, scan));
  }
  KIN_TRY(const data::ScanEnd end,
          dataset.scan(scan_options, [&](const data::Batch& batch, int worker) {
            return scanners[static_cast<std::size_t>(worker)]->visit(batch);
          }));
  for (auto& scanner : scanners) KIN_RETURN_IF_ERROR(scanner->flush());
  return end;
}

std::string_view ContentHasher::subject(std::string_view value) {
  if (!normalization_) return value;
  text::normalize(value, *normalization_, normalized_);
  return normalized_.empty() ? value : std::string_view(normalized_);
}

std::optional<Hash128> ContentHasher::operator()(const data::Batch& batch, std::size_t record) {
  if (fields_ == 1) {
    const auto value = batch.value(0, record);
    if (!value) return {};
    return hash128(subject(*value));
  }
  // Lengths keep the end of one field from counting as the beginning of the next.
  framed_.clear();
  bool found = false;
  for (std::size_t field = 0; field < fields_; ++field) {
    const auto value = batch.value(field, record);
    found = found || value.has_value();
    const std::string_view bytes = value ? subject(*value) : std::string_view();
    append_le(framed_, value ? static_cast<std::uint64_t>(bytes.size()) : ~std::uint64_t{0});
    framed_ += bytes;
  }
  if (!found) return {};
  return hash128(framed_);
}

}  // namespace kin::dedup
