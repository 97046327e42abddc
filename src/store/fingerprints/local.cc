#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/bytes.h"
#include "kv/key_value_store.h"
#include "store/fingerprints/format.h"
#include "store/fingerprints/keys.h"
#include "store/local_stores.h"

namespace kin::store {
namespace {

// Families of the key-value store. Documents are numbered from 0 in the order they were admitted;
// numbers as keys are big-endian, so that they are in order.
constexpr kv::Family kRows{1};   // number → fingerprint without its text
constexpr kv::Family kTexts{2};  // number → packed text
constexpr kv::Family kDocs{3};   // DocId → number
constexpr kv::Family kKeys{4};   // LookupKey → numbers; prefix of a SimHash and number → SimHash

constexpr std::string_view kParametersKey = "parameters";
constexpr std::string_view kNextKey = "next";      // the number of the next document
constexpr std::string_view kCappedKey = "capped";  // keys whose list is full

// Documents that a key lists. More share a key only if they are made from one template, and
// comparing with the first thousand of these is enough to find one that is alike.
constexpr std::size_t kMostListed = 1'000;
constexpr std::size_t kMostFaults = 100;

using Number = std::uint32_t;
// Lists of numbers by key, as they are stored.
using Lists = std::unordered_map<std::string, std::string>;

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
template <typename Visit>
void each_number(std::string_view list, const Visit& visit) {
  for (std::size_t at = 0; at + sizeof(Number) <= list.size(); at += sizeof(Number))
    visit(load_le<Number>(list.data() + at));
}
bool lists(std::string_view list, Number wanted) {
  bool found = false;
  each_number(list, [&](Number number) { found = found || number == wanted; });
  return found;
}

// The state of a look-up: the lists of the batch's keys while the store had `next` documents.
struct LookedUp {
  Number next = 0;
  Lists lists;
};

// The documents that may share a key with one document.
using Numbers = std::set<Number>;

class LocalFingerprints final : public FingerprintStore {
 public:
  static Result<std::unique_ptr<FingerprintStore>> open(
      const LocalStoreOptions& options, const std::optional<FingerprintParameters>& parameters);

  const FingerprintParameters& parameters() const override { return parameters_; }
  Result<Found> find(std::span<const Fingerprint> batch) override;
  Result<std::vector<std::optional<Fingerprint>>> get(std::span<const DocId> ids) override;
  Result<std::vector<Admission>> admit(std::span<const Fingerprint> batch, const Found& found,
                                       std::span<const std::size_t> chosen,
                                       const Judge& judge) override;
  Status each(const Visit& visit) override;
  Result<FingerprintStats> stats() override;
  Result<std::vector<std::string>> check() override;

 private:
  explicit LocalFingerprints(const LocalStoreOptions& options)
      : where_(options.folder.string()), retention_(options.retention), clock_(*options.clock) {}

  bool expired(const Fingerprint& fingerprint) const {
    return retention_ && fingerprint.created + *retention_ <= clock_.now();
  }
  Result<Lists> read_lists(const std::vector<LookupKey>& keys) const;
  Result<std::vector<Numbers>> look_up(std::span<const Fingerprint> batch, Lists& lists) const;
  Status add_simhash_matches(const Fingerprint& fingerprint, Numbers& numbers) const;
  Result<std::unordered_map<Number, Fingerprint>> read_rows(const Numbers& numbers,
                                                            bool with_texts) const;
  // The numbers of documents; nothing for those that are not stored.
  Result<std::vector<std::optional<Number>>> numbers_of(std::span<const DocId> ids) const;
  Result<std::vector<Admission>> judge_newer(std::span<const Fingerprint> batch,
                                             std::span<const std::size_t> chosen, Number since,
                                             const Judge& judge, Lists& lists) const;

  class Writing;

  std::string where_;
  std::optional<std::chrono::days> retention_;
  Clock& clock_;
  FingerprintParameters parameters_;
  std::unique_ptr<kv::KeyValueStore> kv_;
  std::mutex mutex_;  // one admission at a time
  std::atomic<Number> next_ = 0;
  std::uint64_t capped_ = 0;
};

// One batch of changes to the store.
class LocalFingerprints::Writing {
 public:
  // `lists`: those of every key of the documents that are put, as far as there are any.
  Writing(LocalFingerprints& store, Lists& lists)
      : store_(store),
        lists_(lists),
        batch_(*store.kv_),
        next_(store.next_),
        capped_(store.capped_) {}

