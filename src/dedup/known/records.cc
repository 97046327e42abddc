#include "dedup/known/records.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>

#include "base/file.h"
#include "base/workers.h"
#include "data/text_packer.h"
#include "dedup/known/sketcher.h"
#include "dedup/spill/fingerprint_filter.h"
#include "dedup/spill/shared_keys.h"
#include "sketch/word_hash.h"
#include "text/normalize.h"

namespace kin::dedup {
namespace fs = std::filesystem;
namespace {

// Rows that are read at once.
constexpr std::size_t kRowsAtOnce = 4'096;
// Bytes of rows that stay in memory: they are written once, in order.
constexpr std::uint64_t kHotBytes = 4 << 20;

Error made_otherwise(const fs::path& folder, const std::string& flag, const std::string& theirs,
                     const std::string& ours) {
  return {Code::kFailedPrecondition,
          fmt::format("{} was made with {} {}, and this run has {} {} (use the same options, or "
                      "another folder for --signature-store)",
                      folder.string(), flag, theirs, flag, ours)};
}

// Inserts the keys of a spill into a filter of the inputs' keys.
template <typename Record>
Status insert_keys(const Spill& spill, int threads, FingerprintFilter& filter) {
  return parallel_for(threads, Spill::kBins, [&](std::size_t bin) {
    return spill.visit(bin, [&](std::string_view block) {
      for (std::size_t at = 0; at + sizeof(Record) <= block.size(); at += sizeof(Record))
        filter.insert(key_bits(load_le<Record>(block.data() + at)));
    });
  });
}

// Adds the keys of rows that may equal those of an input. One thread only.
class KeyAdder {
 public:
  KeyAdder(const FingerprintFilter& inputs, const DedupOptions& options, Scan& scan)
      : inputs_(inputs),
        options_(options),
        scan_(scan),
        exact_(scan.exact),
        words_(scan.words),
        bands_(scan.bands) {}

  Status add(RecordId id, const KnownRow& row) {
    bool met = add_hash(id, row.exact, exact_);
    met = add_hash(id, row.words, words_) || met;
    for (const std::uint64_t key : row.bands) {
      if (!row.words || !inputs_.may_contain(key)) continue;
      const BandRecord record{.key = key, .record = id};
      bands_.append(bin_of(record), record);
      met = true;
    }
    if (options_.detectors.simhash && row.simhash != 0) scan_.simhashes.set(id, row.simhash);
    if (!met || !row.words || !scan_.signatures) return Done{};
    return scan_.signatures->insert(id, row.signature);
  }

  Status flush() {
    KIN_RETURN_IF_ERROR(exact_.flush());
    KIN_RETURN_IF_ERROR(words_.flush());
    return bands_.flush();
  }

 private:
  bool add_hash(RecordId id, const std::optional<Hash128>& hash, Spill::Writer& to) {
    if (!hash) return false;
    const HashRecord record{.key = *hash, .record = id};
    if (!inputs_.may_contain(key_bits(record))) return false;
    to.append(bin_of(record), record);
    return true;
  }

  const FingerprintFilter& inputs_;
  const DedupOptions& options_;
  Scan& scan_;
  Spill::Writer exact_;
  Spill::Writer words_;
  Spill::Writer bands_;
};

std::vector<RecordId> ids_between(std::uint64_t begin, std::uint64_t end) {
  std::vector<RecordId> ids;
  for (std::uint64_t row = begin; row < end; ++row) ids.push_back(record_id(row));
  return ids;
}

// The numbers of records in the store: the existing ones, plus the rank among the added ones.
// Thread-safe.
class Ranks {
 public:
  Ranks(const RecordSet& keep, std::uint64_t before) : keep_(keep), ranks_{before} {
    for (std::size_t row = 0; row < keep.size(); row += kEvery) {
      const std::size_t end = std::min(row + kEvery, keep.size());
      ranks_.push_back(ranks_.back() + keep.count_between(row, end));
    }
  }
  RecordId number_of(RecordId row) const {
    const std::size_t begin = row_number(row) / kEvery * kEvery;
    return record_id(ranks_[begin / kEvery] + keep_.count_between(begin, row_number(row)));
  }
  std::uint64_t end() const { return ranks_.back(); }

