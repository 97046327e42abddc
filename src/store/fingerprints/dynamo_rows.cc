#include "store/fingerprints/dynamo_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "store/fingerprints/format.h"
#include "store/fingerprints/keys.h"

namespace kin::store {
namespace {

using cloud::Binary;
using cloud::Item;

constexpr const char* kHead = "HEAD";
// DynamoDB limits items to 400 KB.
constexpr std::size_t kTextPart = 300'000;
// Most documents of a key that are read; more of them are made from one template.
constexpr std::size_t kMostListed = 1'000;
// The upper bits of a version are constant while a row lives. Keys and texts carry them, so that
// removing those of an old row, which is not atomic, cannot touch those of a new one.
constexpr int kChangeBits = 20;

std::string incarnation(const DynamoRow& row) {
  return fmt::format("{:x}", row.version >> kChangeBits);
}
std::string doc_key(const DocId& doc) {
  return "doc#" + to_hex(doc.view());
}
Item head_key(const DocId& doc) {
  return {{"pk", doc_key(doc)}, {"sk", std::string(kHead)}};
}
std::int64_t seconds_of(WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}
Item version_item(std::uint64_t version) {
  return {{"version", static_cast<std::int64_t>(version)}};
}
std::int64_t number_in(const Item& item, const char* name) {
  const auto found = item.find(name);
  const auto* number = found == item.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  return number == nullptr ? 0 : *number;
}
const std::string* bytes_in(const Item& item, const char* name) {
  const auto found = item.find(name);
  const auto* binary = found == item.end() ? nullptr : std::get_if<Binary>(&found->second);
  return binary == nullptr ? nullptr : &binary->bytes;
}

struct Place {
  std::string table;
  std::string partition;
};

// The items that hold the keys of a document.
std::vector<Place> places(const Fingerprint& fingerprint, const DynamoStoreOptions& options,
                          const std::string& version, int hamming) {
  std::vector<Place> out;
  std::vector<LookupKey> keys;
  append_keys(fingerprint, keys);
  for (const LookupKey& key : keys) {
    const std::string hex = to_hex(std::string_view(key.bytes).substr(1));
    switch (key.kind) {
      case Shared::kContent:
        out.push_back({options.chunk_table, fmt::format("content#{}#{}", version, hex)});
        break;
      case Shared::kWords:
        out.push_back({options.chunk_table, fmt::format("words#{}#{}", version, hex)});
        break;
      case Shared::kBand:
        out.push_back({options.minhash_table, fmt::format("minhash#{}#band#{}", version, hex)});
        break;
      case Shared::kChunk:
        out.push_back({options.chunk_table, fmt::format("chunk#{}#{}", version, hex)});
        break;
      case Shared::kNone:
      case Shared::kSimHash: break;
    }
  }
  if (fingerprint.simhash) {
    for (const std::string& prefix : simhash_prefixes(*fingerprint.simhash, hamming))
      out.push_back(
          {options.simhash_table, fmt::format("simhash#{}#block#{}", version, to_hex(prefix))});
  }
  return out;
}

}  // namespace

std::map<std::string, std::vector<Item>> DynamoRows::key_items(const DynamoRow& row) const {
  std::map<std::string, std::vector<Item>> items;
  const Fingerprint& fingerprint = row.fingerprint;
  const std::string sort = doc_key(fingerprint.doc) + "#" + incarnation(row);
  std::set<std::string> met;
  for (const Place& place : places(fingerprint, options_, version_, hamming_)) {
    if (!met.insert(place.partition).second) continue;
    Item item{
        {"pk", place.partition}, {"sk", sort}, {"created_at", seconds_of(fingerprint.created)}};
    if (options_.retention)
      item.emplace("ttl", seconds_of(fingerprint.created + *options_.retention) + 1);
    items[place.table].push_back(std::move(item));
  }
  return items;
}

std::vector<Item> DynamoRows::text_items(const DynamoRow& row) const {
  std::vector<Item> items;
  const Fingerprint& fingerprint = row.fingerprint;
  for (std::uint32_t i = 0; i < row.text_parts; ++i) {
    Item item{{"pk", doc_key(fingerprint.doc)},
              {"sk", fmt::format("text#{}#{}", incarnation(row), i)}};
    const std::size_t from = i * kTextPart;
    if (from < fingerprint.packed_text.size())
      item.emplace("text", Binary{fingerprint.packed_text.substr(from, kTextPart)});
    if (options_.retention)
      item.emplace("ttl", seconds_of(fingerprint.created + *options_.retention) + 1);
    items.push_back(std::move(item));
  }
  return items;
}

Item DynamoRows::head_of(const DynamoRow& row) const {
  const Fingerprint& fingerprint = row.fingerprint;
  Item item = head_key(fingerprint.doc);
  item.insert({{"row", Binary{encode_fingerprint(fingerprint)}},
               {"version", static_cast<std::int64_t>(row.version)},
               {"state", std::string(row.claimed ? "claimed" : "kept")},
               {"changed", static_cast<std::int64_t>(row.changed.time_since_epoch().count())},
               {"text_parts", static_cast<std::int64_t>(row.text_parts)},
               {"created_at", seconds_of(fingerprint.created)}});
  if (options_.retention)
    item.emplace("ttl", seconds_of(fingerprint.created + *options_.retention) + 1);
  return item;
}

Result<DynamoRow> DynamoRows::row_of(const Item& item) const {
  const std::string* const bytes = bytes_in(item, "row");
  if (bytes == nullptr)
    return Error{Code::kDataLoss, options_.minhash_table + ": a document has no fingerprint"};
  auto fingerprint = decode_fingerprint(*bytes);
  if (!fingerprint) return with_context(options_.minhash_table, fingerprint.error());
  return DynamoRow{.fingerprint = std::move(*fingerprint),
                   .claimed = item.at("state") == cloud::Attribute(std::string("claimed")),
                   .version = static_cast<std::uint64_t>(number_in(item, "version")),
                   .changed = WallTime(std::chrono::milliseconds(number_in(item, "changed"))),
                   .text_parts = static_cast<std::uint32_t>(number_in(item, "text_parts"))};
}

Result<DynamoRows::Rows> DynamoRows::read(const std::set<DocId>& docs, bool with_texts) {
  std::vector<Item> keys;
  for (const DocId& doc : docs) keys.push_back(head_key(doc));
  KIN_TRY(const auto items, client_.get_all(options_.minhash_table, std::move(keys)));
  Rows rows;
  for (const Item& item : items) {
    KIN_TRY(DynamoRow row, row_of(item));
    const DocId doc = row.fingerprint.doc;
    rows.emplace(doc, std::move(row));
  }
  if (with_texts) KIN_RETURN_IF_ERROR(add_texts(rows));
  return rows;
}

Status DynamoRows::add_texts(Rows& rows) {
  std::vector<Item> keys;
  for (const auto& [doc, row] : rows) {
    for (Item& item : text_items(row)) keys.push_back(std::move(item));
  }
  for (Item& key : keys) key.erase("ttl");
  KIN_TRY(const auto items, client_.get_all(options_.minhash_table, std::move(keys)));
  std::map<std::pair<cloud::Attribute, cloud::Attribute>, const std::string*> texts;
  for (const Item& item : items)
    texts.emplace(std::pair(item.at("pk"), item.at("sk")), bytes_in(item, "text"));
  std::set<DocId> torn;
  for (auto& [doc, row] : rows) {
    std::string joined;
    for (const Item& item : text_items(row)) {
      const auto part = texts.find({item.at("pk"), item.at("sk")});
      if (part == texts.end() || part->second == nullptr)
        torn.insert(doc);
      else
        joined += *part->second;
    }
    row.fingerprint.packed_text = std::move(joined);
  }
  if (torn.empty()) return Done{};
  // They were removed or replaced while we read, and count as missing; or their texts are lost.
  KIN_TRY(const Rows now, read(torn, false));
  for (const DocId& doc : torn) {
    const auto row = now.find(doc);
    if (row != now.end() && incarnation(row->second) == incarnation(rows.at(doc)))
      return Error{Code::kDataLoss,
                   fmt::format("{}: document {} has lost a part of its text",
                               options_.minhash_table, row->second.fingerprint.key)};
    rows.erase(doc);
  }
  return Done{};
}

Result<std::vector<std::set<DocId>>> DynamoRows::look_up(std::span<const Fingerprint> batch) {
  std::vector<cloud::DynamoQuery> queries;
  std::vector<std::size_t> askers;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    for (Place& place : places(batch[i], options_, version_, hamming_)) {
      queries.push_back({.table = std::move(place.table),
                         .partition = std::move(place.partition),
                         .consistent = true});
      askers.push_back(i);
    }
  }
  std::vector<std::set<DocId>> found(batch.size());
  std::vector<std::size_t> listed(queries.size());
  const auto take = [&](std::size_t query, const std::vector<Item>& items) {
    for (const Item& item : items) {
      const auto* const sort = std::get_if<std::string>(&item.at("sk"));
      DocId doc;
      // "doc#", 32 digits, "#" and the incarnation.
      if (sort == nullptr || sort->size() < 4 + 2 * doc.bytes.size()) continue;
      for (std::size_t i = 0; i < doc.bytes.size(); ++i)
        doc.bytes[i] = static_cast<std::uint8_t>(hex_value((*sort)[4 + 2 * i]) * 16 +
                                                 hex_value((*sort)[5 + 2 * i]));
      if (doc != batch[askers[query]].doc) found[askers[query]].insert(doc);
    }
    listed[query] += items.size();
    return listed[query] < kMostListed;
  };
  KIN_RETURN_IF_ERROR(client_.query_all(queries, take));
  return found;
}

