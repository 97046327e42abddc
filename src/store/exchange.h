// Exports stores to files, and imports them: for backup, for people, and to move between stores.
//
//   KIN_TRY(const auto written, export_fingerprints(*store, "fingerprints.parquet", temporary));
//   KIN_TRY(const auto parameters, exported_parameters("fingerprints.parquet", temporary));
//   KIN_TRY(const auto read, import_fingerprints("fingerprints.parquet", *other, temporary));
//
// A file is Parquet or JSONL, by its extension. Its columns are for people, except the last two,
// which import reads: `encoded`, with a version and a checksum, and a document's text.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/result.h"
#include "store/fingerprint_store.h"
#include "store/ledger.h"

namespace kin::store {

// Each returns the number of documents or entries. A file appears whole or not at all. Temporary
// files go to `folder`.
Result<std::uint64_t> export_fingerprints(FingerprintStore& store,
                                          const std::filesystem::path& target,
                                          const std::filesystem::path& folder);
Result<std::uint64_t> export_ledger(Ledger& ledger, const std::filesystem::path& target,
                                    const std::filesystem::path& folder);

// The parameters of the documents of a file; nothing if it has none.
Result<std::optional<FingerprintParameters>> exported_parameters(
    const std::filesystem::path& source, const std::filesystem::path& folder);

// Adds the contents of the file: documents replace those with the same id, entries of a ledger
// follow the rules of Ledger::record_processed(). Importing again changes nothing. An error if the
// store's parameters differ.
Result<std::uint64_t> import_fingerprints(const std::filesystem::path& source,
                                          FingerprintStore& store,
                                          const std::filesystem::path& folder);
Result<std::uint64_t> import_ledger(const std::filesystem::path& source, Ledger& ledger,
                                    const std::filesystem::path& folder);

}  // namespace kin::store
