#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <unordered_map>

#include "store/fingerprints/format.h"
#include "store/fingerprints/keys.h"
#include "store/fingerprints/s3_rows.h"
#include "store/s3_stores.h"
#include "store/segments/s3_table.h"

namespace kin::store {
namespace {

constexpr std::size_t kMostFaults = 100;
constexpr std::size_t kCheckedAtOnce = 500;
constexpr int kMostTries = 1'000;  // of an admission, while others are faster
const std::string kTable = "fingerprints";

using Documents = std::unordered_map<DocId, Fingerprint>;
using Ids = std::vector<std::set<DocId>>;  // by document of a batch

// The state of a look-up: the documents and segments it saw.
struct LookedUp {
  std::set<std::string> segments;
};

class S3Fingerprints final : public FingerprintStore {
 public:
  static Result<std::unique_ptr<FingerprintStore>> open(
      const S3StoreOptions& options, const std::optional<FingerprintParameters>& parameters);

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
  class Admitting;

  explicit S3Fingerprints(const S3StoreOptions& options)
      : where_(place_of(options, kTable)), retention_(options.retention), clock_(*options.clock) {}

  bool expired(const Fingerprint& fingerprint) const {
    return retention_ && fingerprint.created + *retention_ <= clock_.now();
  }
  // The lists of every key of a batch.
  struct Lists {
    std::vector<std::vector<ListKey>> keys;  // by document of the batch
    std::vector<std::string> sorted;         // all of them, each once
    SegmentTable::Values values;             // by sorted key
  };
  Result<Lists> read_lists(const TableView& view, std::span<const Fingerprint> batch,
                           const std::set<std::string>& skip) const;
  // The documents that `key` lists for `fingerprint`.
  std::vector<DocId> listed_for(const Fingerprint& fingerprint, const ListKey& key,
                                const Lists& lists) const;
  // The documents that may share a key with those of the batch, without the segments `skip`.
  Result<Ids> look_up(const TableView& view, std::span<const Fingerprint> batch,
                      const std::set<std::string>& skip) const;
  // Existing documents, expired ones too.
  Result<Documents> read(const TableView& view, const std::set<DocId>& ids) const;
  Result<Found> find_in(const TableView& view, std::span<const Fingerprint> batch) const;
  // Whether all keys of the documents list them.
  Status check_lists(const TableView& view, std::span<const Fingerprint> batch,
                     std::vector<std::string>& faults) const;