Result<std::vector<bool>> DynamoRows::put(std::span<const Put> puts) {
  std::map<std::string, std::vector<Item>> items;
  std::vector<cloud::DynamoClient::ConditionalPut> heads;
  for (const Put& put : puts) {
    DynamoRow row = put.row;
    row.text_parts = static_cast<std::uint32_t>(
        (row.fingerprint.packed_text.size() + kTextPart - 1) / kTextPart);
    for (auto& [table, some] : key_items(row))
      std::ranges::move(some, std::back_inserter(items[table]));
    std::ranges::move(text_items(row), std::back_inserter(items[options_.minhash_table]));
    heads.push_back({.item = head_of(row)});
    if (put.expected) heads.back().expected = version_item(*put.expected);
  }
  for (auto& [table, some] : items) KIN_RETURN_IF_ERROR(client_.put_all(table, std::move(some)));
  return client_.put_each_if(options_.minhash_table, kDynamoKey, heads);
}

Result<std::vector<bool>> DynamoRows::change(std::span<DynamoRow> rows) {
  std::vector<cloud::DynamoClient::ConditionalPut> heads;
  for (DynamoRow& row : rows) {
    const std::uint64_t expected = row.version++;
    row.changed = options_.clock->now();
    heads.push_back({.item = head_of(row), .expected = version_item(expected)});
  }
  return client_.put_each_if(options_.minhash_table, kDynamoKey, heads);
}

