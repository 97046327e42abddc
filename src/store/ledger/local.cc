#include <mutex>
#include <set>

#include "base/check.h"
#include "kv/key_value_store.h"
#include "store/ledger/format.h"
#include "store/ledger/list_keys.h"
#include "store/local_stores.h"

namespace kin::store {
namespace {

constexpr kv::Family kDocs{1};      // DocId → entry
constexpr kv::Family kBySource{2};  // source, time, DocId → nothing
constexpr kv::Family kByRun{3};     // run, time, DocId → nothing

std::string list_key(std::string_view name, const LedgerEntry& entry) {
  return list_prefix(name) + list_place(entry);
}

class LocalLedger final : public Ledger {
 public:
  static Result<std::unique_ptr<Ledger>> open(const LocalStoreOptions& options) {
    std::unique_ptr<LocalLedger> ledger(new LocalLedger(options));
    kv::StoreOptions kv;
    if (options.must_exist) kv.mode = kv::StoreOptions::Mode::kOpen;
    kv.families = {"docs", "by_source", "by_run"};
    kv.block_cache_bytes = options.memory_bytes / 4;
    kv.write_buffer_bytes = options.memory_bytes / 16;
    kv.engine = options.engine;
    kv.disk = options.disk;
    KIN_TRY(ledger->kv_, kv::KeyValueStore::open(options.folder, kv));
    return std::unique_ptr<Ledger>(std::move(ledger));
  }

  Result<std::vector<std::optional<LedgerEntry>>> record_processed(
      std::span<const LedgerEntry> entries) override {
    const std::scoped_lock lock(mutex_);
    std::vector<DocId> docs;
    for (const LedgerEntry& entry : entries) docs.push_back(entry.doc);
    KIN_TRY(auto stored, read(docs));
    kv::Batch batch(*kv_);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const LedgerEntry& entry = entries[i];
      if (stored[i] && !expired(*stored[i]) && stays(*stored[i], entry)) continue;
      if (stored[i]) {
        batch.remove(list_key(stored[i]->source, *stored[i]), kBySource);
        batch.remove(list_key(stored[i]->run, *stored[i]), kByRun);
        stored[i].reset();
      }
      batch.put(entry.doc.view(), encode_entry(entry), kDocs);
      batch.put(list_key(entry.source, entry), "", kBySource);
      batch.put(list_key(entry.run, entry), "", kByRun);
    }
    if (batch.size() > 0) KIN_RETURN_IF_ERROR(kv_->write(batch, {.sync = true}));
    return stored;
  }

  Result<std::vector<std::optional<LedgerEntry>>> was_processed(
      std::span<const DocId> docs) override {
    KIN_TRY(auto entries, read(docs));
    for (auto& entry : entries) {
      if (entry && expired(*entry)) entry.reset();
    }
    return entries;
  }

  Result<LedgerPage> list_by_source(std::string_view source, const ListRequest& request) override {
    return list(kBySource, source, request);
  }
  Result<LedgerPage> list_by_run(std::string_view run, const ListRequest& request) override {
    return list(kByRun, run, request);
  }

  Status each(const Visit& visit) override {
    kv::Cursor at = kv_->cursor({}, kDocs);
    for (; at.valid(); at.next()) {
      const auto entry = decode_entry(at.value());
      if (!entry) return with_context(where_, entry.error());
      if (!expired(*entry)) KIN_RETURN_IF_ERROR(visit(*entry));
    }
    return at.status();
  }

 private:
  explicit LocalLedger(const LocalStoreOptions& options)
      : where_(options.folder.string()), retention_(options.retention), clock_(*options.clock) {}

  bool expired(const LedgerEntry& entry) const {
    return retention_ && entry.at + *retention_ <= clock_.now();
  }

  Result<std::vector<std::optional<LedgerEntry>>> read(std::span<const DocId> docs) const {
    std::vector<std::string> keys;
    for (const DocId& doc : docs) keys.emplace_back(doc.view());
    KIN_TRY(const auto values, kv_->get_many(keys, kDocs));
    std::vector<std::optional<LedgerEntry>> entries(docs.size());
    for (std::size_t i = 0; i < docs.size(); ++i) {
      if (!values[i]) continue;
      auto entry = decode_entry(*values[i]);
      if (!entry) return with_context(where_, entry.error());
      entries[i] = std::move(*entry);
    }
    return entries;
  }

  Result<LedgerPage> list(kv::Family family, std::string_view name,
                          const ListRequest& request) const {
    const std::string prefix = list_prefix(name);
    kv::KeyRange range = kv::keys_with(prefix);
    // The next key after a key is the key with a zero byte appended.
    if (request.after) range.from = prefix + *request.after + '\0';
    std::vector<DocId> docs;
    LedgerPage page;
    kv::Cursor at = kv_->cursor(range, family);
    for (; at.valid() && docs.size() < request.limit; at.next()) {
      const std::string_view rest = at.key().substr(prefix.size());
      if (rest.size() != kListPlaceBytes)
        return Error{Code::kDataLoss, where_ + ": the lists of the ledger are damaged"};
      DocId doc;
      std::copy_n(rest.end() - sizeof(DocId), sizeof(DocId), doc.bytes.begin());
      docs.push_back(doc);
      page.next = std::string(rest);
    }
    KIN_RETURN_IF_ERROR(at.status());
    if (!at.valid()) page.next.reset();
    KIN_TRY(auto entries, read(docs));
    for (auto& entry : entries) {
      if (!entry || expired(*entry)) continue;
      if (request.outcome && entry->outcome != *request.outcome) continue;
      page.entries.push_back(std::move(*entry));
    }
    return page;
  }

  std::string where_;
  std::optional<std::chrono::days> retention_;
  Clock& clock_;
  std::unique_ptr<kv::KeyValueStore> kv_;
  std::mutex mutex_;  // one recording at a time
};

}  // namespace

Result<std::unique_ptr<Ledger>> open_local_ledger(const LocalStoreOptions& options) {
  return LocalLedger::open(options);
}

}  // namespace kin::store