  std::string where_;
  std::optional<std::chrono::days> retention_;
  Clock& clock_;
  FingerprintParameters parameters_;
  std::unique_ptr<SegmentTable> table_;
  std::mutex mutex_;  // threads of one process admit one after another
};

Result<std::unique_ptr<FingerprintStore>> S3Fingerprints::open(
    const S3StoreOptions& options, const std::optional<FingerprintParameters>& parameters) {
  std::unique_ptr<S3Fingerprints> store(new S3Fingerprints(options));
  std::optional<std::string> description;
  if (parameters) description = encode_parameters(*parameters);
  auto table = open_s3_table(options, kTable, &join_documents, description);
  if (!table) return table.error();
  store->table_ = std::move(*table);
  auto theirs = decode_parameters(store->table_->current()->manifest.description);
  if (!theirs) return with_context(store->where_, theirs.error());
  if (parameters) KIN_RETURN_IF_ERROR(check_same(*theirs, *parameters, store->where_));
  store->parameters_ = std::move(*theirs);
  return std::unique_ptr<FingerprintStore>(std::move(store));
}

Result<S3Fingerprints::Lists> S3Fingerprints::read_lists(const TableView& view,
                                                         std::span<const Fingerprint> batch,
                                                         const std::set<std::string>& skip) const {
  Lists lists;
  for (const Fingerprint& fingerprint : batch) {
    lists.keys.push_back(list_keys(fingerprint, parameters_.hamming));
    for (const ListKey& key : lists.keys.back()) lists.sorted.push_back(key.bytes);
  }
  std::sort(lists.sorted.begin(), lists.sorted.end());
  lists.sorted.erase(std::unique(lists.sorted.begin(), lists.sorted.end()), lists.sorted.end());
  KIN_TRY(lists.values, SegmentTable::get(view, lists.sorted, skip));
  return lists;
}

std::vector<DocId> S3Fingerprints::listed_for(const Fingerprint& fingerprint, const ListKey& key,
                                              const Lists& lists) const {
  const auto at = std::lower_bound(lists.sorted.begin(), lists.sorted.end(), key.bytes);
  return listed(key, lists.values[static_cast<std::size_t>(at - lists.sorted.begin())],
                fingerprint.simhash.value_or(0), parameters_.hamming);
}

Result<Ids> S3Fingerprints::look_up(const TableView& view, std::span<const Fingerprint> batch,
                                    const std::set<std::string>& skip) const {
  KIN_TRY(const Lists lists, read_lists(view, batch, skip));
  Ids ids(batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    for (const ListKey& key : lists.keys[i]) {
      const auto docs = listed_for(batch[i], key, lists);
      ids[i].insert(docs.begin(), docs.end());
    }
    ids[i].erase(batch[i].doc);
  }
  return ids;
}

Result<Documents> S3Fingerprints::read(const TableView& view, const std::set<DocId>& ids) const {
  std::vector<std::string> keys;
  for (const DocId& id : ids) keys.push_back(document_key(id));  // sorted, as the ids are
  KIN_TRY(const auto values, SegmentTable::get(view, keys));
  Documents documents;
  for (const auto& versions : values) {
    if (versions.empty()) continue;
    auto document = parse_document(versions.back());
    if (!document) return with_context(where_, document.error());
    const DocId id = document->doc;
    documents.emplace(id, std::move(*document));
  }
  return documents;
}

Result<Found> S3Fingerprints::find_in(const TableView& view,
                                      std::span<const Fingerprint> batch) const {
  KIN_TRY(const Ids ids, look_up(view, batch, {}));
  std::set<DocId> all;
  for (const std::set<DocId>& some : ids) all.insert(some.begin(), some.end());
  for (const Fingerprint& fingerprint : batch) all.insert(fingerprint.doc);
  KIN_TRY(const Documents documents, read(view, all));
  Found found;
  found.candidates.resize(batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const auto own = documents.find(batch[i].doc);
    found.stored.push_back(own != documents.end() && !expired(own->second));
    for (const DocId& id : ids[i]) {
      const auto there = documents.find(id);
      if (there == documents.end() || expired(there->second)) continue;
      // If the document was replaced, lists may be older than it.
      Candidate candidate = sharing_of(batch[i], there->second, parameters_.hamming);
      if (candidate.shared == Shared::kNone) continue;
      note_row(found, there->second);
      found.candidates[i].push_back(std::move(candidate));
    }
  }
  auto state = std::make_shared<LookedUp>();
  for (const SegmentInfo& segment : view.manifest.segments) state->segments.insert(segment.name);
  found.state = std::move(state);
  return found;
}

Result<Found> S3Fingerprints::find(std::span<const Fingerprint> batch) {
  return table_->with_newest([&](const TableView& view) { return find_in(view, batch); });
}

Result<std::vector<std::optional<Fingerprint>>> S3Fingerprints::get(std::span<const DocId> ids) {
  const std::set<DocId> wanted(ids.begin(), ids.end());
  auto documents = read(*table_->current(), wanted);
  // A document that is missing here may have been admitted elsewhere in the meantime.
  if (!documents || documents->size() < wanted.size())
    documents = table_->with_newest([&](const TableView& view) { return read(view, wanted); });
  if (!documents) return documents.error();
  std::vector<std::optional<Fingerprint>> found(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto there = documents->find(ids[i]);
    if (there != documents->end() && !expired(there->second)) found[i] = there->second;
  }
  return found;
}

// One call of admit(). One thread only.
class S3Fingerprints::Admitting {
 public:
  Admitting(S3Fingerprints& store, std::span<const Fingerprint> batch, const Found& found,
            std::span<const std::size_t> chosen)
      : store_(store),
        looked_(static_cast<const LookedUp*>(found.state.get())->segments),
        admissions_(chosen.size()) {
    for (const std::size_t i : chosen) {
      mine_.push_back(batch[i]);
      auto& known = known_.emplace_back();
      for (const Candidate& candidate : found.candidates[i]) known.insert(candidate.doc);
    }
  }