  // `number`: of the document, if it is stored already.
  Status put(const Fingerprint& fingerprint, std::optional<Number> number) {
    const std::size_t first = keys_.size();
    append_keys(fingerprint, keys_);
    if (number)
      KIN_RETURN_IF_ERROR(remove_stale(*number, std::span(keys_).subspan(first), fingerprint));
    const Number own = number ? *number : next_++;
    numbers_.resize(keys_.size(), own);
    if (fingerprint.simhash) {
      std::string value;
      append_le(value, *fingerprint.simhash);
      for (std::string& prefix : simhash_prefixes(*fingerprint.simhash, store_.parameters_.hamming))
        rows_.emplace_back(prefix + number_key(own), value);
    }
    batch_.put(number_key(own), encode_fingerprint(fingerprint), kRows);
    if (!fingerprint.packed_text.empty())
      batch_.put(number_key(own), fingerprint.packed_text, kTexts);
    if (!number) {
      std::string value;
      append_le(value, own);
      batch_.put(fingerprint.doc.view(), value, kDocs);
    }
    return Done{};
  }

  Status commit() {
    // Keys first: after a crash between the two they list documents that do not exist, which
    // look-ups leave out.
    KIN_RETURN_IF_ERROR(write_keys());
    std::string number;
    append_le(number, next_);
    batch_.put(kNextKey, number);
    number.clear();
    append_le(number, capped_);
    batch_.put(kCappedKey, number);
    KIN_RETURN_IF_ERROR(store_.kv_->write(batch_, {.sync = true}));
    store_.next_ = next_;
    store_.capped_ = capped_;
    return Done{};
  }

 private:
  // Twenty random keys a document are slow in a write buffer, so they are written as sorted rows.
  Status write_keys() {
    const std::vector<std::uint32_t> order = sorted_order(keys_);
    for (std::size_t at = 0; at < order.size();) {
      const std::string& key = keys_[order[at]].bytes;
      const auto stored = lists_.find(key);
      std::string list = stored == lists_.end() ? "" : stored->second;
      for (; at < order.size() && keys_[order[at]].bytes == key; ++at)
        add_to(list, numbers_[order[at]]);
      rows_.emplace_back(key, std::move(list));
      shortened_.erase(key);
    }
    for (const std::string& key : shortened_) rows_.emplace_back(key, lists_[key]);
    if (rows_.empty()) return Done{};
    if (!std::is_sorted(rows_.begin(), rows_.end())) std::sort(rows_.begin(), rows_.end());
    auto row = rows_.begin();
    return store_.kv_->ingest(
        [&]() -> Result<std::optional<kv::Row>> {
          if (row == rows_.end()) return std::optional<kv::Row>();
          const auto& [key, value] = *row++;
          return std::optional(kv::Row{key, value});
        },
        kKeys);
  }

  void add_to(std::string& list, Number number) {
    if (lists(list, number)) return;
    if (list.size() >= kMostListed * sizeof(Number)) {
      ++capped_;
      return;
    }
    append_le(list, number);
  }

  // Takes the document off the lists of keys that it has no longer.
  Status remove_stale(Number number, std::span<const LookupKey> now,
                      const Fingerprint& fingerprint) {
    KIN_TRY(const auto rows, store_.read_rows({number}, false));
    const Fingerprint& row = rows.at(number);
    std::vector<LookupKey> before;
    append_keys(row, before);
    std::unordered_set<std::string_view> kept;
    for (const LookupKey& key : now) kept.insert(key.bytes);
    std::erase_if(before, [&](const LookupKey& key) { return kept.contains(key.bytes); });
    KIN_TRY(const Lists stored, store_.read_lists(before));
    for (const auto& [key, list] : stored) {
      std::string& rest = lists_.try_emplace(key, list).first->second;
      std::string without;
      each_number(rest, [&](Number other) {
        if (other != number) append_le(without, other);
      });
      rest = without;
      shortened_.insert(key);
    }
    if (row.simhash && row.simhash != fingerprint.simhash) {
      for (const std::string& prefix : simhash_prefixes(*row.simhash, store_.parameters_.hamming))
        batch_.remove(prefix + number_key(number), kKeys);
    }
    if (fingerprint.packed_text.empty()) batch_.remove(number_key(number), kTexts);
    return Done{};
  }

