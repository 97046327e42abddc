// Fingerprints as entries of a table in a bucket.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/doc_id.h"
#include "base/result.h"
#include "store/fingerprint.h"
#include "store/segments/table.h"

namespace kin::store {

// Most documents that a key lists; see local.cc. Lists of SimHashes have no limit: they hold all
// that agree in a block of bits, and few of these are alike.
inline constexpr std::size_t kMostInList = 1'000;

// The key of a document, and its value: the fingerprint with its text.
std::string document_key(const DocId& doc);
std::string document_value(const Fingerprint& fingerprint);
Result<Fingerprint> parse_document(std::string_view value);

// A key that lists documents.
struct ListKey {
  std::string bytes;
  bool simhash = false;
};
std::vector<ListKey> list_keys(const Fingerprint& fingerprint, int hamming);

// The documents of lists, oldest first and each once, at most kMostInList. With a SimHash `near`,
// only documents that differ from it in at most `hamming` bits.
std::vector<DocId> listed(const ListKey& key, std::span<const std::string> lists,
                          std::uint64_t near, int hamming);

// The entries of documents, sorted, each key once.
std::vector<SegmentEntry> entries_of(std::span<const Fingerprint* const> documents, int hamming);

// The newest version of a document counts; lists are concatenated.
Joined join_documents(std::string_view key, std::vector<std::string> values);

}  // namespace kin::store
