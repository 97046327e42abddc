#include "dedup/known/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/workers.h"
#include "data/text_packer.h"
#include "dedup/fingerprint_parameters.h"
#include "dedup/known/sketcher.h"
#include "dedup/spill/budget.h"
#include "dedup/spill/fingerprint_filter.h"
#include "dedup/spill/shared_keys.h"

namespace kin::dedup {
namespace fs = std::filesystem;
namespace {

using Documents = store::LocalDocuments;
using Number = Documents::Number;

// Records whose keys are read at once.
constexpr std::uint64_t kRecordsAtOnce = 4'096;
// Bytes of packed texts that a thread holds before it writes them.
constexpr std::size_t kPackedAtOnce = 256 << 10;

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

// Adds the keys of records that may equal those of an input. One thread only.
class KeyAdder {
 public:
  KeyAdder(const FingerprintFilter& inputs, const DedupOptions& options, Scan& scan)
      : inputs_(inputs),
        options_(options),
        scan_(scan),
        exact_(scan.exact),
        words_(scan.words),
        bands_(scan.bands) {}

  Status add(RecordId id, const store::FingerprintKeys& keys) {
    bool met = add_hash(id, keys.content, exact_);
    met = add_hash(id, keys.words, words_) || met;
    for (std::size_t at = 0; at < keys.bands.size(); at += sizeof(std::uint64_t)) {
      const auto key = load_le<std::uint64_t>(keys.bands.data() + at);
      if (!keys.words || !inputs_.may_contain(key)) continue;
      const BandRecord record{.key = key, .record = id};
      bands_.append(bin_of(record), record);
      met = true;
    }
    if (options_.detectors.simhash && keys.simhash) scan_.simhashes.set(id, *keys.simhash);
    if (!met || !keys.words || !scan_.signatures) return Done{};
    const auto* signature = reinterpret_cast<const std::uint8_t*>(keys.signature.data());
    return scan_.signatures->insert(id, {signature, keys.signature.size()});
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
  Number number_of(RecordId row) const {
    const std::size_t begin = row_number(row) / kEvery * kEvery;
    return static_cast<Number>(ranks_[begin / kEvery] +
                               keep_.count_between(begin, row_number(row)));
  }
  Number begin() const { return static_cast<Number>(ranks_.front()); }
  Number end() const { return static_cast<Number>(ranks_.back()); }

 private:
  static constexpr std::size_t kEvery = 4'096;
  const RecordSet& keep_;
  std::vector<std::uint64_t> ranks_;
};

// The files with records to add.
std::vector<Documents::Origin> origins_of(const data::Dataset& inputs, const RecordSet& keep,
                                          const Ranks& ranks) {
  std::vector<Documents::Origin> origins;
  std::vector<std::uint64_t> ends = inputs.first_rows();
  ends.push_back(keep.size());
  Number first = ranks.begin();
  for (std::size_t file = 0; file + 1 < ends.size(); ++file) {
    const auto end = static_cast<Number>(first + keep.count_between(ends[file], ends[file + 1]));
    if (end > first) origins.push_back({first, end, inputs.inputs()[file].shown_as});
    first = end;
  }
  return origins;
}

// Two records with one id are two records, and neither replaces the other: their number makes them
// differ, and their text those of different stores.
DocId doc_of(const store::Fingerprint& record, std::string_view text, Number number) {
  const Hash128 hash = hash128(text);
  return doc_id_of(record.source,
                   fmt::format("{}\n{:016x}{:016x}\n{}", record.key, hash.high, hash.low, number));
}

// Makes documents of records. The columns of a batch are those of columns_added(). One thread only.
class RecordAdder {
 public:
  RecordAdder(const DedupOptions& options, WallTime now)
      : options_(options), now_(now), sketcher_(options) {}

  Documents::Additions::Addition make(const data::Batch& batch, std::size_t record, Number number) {
    const KnownSketcher::Sketched sketched = sketcher_.sketch(batch, record);
    if (!sketched.text) return {.number = number};
    store::Fingerprint made;
    KnownSketcher::fill(sketched, made);
    if (options_.source_column) {
      const std::size_t column = options_.fields.size() + (options_.id_column ? 1 : 0);
      made.source = batch.value(column, record).value_or("");
    }
    made.created = now_;
    made.doc = doc_of(made, *sketched.text, number);
    return {.number = number, .document = std::move(made)};
  }

