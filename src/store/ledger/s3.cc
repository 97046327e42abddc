#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "store/ledger/format.h"
#include "store/ledger/list_keys.h"
#include "store/s3_stores.h"
#include "store/segments/s3_table.h"

namespace kin::store {
namespace {

// 'd' and the document's id → its entry; 's' or 'r', source or run, time and id → nothing.
constexpr char kDocument = 'd';
constexpr char kBySource = 's';
constexpr char kByRun = 'r';
constexpr int kMostTries = 1'000;  // of a recording, while others are faster
const std::string kTable = "processed";

using Entries = std::vector<std::optional<LedgerEntry>>;

std::string document_key(const DocId& doc) {
  return std::string(1, kDocument).append(doc.view());
}

class S3Ledger final : public Ledger {
 public:
  static Result<std::unique_ptr<Ledger>> open(const S3StoreOptions& options) {
    std::unique_ptr<S3Ledger> ledger(new S3Ledger(options));
    std::optional<std::string> description;
    if (!options.must_exist) description = "";
    auto table = open_s3_table(options, kTable, &join_newest, description);
    if (!table) return table.error();
    ledger->table_ = std::move(*table);
    return std::unique_ptr<Ledger>(std::move(ledger));
  }

  Result<Entries> record_processed(std::span<const LedgerEntry> entries) override;

  Result<Entries> was_processed(std::span<const DocId> docs) override {
    return table_->with_newest([&](const TableView& view) -> Result<Entries> {
      KIN_TRY(auto entries, read(view, docs));
      for (auto& entry : entries) {
        if (entry && expired(*entry)) entry.reset();
      }
      return entries;
    });
  }

  Result<LedgerPage> list_by_source(std::string_view source, const ListRequest& request) override {
    return table_->with_newest(
        [&](const TableView& view) { return list(view, kBySource, source, request); });
  }
  Result<LedgerPage> list_by_run(std::string_view run, const ListRequest& request) override {
    return table_->with_newest(
        [&](const TableView& view) { return list(view, kByRun, run, request); });
  }

  Status each(const Visit& visit) override {
    KIN_TRY(const ViewPtr view, table_->refresh());
    const std::string from(1, kDocument);
    return table_->scan(*view, from,
                        [&](std::string_view key, std::string_view value) -> Result<bool> {
                          if (!key.starts_with(from)) return false;
                          const auto entry = decode_entry(value);
                          if (!entry) return with_context(where_, entry.error());
                          if (!expired(*entry)) KIN_RETURN_IF_ERROR(visit(*entry));
                          return true;
                        });
  }

 private:
  explicit S3Ledger(const S3StoreOptions& options)
      : where_(place_of(options, kTable)), retention_(options.retention), clock_(*options.clock) {}

  bool expired(const LedgerEntry& entry) const {
    return retention_ && entry.at + *retention_ <= clock_.now();
  }

  // In the order of `docs`, expired ones too.
  Result<Entries> read(const TableView& view, std::span<const DocId> docs) const;
  Result<LedgerPage> list(const TableView& view, char kind, std::string_view name,
                          const ListRequest& request) const;
  // The entries to write; entries that stay are left in `stored`.
  Result<std::vector<SegmentEntry>> changes(const TableView& view,
                                            std::span<const LedgerEntry> entries, Entries& stored,
                                            std::uint64_t& added) const;