  LocalFingerprints& store_;
  Lists& lists_;
  std::vector<LookupKey> keys_;                            // of all documents that are put
  std::vector<Number> numbers_;                            // of the documents, by key
  std::unordered_set<std::string> shortened_;              // keys of lists that lost a document
  std::vector<std::pair<std::string, std::string>> rows_;  // of kKeys
  kv::Batch batch_;
  Number next_;
  std::uint64_t capped_;
};

Result<std::unique_ptr<FingerprintStore>> LocalFingerprints::open(
    const LocalStoreOptions& options, const std::optional<FingerprintParameters>& parameters) {
  std::unique_ptr<LocalFingerprints> store(new LocalFingerprints(options));
  kv::StoreOptions kv;
  kv.mode = parameters ? kv::StoreOptions::Mode::kOpenOrMake : kv::StoreOptions::Mode::kOpen;
  kv.families = {"rows", "texts", "docs", "keys"};
  kv.tuning["texts"].apart_from_bytes = 512;
  kv.block_cache_bytes = options.memory_bytes / 4;
  kv.write_buffer_bytes = options.memory_bytes / 16;
  kv.tuning["keys"].merge_alike = true;
  kv.engine = options.engine;
  kv.disk = options.disk;
  KIN_TRY(store->kv_, kv::KeyValueStore::open(options.folder, kv));
  KIN_TRY(const auto described, store->kv_->get(kParametersKey));
  if (described) {
    auto theirs = decode_parameters(*described);
    if (!theirs) return with_context(store->where_, theirs.error());
    if (parameters) KIN_RETURN_IF_ERROR(check_same(*theirs, *parameters, store->where_));
    store->parameters_ = std::move(*theirs);
  } else if (parameters) {
    kv::Batch batch(*store->kv_);
    batch.put(kParametersKey, encode_parameters(*parameters));
    KIN_RETURN_IF_ERROR(store->kv_->write(batch, {.sync = true}));
    store->parameters_ = *parameters;
  } else {
    return Error{Code::kNotFound,
                 fmt::format("{} has no fingerprints (run kindred store create)", store->where_)};
  }
  KIN_TRY(const auto next, store->kv_->get(kNextKey));
  if (next && next->size() == sizeof(Number)) store->next_ = load_le<Number>(next->data());
  KIN_TRY(const auto capped, store->kv_->get(kCappedKey));
  if (capped && capped->size() == sizeof store->capped_)
    store->capped_ = load_le<std::uint64_t>(capped->data());
  return std::unique_ptr<FingerprintStore>(std::move(store));
}

Result<Lists> LocalFingerprints::read_lists(const std::vector<LookupKey>& keys) const {
  // In order, because looking up sorted keys is quicker; and each once.
  std::vector<std::string> wanted;
  wanted.reserve(keys.size());
  for (const std::uint32_t i : sorted_order(keys)) {
    if (wanted.empty() || wanted.back() != keys[i].bytes) wanted.push_back(keys[i].bytes);
  }
  KIN_TRY(auto values, kv_->get_many(wanted, kKeys));
  Lists found;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (values[i]) found.try_emplace(std::move(wanted[i]), std::move(*values[i]));
  }
  return found;
}

Status LocalFingerprints::add_simhash_matches(const Fingerprint& fingerprint,
                                              Numbers& numbers) const {
  for (const std::string& prefix : simhash_prefixes(*fingerprint.simhash, parameters_.hamming)) {
    KIN_RETURN_IF_ERROR(kv_->for_each(
        prefix,
        [&](std::string_view key, std::string_view value) -> Status {
          const auto theirs = load_le<std::uint64_t>(value.data());
          if (std::popcount(theirs ^ *fingerprint.simhash) <= parameters_.hamming)
            numbers.insert(number_of_key(key.substr(prefix.size())));
          return Done{};
        },
        kKeys));
  }
  return Done{};
}

Result<std::vector<Numbers>> LocalFingerprints::look_up(std::span<const Fingerprint> batch,
                                                        Lists& lists) const {
  std::vector<LookupKey> keys;
  std::vector<std::size_t> ends;
  for (const Fingerprint& fingerprint : batch) {
    append_keys(fingerprint, keys);
    ends.push_back(keys.size());
  }
  KIN_TRY(lists, read_lists(keys));
  std::vector<Numbers> numbers(batch.size());
  std::size_t at = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    for (; at < ends[i]; ++at) {
      const auto list = lists.find(keys[at].bytes);
      if (list == lists.end()) continue;
      each_number(list->second, [&](Number number) { numbers[i].insert(number); });
    }
    if (batch[i].simhash) KIN_RETURN_IF_ERROR(add_simhash_matches(batch[i], numbers[i]));
    // A crash may have left keys of documents that were never admitted.
    numbers[i].erase(numbers[i].lower_bound(next_), numbers[i].end());
  }
  return numbers;
}

