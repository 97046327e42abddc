// The records that earlier runs kept. A run compares its inputs with them without reading their
// files again: --signature-store DIR --append.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/record_set.h"
#include "base/result.h"
#include "data/dataset.h"
#include "dedup/known/format.h"
#include "dedup/options.h"
#include "dedup/progress.h"
#include "dedup/scan/scan.h"
#include "store/kept_values.h"
#include "store/signature_store.h"

namespace kin::dedup {

// A folder: the keys of every record as rows of a signature store, the texts as kept values, and
// the file `known` with the number that counts. Added records count when commit() has returned;
// until then a killed run leaves the store as it was. One process at a time uses a store. One
// thread at a time, unless a function says otherwise.
class KnownRecords {
 public:
  // The store in options.signature_store, made if it is missing. Fails if it was made with other
  // options, and names the flag. A dry run makes nothing.
  static Result<std::unique_ptr<KnownRecords>> open(const DedupOptions& options);

  std::uint64_t size() const { return manifest_.records; }
  const KnownManifest& manifest() const { return manifest_; }

  // Adds keys of the records, which are the first rows of the scan, to those of the inputs: all
  // keys that may be equal to a key of an input. Uses about `memory` bytes.
  Status add_keys(const DedupOptions& options, std::uint64_t memory, Scan& scan) const;

  // Calls visit(record, id, text) for each of the records in `wanted` that has a text. Thread-safe.
  using Visit = std::function<void(RecordId, std::optional<std::string_view>, std::string_view)>;
  Status read(std::span<const RecordId> wanted, const Visit& visit) const;

  // Adds the records of `inputs` that are in `keep`, in their order.
  Status add(data::Dataset& inputs, const RecordSet& keep, const DedupOptions& options,
             StageWork* work);
  // Makes added records durable and visible to the next run. size() does not change for this one.
  Status commit();

 private:
  explicit KnownRecords(const DedupOptions& options);
  Status open_stores(const std::filesystem::path& folder);
  std::string where() const { return folder_.string(); }

  std::filesystem::path folder_;
  std::size_t bands_ = 0;
  std::size_t signature_ = 0;
  KnownManifest manifest_;
  KnownManifest next_;                                 // what commit() writes
  std::unique_ptr<store::TieredSignatureStore> rows_;  // nothing: the store is and stays empty
  std::unique_ptr<store::KeptValues> texts_;
};

// The options that all runs of a store must share, as flags and values.
std::vector<std::pair<std::string, std::string>> known_settings(const DedupOptions& options);

}  // namespace kin::dedup