  std::string where_;
  std::optional<std::chrono::days> retention_;
  Clock& clock_;
  std::unique_ptr<SegmentTable> table_;
  std::mutex mutex_;  // threads of one process record one after another
};

Result<Entries> S3Ledger::read(const TableView& view, std::span<const DocId> docs) const {
  std::vector<std::string> keys;
  for (const DocId& doc : docs) keys.push_back(document_key(doc));
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  KIN_TRY(const auto values, SegmentTable::get(view, keys));
  Entries entries(docs.size());
  for (std::size_t i = 0; i < docs.size(); ++i) {
    const auto at = std::lower_bound(keys.begin(), keys.end(), document_key(docs[i]));
    const auto& versions = values[static_cast<std::size_t>(at - keys.begin())];
    if (versions.empty()) continue;
    auto entry = decode_entry(versions.back());
    if (!entry) return with_context(where_, entry.error());
    entries[i] = std::move(*entry);
  }
  return entries;
}

Result<std::vector<SegmentEntry>> S3Ledger::changes(const TableView& view,
                                                    std::span<const LedgerEntry> entries,
                                                    Entries& stored, std::uint64_t& added) const {
  std::vector<DocId> docs;
  for (const LedgerEntry& entry : entries) docs.push_back(entry.doc);
  KIN_TRY(stored, read(view, docs));
  std::vector<SegmentEntry> changed;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const LedgerEntry& entry = entries[i];
    if (stored[i] && !expired(*stored[i]) && stays(*stored[i], entry)) continue;
    if (!stored[i]) ++added;
    stored[i].reset();
    // List items of a replaced entry stay behind; list() compares them with the entry.
    changed.push_back({document_key(entry.doc), encode_entry(entry)});
    changed.push_back({kBySource + list_prefix(entry.source) + list_place(entry), ""});
    changed.push_back({kByRun + list_prefix(entry.run) + list_place(entry), ""});
  }
  std::sort(changed.begin(), changed.end());
  return changed;
}

Result<Entries> S3Ledger::record_processed(std::span<const LedgerEntry> entries) {
  const std::scoped_lock lock(mutex_);
  TableChange change(*table_);
  ViewPtr view = table_->current();
  for (int tries = 0; tries < kMostTries; ++tries) {
    Entries stored;
    std::uint64_t added = 0;
    auto changed = changes(*view, entries, stored, added);
    if (changed && changed->empty()) return stored;
    if (changed) {
      change.set(std::move(*changed));
      KIN_TRY(const bool done, change.commit(*view, added));
      if (done) {
        table_->keep_up(change.written());
        return stored;
      }
    } else if (changed.error().code != Code::kNotFound) {
      return changed.error();
    }
    if (tries > 0) table_->wait_after_conflict(tries);
    KIN_TRY(view, table_->refresh());
  }
  return Error{Code::kUnavailable,
               fmt::format("{}: other workers were faster {} times (use fewer workers, or larger "
                           "batches)",
                           where_, kMostTries)};
}

Result<LedgerPage> S3Ledger::list(const TableView& view, char kind, std::string_view name,
                                  const ListRequest& request) const {
  const std::string prefix = kind + list_prefix(name);
  // The next key after a key is the key with a zero byte appended.
  const std::string from = request.after ? prefix + *request.after + '\0' : prefix;
  std::vector<std::string> places;
  std::vector<DocId> docs;
  bool more = false;
  KIN_RETURN_IF_ERROR(
      table_->scan(view, from, [&](std::string_view key, std::string_view) -> Result<bool> {
        if (!key.starts_with(prefix)) return false;
        more = docs.size() == request.limit;
        if (more) return false;
        const std::string_view place = key.substr(prefix.size());
        if (place.size() != kListPlaceBytes)
          return Error{Code::kDataLoss, where_ + ": the lists of the ledger are damaged"};
        DocId doc;
        std::copy_n(place.end() - sizeof(DocId), sizeof(DocId), doc.bytes.begin());
        places.emplace_back(place);
        docs.push_back(doc);
        return true;
      }));
  KIN_TRY(auto entries, read(view, docs));
  LedgerPage page;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    auto& entry = entries[i];
    if (!entry || expired(*entry)) continue;
    // A replaced entry is listed only at its present place.
    const std::string& now = kind == kBySource ? entry->source : entry->run;
    if (now != name || list_place(*entry) != places[i]) continue;
    if (request.outcome && entry->outcome != *request.outcome) continue;
    page.entries.push_back(std::move(*entry));
  }
  if (more) page.next = places.back();
  return page;
}

}  // namespace

Result<std::unique_ptr<Ledger>> open_s3_ledger(const S3StoreOptions& options) {
  return S3Ledger::open(options);
}

}  // namespace kin::store
