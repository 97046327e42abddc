// The documents of a local store by number: fingerprints and texts in a key-value store.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "kv/key_value_store.h"
#include "store/fingerprint.h"
#include "store/local_stores.h"

namespace kin::store {

// Documents are numbered from 0 in the order they were admitted. One that is replaced gets a new
// number, and its old one has no document any more. Thread-safe, except that one Changes is
// committed at a time.
class LocalDocuments {
 public:
  using Number = std::uint32_t;
  using Rows = std::unordered_map<Number, Fingerprint>;

  // Opens the documents in a folder, or makes it; see open_local_fingerprints().
  static Result<std::unique_ptr<LocalDocuments>> open(
      const LocalStoreOptions& options, const std::optional<FingerprintParameters>& parameters);

  const FingerprintParameters& parameters() const { return parameters_; }
  // The number of the next document. Everything below is durable.
  Number next() const { return next_; }
  std::uint64_t size() const { return next_ - counts_.replaced; }
  // Documents that were not put under a key because it has many.
  std::uint64_t left_out() const { return counts_.left_out; }
  std::uint64_t bytes() const { return kv_->usage().disk_bytes; }

  // Numbers that have no document are left out; kDataLoss if one never had any.
  Result<Rows> read(const std::set<Number>& numbers, bool with_texts) const;
  // Visits the documents from `first` on in order, without texts.
  using Visit = std::function<Status(Number, const Fingerprint&)>;
  Status each(Number first, const Visit& visit) const;
  // Visits all documents in order, with texts.
  Status each_with_text(const Visit& visit) const;
  // Appends the documents whose SimHash differs from `simhash` in few bits.
  Status append_simhash_matches(std::uint64_t simhash, std::vector<Number>& numbers) const;

  class Changes;

 private:
  struct Counts {
    std::uint64_t replaced = 0;  // numbers without a document
    std::uint64_t left_out = 0;
  };

  explicit LocalDocuments(const LocalStoreOptions& options) : where_(options.folder.string()) {}
  Status describe(const std::optional<FingerprintParameters>& parameters);
  Status read_counts();

  std::string where_;
  FingerprintParameters parameters_;
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

}  // namespace kin::store