Result<std::unordered_map<Number, Fingerprint>> LocalFingerprints::read_rows(
    const Numbers& numbers, bool with_texts) const {
  std::vector<std::string> keys;
  for (const Number number : numbers) keys.push_back(number_key(number));
  KIN_TRY(const auto rows, kv_->get_many(keys, kRows));
  std::vector<std::optional<std::string>> texts(keys.size());
  if (with_texts) {
    KIN_TRY(texts, kv_->get_many(keys, kTexts));
  }
  std::unordered_map<Number, Fingerprint> found;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Number number = number_of_key(keys[i]);
    if (!rows[i]) {
      return Error{Code::kDataLoss,
                   fmt::format("{}: document {} is listed and missing (run kindred store check; "
                               "restore the store from a backup)",
                               where_, number)};
    }
    auto fingerprint = decode_fingerprint(*rows[i]);
    if (!fingerprint) return with_context(where_, fingerprint.error());
    if (texts[i]) fingerprint->packed_text = std::move(*texts[i]);
    found.emplace(number, std::move(*fingerprint));
  }
  return found;
}

Result<std::vector<std::optional<Number>>> LocalFingerprints::numbers_of(
    std::span<const DocId> ids) const {
  std::vector<std::string> keys;
  for (const DocId& id : ids) keys.emplace_back(id.view());
  KIN_TRY(const auto values, kv_->get_many(keys, kDocs));
  std::vector<std::optional<Number>> numbers(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (values[i] && values[i]->size() == sizeof(Number))
      numbers[i] = load_le<Number>(values[i]->data());
  }
  return numbers;
}

std::vector<DocId> ids_of(std::span<const Fingerprint> batch) {
  std::vector<DocId> ids;
  for (const Fingerprint& fingerprint : batch) ids.push_back(fingerprint.doc);
  return ids;
}

Result<Found> LocalFingerprints::find(std::span<const Fingerprint> batch) {
  auto state = std::make_shared<LookedUp>();
  state->next = next_;  // before the reads: what comes in between is judged again
  KIN_TRY(const auto numbers, look_up(batch, state->lists));
  Numbers all;
  for (const Numbers& some : numbers) all.insert(some.begin(), some.end());
  KIN_TRY(const auto rows, read_rows(all, false));
  KIN_TRY(const auto own, numbers_of(ids_of(batch)));
  Found found;
  found.candidates.resize(batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    found.stored.push_back(own[i].has_value());
    for (const Number number : numbers[i]) {
      const Fingerprint& row = rows.at(number);
      if (row.doc == batch[i].doc || expired(row)) continue;
      Candidate candidate = sharing_of(batch[i], row, parameters_.hamming);
      // A list may be older than the document, after a crash.
      if (candidate.shared == Shared::kNone) continue;
      note_row(found, row);
      found.candidates[i].push_back(std::move(candidate));
    }
    std::sort(found.candidates[i].begin(), found.candidates[i].end(),
              [](const Candidate& a, const Candidate& b) { return a.doc < b.doc; });
  }
  found.state = std::move(state);
  return found;
}

Result<std::vector<std::optional<Fingerprint>>> LocalFingerprints::get(std::span<const DocId> ids) {
  KIN_TRY(const auto numbers, numbers_of(ids));
  Numbers wanted;
  for (const auto& number : numbers) {
    if (number) wanted.insert(*number);
  }
  KIN_TRY(const auto rows, read_rows(wanted, true));
  std::vector<std::optional<Fingerprint>> found(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (numbers[i] && !expired(rows.at(*numbers[i]))) found[i] = rows.at(*numbers[i]);
  }
  return found;
}

// Other threads admitted documents since the look-up: these came first, and win.
Result<std::vector<Admission>> LocalFingerprints::judge_newer(std::span<const Fingerprint> batch,
                                                              std::span<const std::size_t> chosen,
                                                              Number since, const Judge& judge,
                                                              Lists& lists) const {
  std::vector<Fingerprint> mine;
  for (const std::size_t i : chosen) mine.push_back(batch[i]);
  KIN_TRY(const auto numbers, look_up(mine, lists));
  std::vector<Admission> admissions(chosen.size());
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const Numbers newer(numbers[i].lower_bound(since), numbers[i].end());
    KIN_TRY(const auto rows, read_rows(newer, true));
    for (const Number number : newer) {
      const Fingerprint& theirs = rows.at(number);
      if (theirs.doc == mine[i].doc || expired(theirs)) continue;
      const Shared shared = sharing_of(mine[i], theirs, parameters_.hamming).shared;
      if (shared == Shared::kNone || shared == Shared::kChunk) continue;
      KIN_TRY(const bool duplicate, judge(mine[i], theirs));
      if (!duplicate) continue;
      admissions[i].lost_to = theirs.doc;
      break;
    }
  }
  return admissions;
}

