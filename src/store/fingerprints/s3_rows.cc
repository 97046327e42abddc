#include "store/fingerprints/s3_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_set>

#include "base/bytes.h"
#include "base/sized_text.h"
#include "store/fingerprints/format.h"
#include "store/fingerprints/keys.h"

namespace kin::store {
namespace {

// 'd' and the document's id → a fingerprint preceded by its size, and its packed text.
// 'l' and a LookupKey → ids of documents (16 bytes each).
// 'l' and a prefix of a SimHash → id and SimHash of documents (24 bytes each).
constexpr char kDocument = 'd';
constexpr char kList = 'l';
constexpr char kSimHash = 's';  // the first byte of simhash_prefixes()
constexpr std::size_t kIdBytes = sizeof(DocId);
constexpr std::size_t kSimHashBytes = kIdBytes + sizeof(std::uint64_t);

DocId id_at(std::string_view list, std::size_t at) {
  DocId doc;
  std::memcpy(doc.bytes.data(), list.data() + at, kIdBytes);
  return doc;
}

}  // namespace

std::string document_key(const DocId& doc) {
  return std::string(1, kDocument).append(doc.view());
}

std::string document_value(const Fingerprint& fingerprint) {
  std::string value;
  append_sized(value, encode_fingerprint(fingerprint));
  return value += fingerprint.packed_text;
}

Result<Fingerprint> parse_document(std::string_view value) {
  ByteReader in(value);
  const std::string_view row = in.read_bytes(in.read<std::uint32_t>());
  KIN_TRY(Fingerprint fingerprint, decode_fingerprint(row));
  fingerprint.packed_text = in.rest();
  return fingerprint;
}

std::vector<ListKey> list_keys(const Fingerprint& fingerprint, int hamming) {
  std::vector<LookupKey> keys;
  append_keys(fingerprint, keys);
  std::vector<ListKey> lists;
  for (const LookupKey& key : keys) lists.push_back({kList + key.bytes, false});
  if (fingerprint.simhash) {
    for (const std::string& prefix : simhash_prefixes(*fingerprint.simhash, hamming))
      lists.push_back({kList + prefix, true});
  }
  return lists;
}

std::vector<DocId> listed(const ListKey& key, std::span<const std::string> lists,
                          std::uint64_t near, int hamming) {
  const std::size_t item = key.simhash ? kSimHashBytes : kIdBytes;
  std::vector<DocId> docs;
  std::unordered_set<DocId> met;
  for (const std::string& list : lists) {
    for (std::size_t at = 0; at + item <= list.size(); at += item) {
      if (key.simhash) {
        const auto theirs = load_le<std::uint64_t>(list.data() + at + kIdBytes);
        if (std::popcount(theirs ^ near) > hamming) continue;
      }
      const DocId doc = id_at(list, at);
      if (!met.insert(doc).second) continue;
      docs.push_back(doc);
      if (!key.simhash && docs.size() == kMostInList) return docs;
    }
  }
  return docs;
}

std::vector<SegmentEntry> entries_of(std::span<const Fingerprint* const> documents, int hamming) {
  std::vector<SegmentEntry> items;
  for (const Fingerprint* document : documents) {
    items.push_back({document_key(document->doc), document_value(*document)});
    for (ListKey& key : list_keys(*document, hamming)) {
      std::string item(document->doc.view());
      if (key.simhash) append_le(item, *document->simhash);
      items.push_back({std::move(key.bytes), std::move(item)});
    }
  }
  std::stable_sort(items.begin(), items.end(),
                   [](const SegmentEntry& a, const SegmentEntry& b) { return a.key < b.key; });
  std::vector<SegmentEntry> entries;
  for (SegmentEntry& item : items) {
    if (entries.empty() || entries.back().key != item.key)
      entries.push_back(std::move(item));
    else
      entries.back().value += item.value;
  }
  return entries;
}

Joined join_documents(std::string_view key, std::vector<std::string> values) {
  if (values.size() == 1 || key.front() != kList) return join_newest(key, std::move(values));
  const bool simhash = key.size() > 1 && key[1] == kSimHash;
  const std::size_t item = simhash ? kSimHashBytes : kIdBytes;
  Joined joined;
  std::unordered_set<std::string_view> met;
  for (const std::string& list : values) {
    for (std::size_t at = 0; at + item <= list.size(); at += item) {
      const std::string_view one = std::string_view(list).substr(at, item);
      if (!met.insert(one).second) continue;
      if (!simhash && joined.value.size() >= kMostInList * item)
        ++joined.left_out;
      else
        joined.value += one;
    }
  }
  return joined;
}

}  // namespace kin::store