 private:
  const DedupOptions& options_;
  const WallTime now_;
  KnownSketcher sketcher_;
};

std::vector<std::string> columns_added(const DedupOptions& options) {
  std::vector<std::string> columns = options.fields;
  if (options.id_column) columns.push_back(*options.id_column);
  if (options.source_column) columns.push_back(*options.source_column);
  return columns;
}

// Folders of other kinds are not touched.
Status check_folder(const fs::path& folder) {
  std::error_code ignored;  // a path that cannot be examined is reported when it is opened
  const bool is_new = !fs::exists(folder, ignored) || fs::is_empty(folder, ignored);
  if (is_new || fs::exists(folder / store::kFingerprintsFolder, ignored)) return Done{};
  return Error{Code::kFailedPrecondition,
               fmt::format("{} contains files that were not made with --append (name a new folder "
                           "for --signature-store)",
                           folder.string())};
}

}  // namespace

Result<std::unique_ptr<KnownRecords>> KnownRecords::open(const DedupOptions& options) {
  std::unique_ptr<KnownRecords> known(new KnownRecords(options));
  const fs::path& folder = *options.signature_store;
  KIN_RETURN_IF_ERROR(Documents::check_folder(folder / store::kFingerprintsFolder));
  KIN_RETURN_IF_ERROR(check_folder(folder));
  store::LocalStoreOptions where;
  where.folder = folder / store::kFingerprintsFolder;
  where.memory_bytes = 2 * known_memory(options, options.max_memory);  // half is for keys
  where.remembers_retention = true;
  std::error_code failed;
  if (options.dry_run && !fs::exists(where.folder, failed)) return known;
  fs::create_directories(folder, failed);
  if (failed) return system_error("make", folder, failed.value());
  KIN_TRY(known->documents_, Documents::open(where, fingerprint_parameters(options)));
  KIN_RETURN_IF_ERROR(check_columns(known->documents_->parameters(), options));
  known->size_ = known->documents_->next();
  if (const auto retention = known->documents_->retention())
    known->oldest_ = where.clock->now() - *retention;
  KIN_RETURN_IF_ERROR(known->list_files());
  return known;
}

Status KnownRecords::list_files() {
  KIN_TRY(const auto origins, documents_->origins());
  std::uint64_t next = 0;
  for (const Documents::Origin& origin : origins) {
    if (origin.first > next) files_.push_back({next, where_});
    files_.push_back({origin.first, origin.name});
    next = origin.end;
  }
  if (next < size_) files_.push_back({next, where_});
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

  const std::size_t blocks = (size() + kRecordsAtOnce - 1) / kRecordsAtOnce;
  next_phase(scan.work, blocks);
  KIN_RETURN_IF_ERROR(parallel_for(options.threads, blocks, [&](std::size_t block) -> Status {
    const std::uint64_t begin = block * kRecordsAtOnce;
    KeyAdder adder(inputs, options, scan);
    KIN_RETURN_IF_ERROR(documents_->each_keys(
        static_cast<Number>(begin),
        static_cast<Number>(std::min<std::uint64_t>(begin + kRecordsAtOnce, size())),
        [&](Number number, const store::FingerprintKeys& of) {
          return of.created <= oldest_ ? Status(Done{}) : adder.add(record_id(number), of);
        }));
    count_work(scan.work, 1);
    return adder.flush();
  }));
  std::uint64_t longest = scan.counts.longest_text;
  scan.counts.longest_text = std::max(longest, documents_->longest_text());
  return Done{};
}

Status KnownRecords::read(std::span<const RecordId> wanted, const Visit& visit) const {
  std::set<Number> numbers;
  for (const RecordId record : wanted) numbers.insert(static_cast<Number>(row_number(record)));
  KIN_TRY(const auto documents, documents_->read(numbers, /*with_texts=*/true));
  data::TextPacker packer;
  for (const RecordId record : wanted) {
    const auto found = documents.find(static_cast<Number>(row_number(record)));
    if (found == documents.end() || found->second.packed_text.empty()) continue;
    const auto text = packer.unpack(found->second.packed_text, documents_->longest_text());
    if (!text) return with_context(where_, text.error());
    visit(record, id_of_key(found->second.key, *text), *text);
  }
  return Done{};
}

Status KnownRecords::add(const Adding& adding) {
  const DedupOptions& options = adding.options;
  const Ranks ranks(adding.keep, size());
  origins_ = origins_of(adding.inputs, adding.keep, ranks);
  KIN_TRY(additions_, documents_->begin_additions(ranks.end()));
  data::ScanOptions scan;
  scan.columns = columns_added(options);
  scan.optional_columns = scan.columns.size();
  scan.threads = options.threads;
  scan.on_error = options.on_error;
  scan.only = &adding.keep;
  next_phase(adding.work, adding.keep.count());
  std::vector<std::unique_ptr<RecordAdder>> adders;
  for (int i = 0; i < options.threads; ++i)
    adders.push_back(std::make_unique<RecordAdder>(options, adding.now));
  const auto visit = [&](const data::Batch& batch, int worker) -> Status {
    RecordAdder& adder = *adders[static_cast<std::size_t>(worker)];
    std::vector<Documents::Additions::Addition> made;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      made.push_back(adder.make(batch, i, ranks.number_of(batch.row(i))));
      if (made.back().document) bytes += made.back().document->packed_text.size();
      if (bytes < kPackedAtOnce) continue;
      KIN_RETURN_IF_ERROR(additions_->put(made));
      made.clear();
      bytes = 0;
    }
    count_work(adding.work, batch.size());
    return additions_->put(made);
  };
  KIN_RETURN_IF_ERROR(adding.inputs.scan(scan, visit));
  return Done{};
}

Status KnownRecords::commit() {
  return additions_->commit(origins_);
}

}  // namespace kin::dedup
