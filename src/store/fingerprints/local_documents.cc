#include "store/fingerprints/local_documents.h"

#include <fmt/format.h>

#include <bit>

#include "base/bytes.h"
#include "store/fingerprints/format.h"
#include "store/fingerprints/keys.h"

namespace kin::store {
namespace {

// Families of the key-value store. Numbers as keys are big-endian, so that they are in order.
constexpr kv::Family kRows{1};       // number → fingerprint without its text; empty if replaced
constexpr kv::Family kTexts{2};      // number → packed text
constexpr kv::Family kSimhashes{3};  // prefix of a SimHash and number → SimHash

constexpr std::string_view kParametersKey = "parameters";
constexpr std::string_view kLayoutKey = "layout";
constexpr std::string_view kNextKey = "next";
constexpr std::string_view kReplacedKey = "replaced";
constexpr std::string_view kLeftOutKey = "capped";

// Version of the families, and of the keys beside them.
constexpr std::string_view kLayout = "2";

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

}  // namespace

Result<std::unique_ptr<LocalDocuments>> LocalDocuments::open(
    const LocalStoreOptions& options, const std::optional<FingerprintParameters>& parameters) {
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
  KIN_RETURN_IF_ERROR(documents->read_counts());
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

Status LocalDocuments::read_counts() {
  KIN_TRY(next_, read_number<Number>(*kv_, kNextKey));
  KIN_TRY(counts_.replaced, read_number<std::uint64_t>(*kv_, kReplacedKey));
  KIN_TRY(counts_.left_out, read_number<std::uint64_t>(*kv_, kLeftOutKey));
  return Done{};
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
    if (!rows[i]) {
      return Error{Code::kDataLoss,
                   fmt::format("{}: document {} is listed and missing (run kindred store check; "
                               "restore the store from a backup)",
                               where_, number)};
    }
    if (rows[i]->empty()) continue;
    auto fingerprint = decode_fingerprint(*rows[i]);
    if (!fingerprint) return with_context(where_, fingerprint.error());
    if (texts[i]) fingerprint->packed_text = std::move(*texts[i]);
    found.emplace(number, std::move(*fingerprint));
  }
  return found;
}

Status LocalDocuments::each(Number first, const Visit& visit) const {
  kv::Cursor at = kv_->cursor({.from = number_key(first)}, kRows);
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
  if (fingerprint.simhash) {
    for (const std::string& prefix :
         simhash_prefixes(*fingerprint.simhash, documents_.parameters_.hamming))
      batch_.put(prefix + number_key(own), bytes_of(*fingerprint.simhash), kSimhashes);
  }
  batch_.put(number_key(own), row, kRows);
  if (!fingerprint.packed_text.empty()) put_text(fingerprint, own);
  return std::optional(own);
}

void LocalDocuments::Changes::put_text(const Fingerprint& fingerprint, Number number) {
  if (fingerprint.packed_text.empty()) {
    batch_.remove(number_key(number), kTexts);
  } else {
    batch_.put(number_key(number), fingerprint.packed_text, kTexts);
  }
}

Status LocalDocuments::Changes::remove(Number number, std::string_view row) {
  const auto old = decode_fingerprint(row);
  if (!old) return with_context(documents_.where_, old.error());
  if (old->simhash) {
    for (const std::string& prefix :
         simhash_prefixes(*old->simhash, documents_.parameters_.hamming))
      batch_.remove(prefix + number_key(number), kSimhashes);
  }
  batch_.put(number_key(number), "", kRows);
  batch_.remove(number_key(number), kTexts);
  ++counts_.replaced;
  return Done{};
}

Status LocalDocuments::Changes::commit() {
  batch_.put(kNextKey, bytes_of(next_));
  batch_.put(kReplacedKey, bytes_of(counts_.replaced));
  batch_.put(kLeftOutKey, bytes_of(counts_.left_out));
  KIN_RETURN_IF_ERROR(documents_.kv_->write(batch_, {.sync = true}));
  documents_.counts_ = counts_;
  documents_.next_ = next_;
  return Done{};
}

}  // namespace kin::store