Result<std::vector<Admission>> LocalFingerprints::admit(std::span<const Fingerprint> batch,
                                                        const Found& found,
                                                        std::span<const std::size_t> chosen,
                                                        const Judge& judge) {
  const std::scoped_lock lock(mutex_);
  const auto& state = *static_cast<const LookedUp*>(found.state.get());
  Lists lists;
  std::vector<Admission> admissions(chosen.size());
  if (state.next == next_) {
    lists = state.lists;
  } else {
    KIN_TRY(admissions, judge_newer(batch, chosen, state.next, judge, lists));
  }
  std::vector<DocId> ids;
  for (const std::size_t i : chosen) ids.push_back(batch[i].doc);
  KIN_TRY(const auto numbers, numbers_of(ids));
  Writing writing(*this, lists);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (!admissions[i].lost_to) KIN_RETURN_IF_ERROR(writing.put(batch[chosen[i]], numbers[i]));
  }
  KIN_RETURN_IF_ERROR(writing.commit());
  return admissions;
}

Status LocalFingerprints::each(const Visit& visit) {
  kv::Cursor texts = kv_->cursor({}, kTexts);
  return kv_->for_each(
      "",
      [&](std::string_view key, std::string_view value) -> Status {
        auto fingerprint = decode_fingerprint(value);
        if (!fingerprint) return with_context(where_, fingerprint.error());
        while (texts.valid() && texts.key() < key) texts.next();
        KIN_RETURN_IF_ERROR(texts.status());
        if (texts.valid() && texts.key() == key) fingerprint->packed_text = texts.value();
        return expired(*fingerprint) ? Status(Done{}) : visit(*fingerprint);
      },
      kRows);
}

Result<FingerprintStats> LocalFingerprints::stats() {
  const std::scoped_lock lock(mutex_);
  FingerprintStats stats;
  stats.documents = next_;
  stats.bytes = kv_->usage().disk_bytes;
  stats.capped_keys = capped_;
  stats.parameters = parameters_;
  return stats;
}

Result<std::vector<std::string>> LocalFingerprints::check() {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> faults;
  const auto fault = [&](std::string what) {
    if (faults.size() < kMostFaults) faults.push_back(std::move(what));
  };
  Number expected = 0;
  KIN_RETURN_IF_ERROR(kv_->for_each(
      "",
      [&](std::string_view key, std::string_view value) -> Status {
        const Number number = number_of_key(key);
        if (number != expected) fault(fmt::format("document {} is missing", expected));
        expected = number + 1;
        const auto row = decode_fingerprint(value);
        if (!row) {
          fault(fmt::format("document {}: {}", number, row.error().message));
          return Done{};
        }
        KIN_TRY(const auto own, numbers_of(std::span(&row->doc, 1)));
        if (own[0] != number)
          fault(fmt::format("document {} is not found by its id {}", number, to_string(row->doc)));
        std::vector<LookupKey> keys;
        append_keys(*row, keys);
        KIN_TRY(const Lists stored, read_lists(keys));
        for (const LookupKey& wanted : keys) {
          const auto list = stored.find(wanted.bytes);
          const bool full =
              list != stored.end() && list->second.size() >= kMostListed * sizeof(Number);
          if (list == stored.end() || (!full && !lists(list->second, number)))
            fault(fmt::format("document {} is not listed under one of its keys", number));
        }
        return Done{};
      },
      kRows));
  if (expected != next_)
    fault(fmt::format("there are {} documents, and the store counts {}", expected, next_.load()));
  return faults;
}

}  // namespace

Result<std::unique_ptr<FingerprintStore>> open_local_fingerprints(
    const LocalStoreOptions& options, const FingerprintParameters& parameters) {
  return LocalFingerprints::open(options, parameters);
}

Result<std::unique_ptr<FingerprintStore>> open_local_fingerprints(
    const LocalStoreOptions& options) {
  return LocalFingerprints::open(options, std::nullopt);
}

}  // namespace kin::store