 private:
  static constexpr std::size_t kEvery = 4'096;
  const RecordSet& keep_;
  std::vector<std::uint64_t> ranks_;
};

// Adds the files with records to add.
void add_files(const data::Dataset& inputs, const RecordSet& keep, const Ranks& ranks,
               std::vector<KnownManifest::File>& files) {
  std::vector<std::uint64_t> ends = inputs.first_rows();
  ends.push_back(keep.size());
  for (std::size_t file = 0; file + 1 < ends.size(); ++file) {
    if (keep.count_between(ends[file], ends[file + 1]) == 0) continue;
    std::uint64_t first = ends[file];
    while (!keep.contains(record_id(first))) ++first;
    files.push_back(
        {row_number(ranks.number_of(record_id(first))), inputs.inputs()[file].shown_as});
  }
}

void raise_to(std::atomic<std::uint64_t>& most, std::uint64_t value) {
  for (std::uint64_t seen = most; seen < value && !most.compare_exchange_weak(seen, value);) {
  }
}

}  // namespace

std::vector<std::pair<std::string, std::string>> known_settings(const DedupOptions& options) {
  std::vector<std::pair<std::string, std::string>> settings;
  const auto add = [&](const char* flag, std::string value) {
    settings.emplace_back(flag, std::move(value));
  };
  add("--by", by_of(options));
  add("--field", fmt::format("{}", fmt::join(options.fields, ",")));
  // An explicit value also applies to exact duplicates, so it differs from the default.
  add("--normalize", fmt::format("{}{}", text::name_of(options.shingles.normalization),
                                 options.exact_normalization ? "" : " by default"));
  if (options.detectors.minhash || options.detectors.simhash)
    add("--shingle", sketch::to_string(options.shingles));
  if (options.detectors.minhash) {
    add("--threshold", fmt::format("{}", options.threshold));
    add("--hashes", fmt::format("{}", options.hashes));
    const auto banding = banding_of(options);
    add("--bands", banding ? sketch::to_string(*banding) : "?");
    add("--verify", std::string(name_of(options.verification)));
  }
  add("sketches of version",
      fmt::format("{}.{}.{} (Unicode {})", sketch::kShingleVersion, sketch::kMinHashVersion,
                  sketch::kBandKeyVersion, text::unicode_version()));
  return settings;
}

KnownRecords::KnownRecords(const DedupOptions& options)
    : folder_(*options.signature_store),
      bands_(KnownSketcher::bands(options)),
      signature_(KnownSketcher::signature_bytes(options)) {}

Result<std::unique_ptr<KnownRecords>> KnownRecords::open(const DedupOptions& options) {
  std::unique_ptr<KnownRecords> known(new KnownRecords(options));
  const fs::path& folder = known->folder_;
  std::error_code ignored;  // a path that cannot be examined is reported when it is opened
  const bool there = fs::exists(folder / kKnownName, ignored);
  if (!there && fs::exists(folder, ignored) && !fs::is_empty(folder, ignored) &&
      !fs::exists(folder / store::kValuesFileName, ignored)) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("{} contains files that were not made with --append (name a new "
                             "folder for --signature-store)",
                             folder.string())};
  }
  known->manifest_.settings = known_settings(options);
  if (there) {
    KIN_TRY(const std::string bytes, read_file(folder / kKnownName));
    auto manifest = decode_known(bytes);
    if (!manifest) return with_context((folder / kKnownName).string(), manifest.error());
    for (std::size_t i = 0; i < manifest->settings.size(); ++i) {
      const auto& [flag, theirs] = manifest->settings[i];
      const auto& ours = known->manifest_.settings;
      const bool same_flag = i < ours.size() && ours[i].first == flag;
      if (same_flag && ours[i].second == theirs) continue;
      return made_otherwise(folder, flag, theirs, same_flag ? ours[i].second : "none");
    }
    known->manifest_ = std::move(*manifest);
  }
  if (!there && options.dry_run) return known;
  KIN_RETURN_IF_ERROR(known->open_stores(folder));
  return known;
}

// The texts of a new store are made first: only a folder of ours has them.
Status KnownRecords::open_stores(const fs::path& folder) {
  store::KeptValuesOptions text_options;
  text_options.path = folder;
  KIN_TRY(texts_, store::KeptValues::open(text_options));
  store::SignatureStoreOptions row_options;
  row_options.signature_bytes = static_cast<std::uint32_t>(known_row_bytes(bands_, signature_));
  row_options.max_hot_signatures = kHotBytes / row_options.signature_bytes;
  row_options.path = folder;
  KIN_TRY(rows_, store::TieredSignatureStore::open(row_options));
  return Done{};
}

