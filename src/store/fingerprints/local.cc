#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "base/bytes.h"
#include "store/fingerprints/key_index.h"
#include "store/fingerprints/keys.h"
#include "store/local_documents.h"
#include "store/local_stores.h"

namespace kin::store {
namespace {

constexpr std::string_view kKeysFolder = "keys";
// Most documents that a key lists. More share a key only if they are made from one template, and
// comparing with the first thousand is enough to find one that is alike.
constexpr std::size_t kMostListed = 1'000;
constexpr std::size_t kMostFaults = 100;
// Documents whose keys are added or checked at once.
constexpr std::size_t kTogether = 4'096;

using Number = LocalDocuments::Number;
using Rows = LocalDocuments::Rows;

// The key that leads to a document by its id.
std::uint64_t key_of(const DocId& doc) {
  return mix64(load_le<std::uint64_t>(doc.bytes.data()) ^ 3);
}

// One key of one document of a batch.
struct KeyOf {
  std::uint64_t key = 0;
  std::uint32_t document = 0;  // its position in the batch
  bool is_id = false;          // key_of() its DocId, not of what is in it
  friend auto operator<=>(const KeyOf&, const KeyOf&) = default;
};

// Sorted, each once.
std::vector<KeyOf> keys_of(std::span<const Fingerprint> batch) {
  std::vector<KeyOf> keys;
  for (std::uint32_t i = 0; i < batch.size(); ++i) {
    each_index_key(batch[i], [&](std::uint64_t key) { keys.push_back({key, i}); });
    keys.push_back({key_of(batch[i].doc), i, true});
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

// Calls visit(group) for the keys that are equal, group by group.
template <typename Visit>
void each_group(std::span<const KeyOf> keys, const Visit& visit) {
  for (std::size_t begin = 0; begin < keys.size();) {
    std::size_t end = begin + 1;
    while (end < keys.size() && keys[end].key == keys[begin].key) ++end;
    visit(keys.subspan(begin, end - begin));
    begin = end;
  }
}

// The state of a look-up: what was found while the store had `next` documents.
struct LookedUp {
  Number next = 0;
  std::vector<KeyOf> keys = {};                   // of the batch
  std::vector<std::uint32_t> listed = {};         // by group of equal keys: documents that have it
  std::vector<std::vector<Number>> numbers = {};  // by document of the batch; sorted, each once
  std::vector<std::optional<Number>> own = {};    // of the documents that are stored
};

std::set<Number> all_of(const std::vector<std::vector<Number>>& numbers) {
  std::vector<Number> all;
  for (const auto& some : numbers) all.insert(all.end(), some.begin(), some.end());
  std::sort(all.begin(), all.end());
  return {all.begin(), all.end()};
}

class LocalFingerprints final : public FingerprintStore {
 public:
  static Result<std::unique_ptr<FingerprintStore>> open(
      const LocalStoreOptions& options, const std::optional<FingerprintParameters>& parameters);

  const FingerprintParameters& parameters() const override { return documents_->parameters(); }
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
  Status add_recent_keys();
  // `rows` gets those of all documents that were found.
  Result<std::shared_ptr<LookedUp>> look_up(std::span<const Fingerprint> batch, Rows& rows) const;
  Status find_numbers(LookedUp& found) const;
  Result<std::vector<Admission>> judge_newer(std::span<const Fingerprint> batch,
                                             std::span<const std::size_t> chosen,
                                             const LookedUp& now, Number since,
                                             const Judge& judge) const;
  Status write(std::span<const Fingerprint> batch, std::span<const std::size_t> chosen,
               std::span<const Admission> admissions, const LookedUp& found);
  Status check_keys(std::span<const Fingerprint> rows, std::span<const Number> numbers,
                    const std::function<void(std::string)>& fault) const;

  std::string where_;
  std::optional<std::chrono::days> retention_;
  Clock& clock_;
  std::unique_ptr<LocalDocuments> documents_;
  std::unique_ptr<KeyIndex> keys_;
  std::mutex mutex_;  // one admission at a time
  // Documents below are found by their keys. Those of an admission that is under way, or that a
  // crash interrupted, are not.
  std::atomic<Number> visible_ = 0;
};

Result<std::unique_ptr<FingerprintStore>> LocalFingerprints::open(
    const LocalStoreOptions& options, const std::optional<FingerprintParameters>& parameters) {
  std::unique_ptr<LocalFingerprints> store(new LocalFingerprints(options));
  KIN_TRY(store->documents_, LocalDocuments::open(options, parameters));
  KeyIndexOptions keys;
  if (options.disk != nullptr) keys.disk = options.disk;
  keys.folder = options.folder / kKeysFolder;
  keys.memory_bytes = options.memory_bytes / 2;
  KIN_TRY(store->keys_, KeyIndex::open(keys));
  KIN_RETURN_IF_ERROR(store->add_recent_keys());
  store->visible_ = store->documents_->next();
  return std::unique_ptr<FingerprintStore>(std::move(store));
}

// Keys in memory were lost when the store was closed. They are as many as fit into memory.
Status LocalFingerprints::add_recent_keys() {
  const Number next = documents_->next();
  if (keys_->covered() > next) {
    return Error{Code::kDataLoss,
                 fmt::format("{}: the keys are newer than the documents (remove {}; it is made "
                             "again)",
                             where_, kKeysFolder)};
  }
  std::vector<KeyIndex::Pair> pairs;
  std::size_t documents = 0;
  KIN_RETURN_IF_ERROR(
      documents_->each(keys_->covered(), [&](Number number, const Fingerprint& row) -> Status {
        if (documents++ == kTogether) {
          keys_->add(pairs);
          KIN_RETURN_IF_ERROR(keys_->settle(number));
          pairs.clear();
          documents = 1;
        }
        each_index_key(row, [&](std::uint64_t key) { pairs.push_back({key, number}); });
        pairs.push_back({key_of(row.doc), number});
        return Done{};
      }));
  keys_->add(pairs);
  return Done{};
}

Status LocalFingerprints::find_numbers(LookedUp& found) const {
  std::vector<std::uint64_t> keys;
  each_group(found.keys, [&](std::span<const KeyOf> group) { keys.push_back(group[0].key); });
  KIN_TRY(const auto matches, keys_->find(keys));
  found.listed.assign(keys.size(), 0);
  auto match = matches.begin();
  std::uint32_t at = 0;
  each_group(found.keys, [&](std::span<const KeyOf> group) {
    for (; match != matches.end() && match->key == at; ++match) {
      // A crash may have left keys of documents that were never admitted.
      if (match->number >= found.next) continue;
      const bool full = found.listed[at]++ >= kMostListed;
      for (const KeyOf& one : group) {
        if (!full || one.is_id) found.numbers[one.document].push_back(match->number);
      }
    }
    ++at;
  });
  return Done{};
}

Result<std::shared_ptr<LookedUp>> LocalFingerprints::look_up(std::span<const Fingerprint> batch,
                                                             Rows& rows) const {
  auto found = std::make_shared<LookedUp>();
  found->next = visible_;  // before the reads: what comes in between is judged again
  found->keys = keys_of(batch);
  found->numbers.resize(batch.size());
  found->own.resize(batch.size());
  KIN_RETURN_IF_ERROR(find_numbers(*found));
  for (std::size_t i = 0; i < batch.size(); ++i) {
    auto& numbers = found->numbers[i];
    if (batch[i].simhash) {
      KIN_RETURN_IF_ERROR(documents_->append_simhash_matches(*batch[i].simhash, numbers));
      std::erase_if(numbers, [&](Number number) { return number >= found->next; });
    }
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  }
  KIN_TRY(rows, documents_->read(all_of(found->numbers), false));
  for (std::size_t i = 0; i < batch.size(); ++i) {
    std::erase_if(found->numbers[i], [&](Number number) {
      const auto row = rows.find(number);
      const bool own = row != rows.end() && row->second.doc == batch[i].doc;
      if (own) found->own[i] = number;
      return own || row == rows.end();  // one that was replaced since
    });
  }
  return found;
}

Result<Found> LocalFingerprints::find(std::span<const Fingerprint> batch) {
  Rows rows;
  KIN_TRY(auto state, look_up(batch, rows));
  Found found;
  found.candidates.resize(batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    found.stored.push_back(state->own[i].has_value());
    for (const Number number : state->numbers[i]) {
      const Fingerprint& row = rows.at(number);
      if (expired(row)) continue;
      Candidate candidate = sharing_of(batch[i], row, parameters().hamming);
      // Keys are shorter than what they stand for, and a list may be older than the document.
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
  LookedUp found;
  found.next = visible_;
  for (std::uint32_t i = 0; i < ids.size(); ++i) found.keys.push_back({key_of(ids[i]), i, true});
  std::sort(found.keys.begin(), found.keys.end());
  found.numbers.resize(ids.size());
  KIN_RETURN_IF_ERROR(find_numbers(found));
  KIN_TRY(const auto rows, documents_->read(all_of(found.numbers), true));
  std::vector<std::optional<Fingerprint>> documents(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    for (const Number number : found.numbers[i]) {
      const auto row = rows.find(number);
      if (row != rows.end() && row->second.doc == ids[i] && !expired(row->second))
        documents[i] = row->second;
    }
  }
  return documents;
}

// Other threads admitted documents since the look-up: these came first, and win.
Result<std::vector<Admission>> LocalFingerprints::judge_newer(std::span<const Fingerprint> batch,
                                                              std::span<const std::size_t> chosen,
                                                              const LookedUp& now, Number since,
                                                              const Judge& judge) const {
  std::vector<Admission> admissions(chosen.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const Fingerprint& mine = batch[chosen[i]];
    const auto& numbers = now.numbers[chosen[i]];
    const std::set<Number> newer(std::lower_bound(numbers.begin(), numbers.end(), since),
                                 numbers.end());
    KIN_TRY(const auto rows, documents_->read(newer, true));
    for (const Number number : newer) {
      const auto theirs = rows.find(number);
      if (theirs == rows.end() || expired(theirs->second)) continue;
      const Shared shared = sharing_of(mine, theirs->second, parameters().hamming).shared;
      if (shared == Shared::kNone || shared == Shared::kChunk) continue;
      KIN_TRY(const bool duplicate, judge(mine, theirs->second));
      if (!duplicate) continue;
      admissions[i].lost_to = theirs->second.doc;
      break;
    }
  }
  return admissions;
}

Status LocalFingerprints::write(std::span<const Fingerprint> batch,
                                std::span<const std::size_t> chosen,
                                std::span<const Admission> admissions, const LookedUp& found) {
  LocalDocuments::Changes changes(*documents_);
  std::vector<std::optional<Number>> numbers(batch.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (admissions[i].lost_to) continue;
    KIN_TRY(numbers[chosen[i]], changes.put(batch[chosen[i]], found.own[chosen[i]]));
  }
  std::vector<KeyIndex::Pair> pairs;
  auto listed = found.listed.begin();
  each_group(found.keys, [&](std::span<const KeyOf> group) {
    std::size_t count = *listed++;
    for (const KeyOf& one : group) {
      if (!numbers[one.document]) continue;
      if (!one.is_id && count++ >= kMostListed) {
        changes.count_left_out();
      } else {
        pairs.push_back({one.key, *numbers[one.document]});
      }
    }
  });
  KIN_RETURN_IF_ERROR(changes.commit());
  keys_->add(pairs);
  visible_ = documents_->next();
  return keys_->settle(documents_->next());
}

Result<std::vector<Admission>> LocalFingerprints::admit(std::span<const Fingerprint> batch,
                                                        const Found& found,
                                                        std::span<const std::size_t> chosen,
                                                        const Judge& judge) {
  const std::scoped_lock lock(mutex_);
  const auto* state = static_cast<const LookedUp*>(found.state.get());
  std::vector<Admission> admissions(chosen.size());
  std::shared_ptr<const LookedUp> again;
  if (state->next != visible_) {
    Rows rows;
    KIN_TRY(again, look_up(batch, rows));
    KIN_TRY(admissions, judge_newer(batch, chosen, *again, state->next, judge));
    state = again.get();
  }
  KIN_RETURN_IF_ERROR(write(batch, chosen, admissions, *state));
  return admissions;
}

Status LocalFingerprints::each(const Visit& visit) {
  return documents_->each_with_text([&](Number, const Fingerprint& document) {
    return expired(document) ? Status(Done{}) : visit(document);
  });
}

Result<FingerprintStats> LocalFingerprints::stats() {
  const std::scoped_lock lock(mutex_);
  FingerprintStats stats;
  stats.documents = documents_->size();
  stats.bytes = documents_->bytes() + keys_->bytes();
  stats.capped_keys = documents_->left_out();
  stats.parameters = parameters();
  return stats;
}

Status LocalFingerprints::check_keys(std::span<const Fingerprint> rows,
                                     std::span<const Number> numbers,
                                     const std::function<void(std::string)>& fault) const {
  LookedUp found;
  found.next = visible_;
  found.keys = keys_of(rows);
  found.numbers.resize(rows.size());
  std::vector<std::uint64_t> keys;
  each_group(found.keys, [&](std::span<const KeyOf> group) { keys.push_back(group[0].key); });
  KIN_TRY(const auto matches, keys_->find(keys));
  auto begin = matches.begin();
  std::uint32_t at = 0;
  each_group(found.keys, [&](std::span<const KeyOf> group) {
    const auto end = std::upper_bound(begin, matches.end(), KeyIndex::Match{at, ~Number{0}});
    const bool full = static_cast<std::size_t>(end - begin) >= kMostListed;
    for (const KeyOf& one : group) {
      const Number number = numbers[one.document];
      if (std::binary_search(begin, end, KeyIndex::Match{at, number})) continue;
      if (one.is_id) {
        fault(fmt::format("document {} is not found by its id {}", number,
                          to_string(rows[one.document].doc)));
      } else if (!full) {
        fault(fmt::format("document {} is not listed under one of its keys", number));
      }
    }
    begin = end;
    ++at;
  });
  return Done{};
}

Result<std::vector<std::string>> LocalFingerprints::check() {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> faults;
  const auto fault = [&](std::string what) {
    if (faults.size() < kMostFaults) faults.push_back(std::move(what));
  };
  if (const Status keys = keys_->verify(); !keys) fault(keys.error().message);
  std::vector<Fingerprint> rows;
  std::vector<Number> numbers;
  std::uint64_t count = 0;
  const auto check_some = [&]() -> Status {
    count += rows.size();
    KIN_RETURN_IF_ERROR(check_keys(rows, numbers, fault));
    rows.clear();
    numbers.clear();
    return Done{};
  };
  const Status read = documents_->each(0, [&](Number number, const Fingerprint& row) -> Status {
    rows.push_back(row);
    numbers.push_back(number);
    return rows.size() < kTogether ? Status(Done{}) : check_some();
  });
  if (!read) fault(read.error().message);
  KIN_RETURN_IF_ERROR(check_some());
  if (read && count != documents_->size())
    fault(
        fmt::format("there are {} documents, and the store counts {}", count, documents_->size()));
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
