#include "store/local_documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <fstream>

#include "base/bytes.h"
#include "data/text_packer.h"
#include "store/fingerprints/format.h"
#include "store/fingerprints/keys.h"

namespace kin::store {
namespace {

// Families of the key-value store. Numbers as keys are big-endian, so that they are in order.
constexpr kv::Family kRows{1};       // number → fingerprint without its text; empty: no document
constexpr kv::Family kTexts{2};      // number → packed text
constexpr kv::Family kSimhashes{3};  // prefix of a SimHash and number → SimHash

constexpr std::string_view kParametersKey = "parameters";
constexpr std::string_view kLayoutKey = "layout";
constexpr std::string_view kNextKey = "next";
constexpr std::string_view kReplacedKey = "replaced";
constexpr std::string_view kLeftOutKey = "capped";
constexpr std::string_view kLongestKey = "longest";
constexpr std::string_view kOriginPrefix = "origin";     // and a number → OriginValue
constexpr std::string_view kRetentionKey = "retention";  // days; missing: for ever
constexpr std::string_view kAddingKey = "adding";        // there are rows that were not committed

// Version of the families, and of the keys beside them.
constexpr std::string_view kLayout = "3";

// Changes of additions that are written at once.
constexpr std::size_t kBatchChanges = 4'096;
constexpr std::size_t kBatchBytes = 1 << 20;
// They need no log: commit() flushes.
constexpr kv::WriteOptions kWithoutLog{.sync = false, .log = false};

using Number = LocalDocuments::Number;

std::string number_key(Number number) {
  std::string key(sizeof number, '\0');
  for (std::size_t i = 0; i < key.size(); ++i)
    key[i] = static_cast<char>(number >> (8 * (sizeof number - 1 - i)));
  return key;
}
Number number_of_key(std::string_view key) {
  Number number = 0;
  for (const char byte : key) number = number << 8 | static_cast<std::uint8_t>(byte);
  return number;
}

template <typename T>
std::string bytes_of(T value) {
  std::string bytes;
  append_le(bytes, value);
  return bytes;
}
// 0 if it was never written.
template <typename T>
Result<T> read_number(const kv::KeyValueStore& kv, std::string_view key) {
  KIN_TRY(const auto bytes, kv.get(key));
  return bytes && bytes->size() == sizeof(T) ? load_le<T>(bytes->data()) : T{};
}

std::uint64_t text_bytes(const Fingerprint& fingerprint) {
  return data::TextPacker::size_of(fingerprint.packed_text);
}

void raise_to(std::atomic<std::uint64_t>& most, std::uint64_t value) {
  for (std::uint64_t seen = most; seen < value && !most.compare_exchange_weak(seen, value);) {
  }
}

}  // namespace

// Earlier versions of --signature-store DIR --append kept records in other files.
Status LocalDocuments::check_folder(const std::filesystem::path& documents) {
  const std::filesystem::path folder = documents.parent_path();
  constexpr std::string_view kMagic = "KINKNOWN";
  std::ifstream file(folder / "known", std::ios::binary);
  std::string head(kMagic.size(), '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  if (!file || head != kMagic) return Done{};
  return Error{Code::kFailedPrecondition,
               fmt::format("{} was made by an earlier version of Kindred, which kept records in "
                           "other files (name a new folder, and add the outputs of earlier runs to "
                           "it with kindred dedup OUTPUTS --signature-store DIR --append)",
                           folder.string())};
}

Result<std::unique_ptr<LocalDocuments>> LocalDocuments::open(
    const LocalStoreOptions& options, const std::optional<FingerprintParameters>& parameters) {
  if (options.disk == nullptr) KIN_RETURN_IF_ERROR(check_folder(options.folder));
  std::unique_ptr<LocalDocuments> documents(new LocalDocuments(options));
  kv::StoreOptions kv;
  kv.mode = parameters ? kv::StoreOptions::Mode::kOpenOrMake : kv::StoreOptions::Mode::kOpen;
  kv.families = {"rows", "texts", "simhashes"};
  kv.tuning["texts"].apart_from_bytes = 512;
  kv.block_cache_bytes = options.memory_bytes / 8;
  kv.write_buffer_bytes = options.memory_bytes / 32;
  kv.engine = options.engine;
  kv.disk = options.disk;
  KIN_TRY(documents->kv_, kv::KeyValueStore::open(options.folder, kv));
  KIN_RETURN_IF_ERROR(documents->describe(parameters));
  KIN_RETURN_IF_ERROR(documents->settle_retention(options));
  KIN_RETURN_IF_ERROR(documents->read_counts());
  KIN_RETURN_IF_ERROR(documents->remove_additions());
  return documents;
}

Status LocalDocuments::describe(const std::optional<FingerprintParameters>& parameters) {
  KIN_TRY(const auto described, kv_->get(kParametersKey));
  if (described) {
    KIN_TRY(const auto layout, kv_->get(kLayoutKey));
    if (layout != kLayout) {
      return Error{Code::kFailedPrecondition,
                   fmt::format("{} was made by another version of Kindred (export it with that "
                               "version, and import it into a new store)",
                               where_)};
    }
    auto theirs = decode_parameters(*described);
    if (!theirs) return with_context(where_, theirs.error());
    if (parameters) KIN_RETURN_IF_ERROR(check_same(*theirs, *parameters, where_));
    parameters_ = std::move(*theirs);
    return Done{};
  }
  if (!parameters) {
    return Error{Code::kNotFound,
                 fmt::format("{} has no fingerprints (run kindred store create)", where_)};
  }
  kv::Batch batch(*kv_);
  batch.put(kParametersKey, encode_parameters(*parameters));
  batch.put(kLayoutKey, kLayout);
  KIN_RETURN_IF_ERROR(kv_->write(batch, {.sync = true}));
  parameters_ = *parameters;
  return Done{};
}

Status LocalDocuments::settle_retention(const LocalStoreOptions& options) {
  KIN_TRY(const auto days, read_number<std::uint32_t>(*kv_, kRetentionKey));
  if (days != 0) retention_ = std::chrono::days(days);
  if (options.remembers_retention || retention_ == options.retention) return Done{};
  retention_ = options.retention;
  kv::Batch batch(*kv_);
  if (retention_)
    batch.put(kRetentionKey, bytes_of(static_cast<std::uint32_t>(retention_->count())));
  else
    batch.remove(kRetentionKey);
  return kv_->write(batch, {.sync = true});
}

Status LocalDocuments::read_counts() {
  KIN_TRY(next_, read_number<Number>(*kv_, kNextKey));
  KIN_TRY(counts_.without_document, read_number<std::uint64_t>(*kv_, kReplacedKey));
  KIN_TRY(counts_.left_out, read_number<std::uint64_t>(*kv_, kLeftOutKey));
  KIN_TRY(counts_.longest_text, read_number<std::uint64_t>(*kv_, kLongestKey));
  return Done{};
}

// A process that was killed left them. Each family has what was flushed of it.
Status LocalDocuments::remove_additions() {
  KIN_TRY(const auto adding, kv_->get(kAddingKey));
  if (!adding) return Done{};
  const std::string past_all(sizeof(Number) + 1, '\xff');
  kv::Batch batch(*kv_);
  batch.remove_range(number_key(next_), past_all, kRows);
  batch.remove_range(number_key(next_), past_all, kTexts);
  kv::Cursor at = kv_->cursor({}, kSimhashes);
  for (; at.valid(); at.next()) {
    const std::string_view number = at.key().substr(at.key().size() - sizeof(Number));
    if (number_of_key(number) < next_) continue;
    batch.remove(at.key(), kSimhashes);
    if (batch.size() < kBatchChanges) continue;
    KIN_RETURN_IF_ERROR(kv_->write(batch, {.sync = false}));
    batch.clear();
  }
  KIN_RETURN_IF_ERROR(at.status());
  batch.remove(kAddingKey);
  return kv_->write(batch, {.sync = true});
}

Result<std::unique_ptr<LocalDocuments::Additions>> LocalDocuments::begin_additions(Number end) {
  KIN_RETURN_IF_ERROR(remove_additions());  // of an earlier call
  kv::Batch batch(*kv_);
  batch.put(kAddingKey, "");
  KIN_RETURN_IF_ERROR(kv_->write(batch, {.sync = true}));
  return std::unique_ptr<Additions>(new Additions(*this, end));
}

Error LocalDocuments::missing(Number number) const {
  return {Code::kDataLoss,
          fmt::format("{}: document {} is listed and missing (run kindred store check; restore the "
                      "store from a backup)",
                      where_, number)};
}

Result<std::vector<LocalDocuments::Origin>> LocalDocuments::origins() const {
  std::vector<Origin> origins;
  KIN_RETURN_IF_ERROR(
      kv_->for_each(kOriginPrefix, [&](std::string_view key, std::string_view value) -> Status {
        const auto origin = decode_origin(value);
        if (!origin) return with_context(where_, origin.error());
        const Number first = number_of_key(key.substr(kOriginPrefix.size()));
        const Number before = origins.empty() ? 0 : origins.back().end;
        if (first < before || origin->end <= first || origin->end > next_) {
          return Error{Code::kDataLoss,
                       fmt::format("{}: files of earlier records overlap (restore the store from "
                                   "a backup)",
                                   where_)};
        }
        origins.push_back({first, origin->end, std::string(origin->name)});
        return Done{};
      }));
  return origins;
}

Result<LocalDocuments::Rows> LocalDocuments::read(const std::set<Number>& numbers,
                                                  bool with_texts) const {
  std::vector<std::string> keys;
  for (const Number number : numbers) keys.push_back(number_key(number));
  KIN_TRY(const auto rows, kv_->get_many(keys, kRows));
  std::vector<std::optional<std::string>> texts(keys.size());
  if (with_texts) {
    KIN_TRY(texts, kv_->get_many(keys, kTexts));
  }
  Rows found;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Number number = number_of_key(keys[i]);
    if (!rows[i]) return missing(number);
    if (rows[i]->empty()) continue;
    auto fingerprint = decode_fingerprint(*rows[i]);
    if (!fingerprint) return with_context(where_, fingerprint.error());
    if (texts[i]) fingerprint->packed_text = std::move(*texts[i]);
    found.emplace(number, std::move(*fingerprint));
  }
  return found;
}

Status LocalDocuments::each(Number first, const Visit& visit) const {
  kv::Cursor at = kv_->cursor({.from = number_key(first), .to = number_key(next_)}, kRows);
  for (; at.valid(); at.next()) {
    if (at.value().empty()) continue;
    const Number number = number_of_key(at.key());
    const auto fingerprint = decode_fingerprint(at.value());
    if (!fingerprint)
      return with_context(fmt::format("{}: document {}", where_, number), fingerprint.error());
    KIN_RETURN_IF_ERROR(visit(number, *fingerprint));
  }
  return at.status();
}

Status LocalDocuments::each_keys(Number first, Number end, const VisitKeys& visit) const {
  kv::Cursor at = kv_->cursor({.from = number_key(first), .to = number_key(end)}, kRows);
  for (Number number = first; number < end; ++number, at.next()) {
    KIN_RETURN_IF_ERROR(at.status());
    if (!at.valid() || number_of_key(at.key()) != number) return missing(number);
    if (at.value().empty()) continue;
    const auto keys = decode_keys(at.value());
    if (!keys) return with_context(fmt::format("{}: document {}", where_, number), keys.error());
    KIN_RETURN_IF_ERROR(visit(number, *keys));
  }
  return Done{};
}

Status LocalDocuments::each_with_text(const Visit& visit) const {
  kv::Cursor texts = kv_->cursor({}, kTexts);
  return each(0, [&](Number number, const Fingerprint& row) -> Status {
    Fingerprint document = row;
    while (texts.valid() && number_of_key(texts.key()) < number) texts.next();
    KIN_RETURN_IF_ERROR(texts.status());
    if (texts.valid() && number_of_key(texts.key()) == number) document.packed_text = texts.value();
    return visit(number, document);
  });
}

Status LocalDocuments::append_simhash_matches(std::uint64_t simhash,
                                              std::vector<Number>& numbers) const {
  for (const std::string& prefix : simhash_prefixes(simhash, parameters_.hamming)) {
    KIN_RETURN_IF_ERROR(kv_->for_each(
        prefix,
        [&](std::string_view key, std::string_view value) -> Status {
          const auto theirs = load_le<std::uint64_t>(value.data());
          if (std::popcount(theirs ^ simhash) <= parameters_.hamming)
            numbers.push_back(number_of_key(key.substr(prefix.size())));
          return Done{};
        },
        kSimhashes));
  }
  return Done{};
}

Result<std::optional<Number>> LocalDocuments::Changes::put(const Fingerprint& fingerprint,
                                                           std::optional<Number> before) {
  const std::string row = encode_fingerprint(fingerprint);
  if (before) {
    KIN_TRY(const auto stored, documents_.kv_->get(number_key(*before), kRows));
    if (stored == row) {
      put_text(fingerprint, *before);
      return std::optional<Number>();
    }
    KIN_RETURN_IF_ERROR(remove(*before, stored.value_or("")));
  }
  const Number own = next_++;
  documents_.put_new(batch_, own, fingerprint, row);
  counts_.longest_text = std::max(counts_.longest_text, text_bytes(fingerprint));
  return std::optional(own);
}

void LocalDocuments::put_new(kv::Batch& batch, Number number, const Fingerprint& fingerprint,
                             std::string_view row) const {
  if (fingerprint.simhash) {
    for (const std::string& prefix : simhash_prefixes(*fingerprint.simhash, parameters_.hamming))
      batch.put(prefix + number_key(number), bytes_of(*fingerprint.simhash), kSimhashes);
  }
  batch.put(number_key(number), row, kRows);
  if (!fingerprint.packed_text.empty())
    batch.put(number_key(number), fingerprint.packed_text, kTexts);
}

void LocalDocuments::remove_simhash(kv::Batch& batch, Number number, std::uint64_t simhash) const {
  for (const std::string& prefix : simhash_prefixes(simhash, parameters_.hamming))
    batch.remove(prefix + number_key(number), kSimhashes);
}

void LocalDocuments::Changes::put_text(const Fingerprint& fingerprint, Number number) {
  if (fingerprint.packed_text.empty()) {
    batch_.remove(number_key(number), kTexts);
  } else {
    batch_.put(number_key(number), fingerprint.packed_text, kTexts);
    counts_.longest_text = std::max(counts_.longest_text, text_bytes(fingerprint));
  }
}

Status LocalDocuments::Changes::remove(Number number, std::string_view row) {
  const auto old = decode_fingerprint(row);
  if (!old) return with_context(documents_.where_, old.error());
  if (old->simhash) documents_.remove_simhash(batch_, number, *old->simhash);
  batch_.put(number_key(number), "", kRows);
  batch_.remove(number_key(number), kTexts);
  ++counts_.without_document;
  return Done{};
}

Status LocalDocuments::Changes::commit() {
  return documents_.commit(batch_, next_, counts_);
}

Status LocalDocuments::commit(kv::Batch& batch, Number next, const Counts& counts) {
  batch.put(kNextKey, bytes_of(next));
  batch.put(kReplacedKey, bytes_of(counts.without_document));
  batch.put(kLeftOutKey, bytes_of(counts.left_out));
  batch.put(kLongestKey, bytes_of(counts.longest_text));
  KIN_RETURN_IF_ERROR(kv_->write(batch, {.sync = true}));
  counts_ = counts;
  next_ = next;
  return Done{};
}

Status LocalDocuments::Additions::put(std::span<const Addition> additions) {
  kv::Batch batch(*documents_.kv_);
  for (const Addition& addition : additions) {
    if (addition.document) {
      documents_.put_new(batch, addition.number, *addition.document,
                         encode_fingerprint(*addition.document));
      raise_to(longest_text_, text_bytes(*addition.document));
    } else {
      batch.put(number_key(addition.number), "", kRows);
      ++without_document_;
    }
    if (batch.bytes() < kBatchBytes) continue;
    KIN_RETURN_IF_ERROR(documents_.kv_->write(batch, kWithoutLog));
    batch.clear();
  }
  put_ += additions.size();
  return batch.size() == 0 ? Status(Done{}) : documents_.kv_->write(batch, kWithoutLog);
}

Status LocalDocuments::Additions::commit(std::span<const Origin> origins) {
  if (put_ != end_ - documents_.next_) {
    return Error{Code::kInternal, fmt::format("{}: {} of {} records were added", documents_.where_,
                                              put_.load(), end_ - documents_.next_)};
  }
  KIN_RETURN_IF_ERROR(documents_.kv_->flush());
  Counts counts = documents_.counts_;
  counts.without_document += without_document_;
  counts.longest_text = std::max(counts.longest_text, longest_text_.load());
  kv::Batch batch(*documents_.kv_);
  for (const Origin& origin : origins) {
    batch.put(std::string(kOriginPrefix) + number_key(origin.first),
              encode_origin({.end = origin.end, .name = origin.name}));
  }
  batch.remove(kAddingKey);
  return documents_.commit(batch, end_, counts);
}

}  // namespace kin::store
