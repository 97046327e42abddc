// The records that earlier runs kept. A run compares its inputs with them without reading their
// files again: --signature-store DIR --append.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/record_set.h"
#include "base/result.h"
#include "data/dataset.h"
#include "dedup/options.h"
#include "dedup/progress.h"
#include "dedup/scan/scan.h"
#include "store/local_documents.h"

namespace kin::dedup {

// The documents of a local fingerprint store, whichever runs added them; the record's number is the
// document's. Added records count when commit() has returned; until then a killed run leaves the
// store as it was. One process at a time uses a store. One thread at a time, unless a function says
// otherwise.
class KnownRecords {
 public:
  // The store in options.signature_store, made if it is missing. Fails if it was made with other
  // options, and names the flag. A dry run makes nothing. Records that have expired by the
  // retention of the last run that set one are compared with nothing.
  static Result<std::unique_ptr<KnownRecords>> open(const DedupOptions& options);

  // Numbers without a document count.
  std::uint64_t size() const { return size_; }
  // The files that the records were read from, ascending. Records that other kinds of runs added
  // have the name of the store.
  struct File {
    std::uint64_t first = 0;  // the number of its first record
    std::string name;
    friend bool operator==(const File&, const File&) = default;
  };
  const std::vector<File>& files() const { return files_; }

  // Adds keys of the records, which are the first rows of the scan, to those of the inputs: all
  // keys that may be equal to a key of an input. Uses about `memory` bytes.
  Status add_keys(const DedupOptions& options, std::uint64_t memory, Scan& scan) const;

  // Calls visit(record, id, text) for each of the records in `wanted` that has a text. Thread-safe.
  using Visit = std::function<void(RecordId, std::optional<std::string_view>, std::string_view)>;
  Status read(std::span<const RecordId> wanted, const Visit& visit) const;

  // Adds the records of `inputs` that are in `keep`, in their order. Once.
  struct Adding {
    data::Dataset& inputs;
    const RecordSet& keep;
    const DedupOptions& options;
    WallTime now;
    StageWork* work = nullptr;
  };
  Status add(const Adding& adding);
  // Makes added records durable and visible to the next run. size() does not change for this one.
  Status commit();

 private:
  explicit KnownRecords(const DedupOptions& options) : where_(options.signature_store->string()) {}
  Status list_files();

  const std::string where_;
  std::unique_ptr<store::LocalDocuments> documents_;  // nothing: the store is and stays empty
  std::uint64_t size_ = 0;
  WallTime oldest_ = WallTime::min();  // records of this time and before have expired
  std::vector<File> files_;
  std::unique_ptr<store::LocalDocuments::Additions> additions_;
  std::vector<store::LocalDocuments::Origin> origins_;  // of the additions
};

}  // namespace kin::dedup