Status KnownRecords::add_keys(const DedupOptions& options, std::uint64_t memory, Scan& scan) const {
  next_phase(scan.work, 0);
  if (size() == 0) return Done{};
  const std::uint64_t keys =
      (scan.exact.total_bytes() + scan.words.total_bytes()) / sizeof(HashRecord) +
      scan.bands.total_bytes() / sizeof(BandRecord);
  // Two bytes per key: one other key in some hundreds passes.
  FingerprintFilter inputs(std::clamp<std::uint64_t>(keys * 2, 1 << 10, memory));
  KIN_RETURN_IF_ERROR(insert_keys<HashRecord>(scan.exact, options.threads, inputs));
  KIN_RETURN_IF_ERROR(insert_keys<HashRecord>(scan.words, options.threads, inputs));
  KIN_RETURN_IF_ERROR(insert_keys<BandRecord>(scan.bands, options.threads, inputs));

  const std::size_t row_bytes = rows_->signature_bytes();
  const std::size_t blocks = (size() + kRowsAtOnce - 1) / kRowsAtOnce;
  next_phase(scan.work, blocks);
  KIN_RETURN_IF_ERROR(parallel_for(options.threads, blocks, [&](std::size_t block) -> Status {
    const std::uint64_t begin = block * kRowsAtOnce;
    const auto ids = ids_between(begin, std::min<std::uint64_t>(begin + kRowsAtOnce, size()));
    std::vector<std::uint8_t> bytes(ids.size() * row_bytes);
    std::vector<std::uint8_t> found(ids.size());
    KIN_RETURN_IF_ERROR(rows_->get_batch(ids, bytes, found));
    KeyAdder adder(inputs, options, scan);
    KnownRow row;
    row.bands.resize(bands_);
    const auto may_be_shared = [&](std::uint64_t key) { return inputs.may_contain(key); };
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (found[i] == 0) {
        return Error{Code::kDataLoss,
                     fmt::format("{}: record {} cannot be read (check the disk; restore the "
                                 "folder, or name another)",
                                 where(), row_number(ids[i]))};
      }
      const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      const std::string_view one = all.substr(i * row_bytes, row_bytes);
      // Most rows share nothing, and are not decoded.
      if (!options.detectors.simhash && !any_key_of_row(one, bands_, may_be_shared)) continue;
      decode_row(one, row);
      KIN_RETURN_IF_ERROR(adder.add(ids[i], row));
    }
    count_work(scan.work, 1);
    return adder.flush();
  }));
  std::uint64_t longest = scan.counts.longest_text;
  scan.counts.longest_text = std::max(longest, manifest_.longest_text);
  return Done{};
}

Status KnownRecords::read(std::span<const RecordId> wanted, const Visit& visit) const {
  data::TextPacker packer;
  Status outcome = Done{};
  std::size_t met = 0;
  texts_->get_batch(wanted, [&](RecordId record, std::string_view bytes) {
    ++met;
    if (!outcome) return;
    const auto value = decode_value(bytes);
    if (!value) {
      outcome = value.error();
      return;
    }
    const auto text = packer.unpack(value->packed_text, manifest_.longest_text);
    if (!text) {
      outcome = text.error();
      return;
    }
    visit(record, value->id, *text);
  });
  if (!outcome) return with_context(where(), outcome.error());
  const auto there = std::count_if(wanted.begin(), wanted.end(),
                                   [&](RecordId record) { return texts_->contains(record); });
  if (static_cast<std::size_t>(there) == met) return Done{};
  return Error{Code::kDataLoss,
               fmt::format("{}: the texts of some records cannot be read (check the disk; restore "
                           "the folder, or name another)",
                           where())};
}

Status KnownRecords::add(data::Dataset& inputs, const RecordSet& keep, const DedupOptions& options,
                         StageWork* work) {
  const Ranks ranks(keep, size());
  next_ = manifest_;
  next_.records = ranks.end();
  add_files(inputs, keep, ranks, next_.files);
  data::ScanOptions scan;
  scan.columns = options.fields;
  if (options.id_column) scan.columns.push_back(*options.id_column);
  scan.optional_columns = scan.columns.size();
  scan.threads = options.threads;
  scan.on_error = options.on_error;
  scan.only = &keep;
  next_phase(work, keep.count());
  std::vector<std::unique_ptr<KnownSketcher>> sketchers;
  for (int i = 0; i < options.threads; ++i)
    sketchers.push_back(std::make_unique<KnownSketcher>(options));
  std::atomic<std::uint64_t> longest{next_.longest_text};
  const auto visit = [&](const data::Batch& batch, int worker) -> Status {
    KnownSketcher& sketcher = *sketchers[static_cast<std::size_t>(worker)];
    std::vector<RecordId> ids;
    std::string rows;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const KnownSketcher::Sketched sketched = sketcher.sketch(batch, i);
      ids.push_back(ranks.number_of(batch.row(i)));
      rows += encode_row(sketched.row);
      if (!sketched.text) continue;
      raise_to(longest, sketched.text->size());
      KIN_RETURN_IF_ERROR(texts_->append(
          ids.back(), encode_value({.id = sketched.id, .packed_text = sketched.packed})));
    }
    count_work(work, batch.size());
    if (ids.empty()) return Done{};
    return rows_->insert_batch(ids,
                               {reinterpret_cast<const std::uint8_t*>(rows.data()), rows.size()});
  };
  KIN_RETURN_IF_ERROR(inputs.scan(scan, visit));
  next_.longest_text = longest;
  KIN_RETURN_IF_ERROR(texts_->flush());
  return rows_->flush();
}

Status KnownRecords::commit() {
  return write_file_atomically(folder_ / kKnownName, encode_known(next_));
}

}  // namespace kin::dedup
