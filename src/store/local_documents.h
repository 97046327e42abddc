// The documents of a local store by number: fingerprints and texts in a key-value store.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "kv/key_value_store.h"
#include "store/fingerprint.h"
#include "store/local_stores.h"

namespace kin::store {

// Documents are numbered from 0 in the order they were admitted. One that is replaced gets a new
// number, and its old one has no document any more. Thread-safe, except that one Changes or
// Additions is used at a time.
class LocalDocuments {
 public:
  using Number = std::uint32_t;
  using Rows = std::unordered_map<Number, Fingerprint>;

  // Opens the documents in a folder, or makes it; see open_local_fingerprints(). Removes additions
  // that were not committed.
  static Result<std::unique_ptr<LocalDocuments>> open(
      const LocalStoreOptions& options, const std::optional<FingerprintParameters>& parameters);

  // An error if `folder` is beside files of an earlier version of --signature-store DIR --append.
  static Status check_folder(const std::filesystem::path& folder);

  const FingerprintParameters& parameters() const { return parameters_; }
  std::optional<std::chrono::days> retention() const { return retention_; }
  // The number of the next document. Everything below is durable.
  Number next() const { return next_; }
  std::uint64_t size() const { return next_ - counts_.without_document; }
  // Documents that were not put under a key because it has many.
  std::uint64_t left_out() const { return counts_.left_out; }
  std::uint64_t bytes() const { return kv_->usage().disk_bytes; }
  // No text has more bytes.
  std::uint64_t longest_text() const { return counts_.longest_text; }

  // A file that documents with consecutive numbers were read from.
  struct Origin {
    Number first = 0;
    Number end = 0;
    std::string name = {};
    friend bool operator==(const Origin&, const Origin&) = default;
  };
  // Ascending, without overlap. Documents that were admitted one by one have none.
  Result<std::vector<Origin>> origins() const;

  // Numbers that have no document are left out; kDataLoss if one never had any.
  Result<Rows> read(const std::set<Number>& numbers, bool with_texts) const;
  // Visits the documents from `first` on in order, without texts.
  using Visit = std::function<Status(Number, const Fingerprint&)>;
  Status each(Number first, const Visit& visit) const;
  // Visits all documents in order, with texts.
  Status each_with_text(const Visit& visit) const;
  // Visits the keys of the documents in [first, end), in order; several times as fast as each().
  // The views are valid during the visit.
  using VisitKeys = std::function<Status(Number, const FingerprintKeys&)>;
  Status each_keys(Number first, Number end, const VisitKeys& visit) const;
  // Appends the documents whose SimHash differs from `simhash` in few bits.
  Status append_simhash_matches(std::uint64_t simhash, std::vector<Number>& numbers) const;

  class Changes;
  class Additions;
  // Begins to add documents with the numbers from next() up to `end`.
  Result<std::unique_ptr<Additions>> begin_additions(Number end);

 private:
  struct Counts {
    std::uint64_t without_document = 0;  // numbers
    std::uint64_t left_out = 0;
    std::uint64_t longest_text = 0;
  };

  explicit LocalDocuments(const LocalStoreOptions& options) : where_(options.folder.string()) {}
  Status describe(const std::optional<FingerprintParameters>& parameters);
  Status settle_retention(const LocalStoreOptions& options);
  Status read_counts();
  Status remove_additions();
  void put_new(kv::Batch& batch, Number number, const Fingerprint& fingerprint,
               std::string_view row) const;
  void remove_simhash(kv::Batch& batch, Number number, std::uint64_t simhash) const;
  Status commit(kv::Batch& batch, Number next, const Counts& counts);
  Error missing(Number number) const;

  std::string where_;
  FingerprintParameters parameters_;
  std::optional<std::chrono::days> retention_;
  std::unique_ptr<kv::KeyValueStore> kv_;
  std::atomic<Number> next_ = 0;
  Counts counts_;
};

// Changes that take effect together. One thread only.
class LocalDocuments::Changes {
 public:
  explicit Changes(LocalDocuments& documents)
      : documents_(documents),
        batch_(*documents.kv_),
        next_(documents.next_),
        counts_(documents.counts_) {}

  // Gives the new number of the document. `before`: the one that it has, if it is stored. Nothing
  // if it is stored as it is.
  Result<std::optional<Number>> put(const Fingerprint& fingerprint, std::optional<Number> before);
  void count_left_out() { ++counts_.left_out; }
  // Durable when it returns.
  Status commit();

 private:
  void put_text(const Fingerprint& fingerprint, Number number);
  Status remove(Number number, std::string_view row);

  LocalDocuments& documents_;
  kv::Batch batch_;
  Number next_;
  Counts counts_;
};

// Any number of documents behind the others, of which all or none are in the store: they are
// written as they come, and count when commit() has returned. Their DocIds are new to the store.
class LocalDocuments::Additions {
 public:
  struct Addition {
    Number number = 0;
    std::optional<Fingerprint> document = {};  // nothing: the number has no document
  };
  // Every number comes once, in any order. Thread-safe.
  Status put(std::span<const Addition> additions);
  // All numbers were put. `origins` are those of the additions. Durable when it returns.
  Status commit(std::span<const Origin> origins);

 private:
  friend class LocalDocuments;
  Additions(LocalDocuments& documents, Number end) : documents_(documents), end_(end) {}

  LocalDocuments& documents_;
  const Number end_;
  std::atomic<std::uint64_t> put_ = 0;
  std::atomic<std::uint64_t> without_document_ = 0;
  std::atomic<std::uint64_t> longest_text_ = 0;
};

}  // namespace kin::store