Result<bool> DynamoRows::remove(const DynamoRow& row) {
  KIN_TRY(const bool removed,
          client_.remove_if(options_.minhash_table, head_key(row.fingerprint.doc),
                            version_item(row.version)));
  if (!removed) return false;
  auto items = key_items(row);
  std::ranges::move(text_items(row), std::back_inserter(items[options_.minhash_table]));
  for (auto& [table, some] : items) {
    for (Item& item : some) item = {{"pk", item.at("pk")}, {"sk", item.at("sk")}};
    KIN_RETURN_IF_ERROR(client_.remove_all(table, std::move(some)));
  }
  return true;
}

Status DynamoRows::each(bool with_texts, const Visit& visit) {
  std::optional<Item> after;
  do {
    KIN_TRY(cloud::ItemPage page,
            client_.scan(options_.minhash_table, {{"sk", std::string(kHead)}}, after));
    Rows rows;
    for (const Item& item : page.items) {
      if (bytes_in(item, "row") == nullptr) continue;  // the parameters
      KIN_TRY(DynamoRow row, row_of(item));
      const DocId doc = row.fingerprint.doc;
      rows.emplace(doc, std::move(row));
    }
    if (with_texts) KIN_RETURN_IF_ERROR(add_texts(rows));
    for (const auto& [doc, row] : rows) KIN_RETURN_IF_ERROR(visit(row));
    after = std::move(page.next);
  } while (after);
  return Done{};
}

Result<std::size_t> DynamoRows::missing_keys(const DynamoRow& row) {
  std::size_t missing = 0;
  for (auto& [table, items] : key_items(row)) {
    const std::size_t wanted = items.size();
    for (Item& item : items) item = {{"pk", item.at("pk")}, {"sk", item.at("sk")}};
    KIN_TRY(const auto found, client_.get_all(table, std::move(items)));
    missing += wanted - found.size();
  }
  return missing;
}

}  // namespace kin::store