  // True when it is done; false if another worker was faster.
  Result<bool> try_with(const TableView& view, const Judge& judge) {
    KIN_RETURN_IF_ERROR(judge_newer(view, judge));
    std::set<DocId> ids;
    for (const Fingerprint& fingerprint : mine_) ids.insert(fingerprint.doc);
    KIN_TRY(const Documents there, store_.read(view, ids));
    std::vector<const Fingerprint*> written;
    std::uint64_t added = 0;
    for (std::size_t i = 0; i < mine_.size(); ++i) {
      if (admissions_[i].lost_to) continue;
      const auto own = there.find(mine_[i].doc);
      if (own != there.end() && own->second == mine_[i]) continue;
      written.push_back(&mine_[i]);
      if (own == there.end()) ++added;
    }
    if (written.empty()) return true;
    change_.set(entries_of(written, store_.parameters_.hamming));
    KIN_TRY(const bool done, change_.commit(view, added));
    if (done) store_.table_->keep_up(change_.written());
    return done;
  }

  std::vector<Admission> take_admissions() { return std::move(admissions_); }

 private:
  // Other workers admitted documents since the look-up: these came first, and win.
  Status judge_newer(const TableView& view, const Judge& judge) {
    KIN_TRY(const Ids ids, store_.look_up(view, mine_, looked_));
    std::set<DocId> rivals;
    for (std::size_t i = 0; i < mine_.size(); ++i)
      std::ranges::copy_if(ids[i], std::inserter(rivals, rivals.end()),
                           [&](const DocId& id) { return !known_[i].contains(id); });
    if (!rivals.empty()) {
      KIN_TRY(const Documents documents, store_.read(view, rivals));
      for (std::size_t i = 0; i < mine_.size(); ++i)
        KIN_RETURN_IF_ERROR(judge_one(i, ids[i], documents, judge));
    }
    for (const SegmentInfo& segment : view.manifest.segments) looked_.insert(segment.name);
    return Done{};
  }

  Status judge_one(std::size_t i, const std::set<DocId>& rivals, const Documents& documents,
                   const Judge& judge) {
    for (const DocId& rival : rivals) {
      if (admissions_[i].lost_to) return Done{};
      if (!known_[i].insert(rival).second) continue;
      const auto theirs = documents.find(rival);
      if (theirs == documents.end() || store_.expired(theirs->second)) continue;
      const Shared shared = sharing_of(mine_[i], theirs->second, store_.parameters_.hamming).shared;
      if (shared == Shared::kNone || shared == Shared::kChunk) continue;
      KIN_TRY(const bool duplicate, judge(mine_[i], theirs->second));
      if (duplicate) admissions_[i].lost_to = rival;
    }
    return Done{};
  }

  S3Fingerprints& store_;
  std::vector<Fingerprint> mine_;
  std::set<std::string> looked_;        // segments whose documents are known
  std::vector<std::set<DocId>> known_;  // documents that each was compared with
  std::vector<Admission> admissions_;
  TableChange change_{*store_.table_};
};

Result<std::vector<Admission>> S3Fingerprints::admit(std::span<const Fingerprint> batch,
                                                     const Found& found,
                                                     std::span<const std::size_t> chosen,
                                                     const Judge& judge) {
  const std::scoped_lock lock(mutex_);
  Admitting admitting(*this, batch, found, chosen);
  ViewPtr view = table_->current();
  for (int tries = 0; tries < kMostTries; ++tries) {
    const auto done = admitting.try_with(*view, judge);
    // A clean-up may have removed segments of an old view.
    if (!done && done.error().code != Code::kNotFound) return done.error();
    if (done && *done) return admitting.take_admissions();
    if (tries > 0) table_->wait_after_conflict(tries);
    KIN_TRY(view, table_->refresh());
  }
  return Error{Code::kUnavailable,
               fmt::format("{}: other workers were faster {} times (use fewer workers, or larger "
                           "batches)",
                           where_, kMostTries)};
}

Status S3Fingerprints::each(const Visit& visit) {
  KIN_TRY(const ViewPtr view, table_->refresh());
  const std::string from = document_key({}).substr(0, 1);
  return table_->scan(*view, from,
                      [&](std::string_view key, std::string_view value) -> Result<bool> {
                        if (!key.starts_with(from)) return false;
                        auto fingerprint = parse_document(value);
                        if (!fingerprint) return with_context(where_, fingerprint.error());
                        if (!expired(*fingerprint)) KIN_RETURN_IF_ERROR(visit(*fingerprint));
                        return true;
                      });
}

Result<FingerprintStats> S3Fingerprints::stats() {
  KIN_TRY(const ViewPtr view, table_->refresh());
  FingerprintStats stats;
  stats.documents = view->manifest.records;
  for (const SegmentInfo& segment : view->manifest.segments) stats.bytes += segment.bytes;
  stats.capped_keys = view->manifest.capped;
  stats.parameters = parameters_;
  return stats;
}

Status S3Fingerprints::check_lists(const TableView& view, std::span<const Fingerprint> batch,
                                   std::vector<std::string>& faults) const {
  KIN_TRY(const Lists lists, read_lists(view, batch, {}));
  for (std::size_t i = 0; i < batch.size(); ++i) {
    for (const ListKey& key : lists.keys[i]) {
      const auto docs = listed_for(batch[i], key, lists);
      const bool full = !key.simhash && docs.size() >= kMostInList;
      if (full || std::ranges::find(docs, batch[i].doc) != docs.end()) continue;
      if (faults.size() < kMostFaults)
        faults.push_back(fmt::format("document {} is not listed under one of its keys",
                                     to_string(batch[i].doc)));
    }
  }
  return Done{};
}

Result<std::vector<std::string>> S3Fingerprints::check() {
  KIN_TRY(const ViewPtr view, table_->refresh());
  std::vector<std::string> faults;
  std::vector<Fingerprint> batch;
  std::uint64_t documents = 0;
  const auto visit = [&](std::string_view key, std::string_view value) -> Result<bool> {
    if (!key.starts_with(document_key({}).front())) return true;
    ++documents;
    auto document = parse_document(value);
    if (!document) {
      if (faults.size() < kMostFaults) faults.push_back(document.error().message);
      return true;
    }
    batch.push_back(std::move(*document));
    if (batch.size() < kCheckedAtOnce) return true;
    KIN_RETURN_IF_ERROR(check_lists(*view, batch, faults));
    batch.clear();
    return true;
  };
  Status read = table_->scan(*view, "", visit);
  if (read.ok()) read = check_lists(*view, batch, faults);
  if (!read.ok()) {
    if (read.error().code != Code::kDataLoss && read.error().code != Code::kNotFound)
      return read.error();
    faults.push_back(read.error().message);
  } else if (documents != view->manifest.records) {
    faults.push_back(fmt::format("there are {} documents, and the store counts {}", documents,
                                 view->manifest.records));
  }
  return faults;
}

}  // namespace

Result<std::unique_ptr<FingerprintStore>> open_s3_fingerprints(
    const S3StoreOptions& options, const FingerprintParameters& parameters) {
  return S3Fingerprints::open(options, parameters);
}

Result<std::unique_ptr<FingerprintStore>> open_s3_fingerprints(const S3StoreOptions& options) {
  return S3Fingerprints::open(options, std::nullopt);
}

}  // namespace kin::store
