#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/ascii.h"
#include "base/hash.h"
#include "cloud/dynamo_client.h"
#include "store/dynamo_stores.h"
#include "store/ledger/format.h"

namespace kin::store {
namespace {

using cloud::Binary;
using cloud::DynamoClient;
using cloud::Item;

const cloud::KeySchema kKey{.partition = {.name = "pk"}, .sort = cloud::KeyAttribute{.name = "sk"}};
// A source or run is spread over this many partitions of an index: one partition takes a thousand
// writes a second, and a full one would slow down the table.
constexpr std::uint64_t kShards = 16;

struct Index {
  const char* name;
  const char* attribute;
};
constexpr Index kSourceIndex{.name = "source-index", .attribute = "source_shard"};
constexpr Index kRunIndex{.name = "run-index", .attribute = "run_shard"};

std::string doc_key(const DocId& doc) {
  return "doc#" + to_hex(doc.view());
}
Item item_key(const DocId& doc) {
  return {{"pk", doc_key(doc)}, {"sk", std::string("HEAD")}};
}
// Names may hold any bytes, but attributes only text: so names are hashed.
std::string shard_key(std::string_view name, std::uint64_t shard) {
  const Hash128 hash = hash128(name);
  return fmt::format("{:016x}{:016x}#{}", hash.high, hash.low, shard);
}
std::int64_t milliseconds_of(WallTime time) {
  return time.time_since_epoch().count();
}

cloud::TableSpec table_spec(const std::string& table) {
  const cloud::KeyAttribute time{.name = "created_at", .type = cloud::KeyType::kNumber};
  return {.name = table,
          .key = kKey,
          .indexes = {{kSourceIndex.name,
                       {.partition = {.name = kSourceIndex.attribute}, .sort = time}},
                      {kRunIndex.name, {.partition = {.name = kRunIndex.attribute}, .sort = time}}},
          .ttl_attribute = "ttl"};
}

// The position of an entry in a list: by time, then by document.
using Position = std::pair<std::int64_t, std::string>;

class DynamoLedger final : public Ledger {
 public:
  explicit DynamoLedger(const DynamoStoreOptions& options)
      : options_(options), client_(options.cloud, *options.clock, options.seed) {}

  DynamoClient& client() { return client_; }

  Result<std::vector<std::optional<LedgerEntry>>> record_processed(
      std::span<const LedgerEntry> entries) override {
    std::vector<DocId> docs;
    for (const LedgerEntry& entry : entries) docs.push_back(entry.doc);
    std::set<DocId> ours;  // that this call recorded
    // Loops until every document has an entry: one of ours, or a valid earlier one.
    while (true) {
      KIN_TRY(const auto there, read(docs));
      std::vector<DynamoClient::ConditionalPut> puts;
      std::vector<DocId> putting;
      std::vector<std::optional<LedgerEntry>> before(entries.size());
      for (std::size_t i = 0; i < entries.size(); ++i) {
        const auto found = there.find(entries[i].doc);
        const bool valid =
            found != there.end() && !expired(found->second) && stays(found->second, entries[i]);
        if (ours.contains(entries[i].doc)) continue;
        if (valid) {
          before[i] = found->second;
          continue;
        }
        puts.push_back({.item = item_of(entries[i])});
        putting.push_back(entries[i].doc);
        if (found != there.end())
          puts.back().expected = Item{{"entry", Binary{encode_entry(found->second)}}};
      }
      if (puts.empty()) return before;
      KIN_TRY(const auto done, client_.put_each_if(options_.processed_table, kKey, puts));
      for (std::size_t n = 0; n < putting.size(); ++n) {
        if (done[n]) ours.insert(putting[n]);
      }
      if (std::ranges::all_of(done, std::identity{})) return before;
    }
  }

  Result<std::vector<std::optional<LedgerEntry>>> was_processed(
      std::span<const DocId> docs) override {
    KIN_TRY(const auto there, read(docs));
    std::vector<std::optional<LedgerEntry>> out;
    for (const DocId& doc : docs) {
      const auto found = there.find(doc);
      const bool valid = found != there.end() && !expired(found->second);
      out.push_back(valid ? std::optional(found->second) : std::nullopt);
    }
    return out;
  }

  Result<LedgerPage> list_by_source(std::string_view source, const ListRequest& request) override {
    return list(kSourceIndex, source, request);
  }
  Result<LedgerPage> list_by_run(std::string_view run, const ListRequest& request) override {
    return list(kRunIndex, run, request);
  }

  Status each(const Visit& visit) override {
    std::optional<Item> after;
    do {
      KIN_TRY(cloud::ItemPage page, client_.scan(options_.processed_table, {}, after));
      for (const Item& item : page.items) {
        KIN_TRY(const LedgerEntry entry, entry_of(item));
        if (!expired(entry)) KIN_RETURN_IF_ERROR(visit(entry));
      }
      after = std::move(page.next);
    } while (after);
    return Done{};
  }

 private:
  bool expired(const LedgerEntry& entry) const {
    return options_.retention && entry.at + *options_.retention <= options_.clock->now();
  }

  Item item_of(const LedgerEntry& entry) const {
    const std::uint64_t shard = hash64(entry.doc.view()) % kShards;
    Item item = item_key(entry.doc);
    item.insert({{"entry", Binary{encode_entry(entry)}},
                 {"source", entry.source},
                 {"run_id", entry.run},
                 {"status", std::string(name_of(entry.outcome))},
                 {"fingerprint_version", entry.version},
                 {"created_at", milliseconds_of(entry.at)},
                 {kSourceIndex.attribute, shard_key(entry.source, shard)},
                 {kRunIndex.attribute, shard_key(entry.run, shard)}});
    if (options_.retention)
      item.emplace("ttl", milliseconds_of(entry.at + *options_.retention) / 1000 + 1);
    return item;
  }

  Result<LedgerEntry> entry_of(const Item& item) const {
    const auto bytes = item.find("entry");
    if (bytes == item.end() || !std::holds_alternative<Binary>(bytes->second))
      return Error{Code::kDataLoss, options_.processed_table + ": an item has no entry"};
    auto entry = decode_entry(std::get<Binary>(bytes->second).bytes);
    if (!entry) return with_context(options_.processed_table, entry.error());
    return entry;
  }

  Result<std::map<DocId, LedgerEntry>> read(std::span<const DocId> docs) {
    std::set<Item> keys;
    for (const DocId& doc : docs) keys.insert(item_key(doc));
    KIN_TRY(const auto items,
            client_.get_all(options_.processed_table, {keys.begin(), keys.end()}));
    std::map<DocId, LedgerEntry> entries;
    for (const Item& item : items) {
      KIN_TRY(LedgerEntry entry, entry_of(item));
      const DocId doc = entry.doc;
      entries.emplace(doc, std::move(entry));
    }
    return entries;
  }

  // The first entries of all shards after a position, merged. `after` is "TIME KEY".
  Result<LedgerPage> list(const Index& index, std::string_view name, const ListRequest& request) {
    KIN_TRY(const std::optional<Position> after, parse(request.after));
    std::vector<cloud::DynamoQuery> queries;
    for (std::uint64_t shard = 0; shard < kShards; ++shard) {
      queries.push_back({.table = options_.processed_table,
                         .index = index.name,
                         .partition_name = index.attribute,
                         .partition = shard_key(name, shard),
                         .sort_name = "created_at"});
      if (after) queries.back().sort_from = after->first;
    }
    std::map<Position, Item> found;
    std::vector<std::map<std::int64_t, std::size_t>> times(queries.size());
    const auto take = [&](std::size_t shard, std::vector<Item> items) {
      for (Item& item : items) {
        Position position{std::get<std::int64_t>(item.at("created_at")),
                          std::get<std::string>(item.at("pk"))};
        if (after && position <= *after) continue;
        ++times[shard][position.first];
        found.emplace(std::move(position), std::move(item));
      }
      // Entries with the same time come in any order, so those of the last time may be incomplete.
      std::size_t complete = 0;
      for (const auto& [time, count] : times[shard]) {
        if (time != times[shard].rbegin()->first) complete += count;
      }
      return complete < request.limit;
    };
    KIN_RETURN_IF_ERROR(client_.query_all(queries, take));
    LedgerPage page;
    std::size_t taken = 0;
    for (const auto& [position, item] : found) {
      if (taken++ == request.limit) break;
      page.next = fmt::format("{} {}", position.first, position.second);
      KIN_TRY(LedgerEntry entry, entry_of(item));
      const bool wanted = !request.outcome || entry.outcome == *request.outcome;
      if (wanted && !expired(entry)) page.entries.push_back(std::move(entry));
    }
    if (found.size() <= request.limit) page.next.reset();
    return page;
  }

  static Result<std::optional<Position>> parse(const std::optional<std::string>& after) {
    if (!after) return std::optional<Position>();
    std::string_view rest = *after;
    const auto time = parse_number<std::int64_t>(take_until(rest, " "));
    if (!time || !rest.starts_with("doc#"))
      return Error{Code::kInvalidArgument, "this page of the ledger is unknown"};
    return std::optional(Position(*time, rest));
  }

  const DynamoStoreOptions options_;
  DynamoClient client_;
};

}  // namespace

Result<bool> create_dynamo_ledger(const DynamoStoreOptions& options) {
  return DynamoClient(options.cloud, *options.clock, options.seed)
      .create_table(table_spec(options.processed_table));
}

Result<std::unique_ptr<Ledger>> open_dynamo_ledger(const DynamoStoreOptions& options) {
  auto ledger = std::make_unique<DynamoLedger>(options);
  KIN_TRY(const auto table, ledger->client().describe_table(options.processed_table));
  if (!table)
    return Error{Code::kNotFound, fmt::format("there is no table {} (run kindred store create)",
                                              options.processed_table)};
  return std::unique_ptr<Ledger>(std::move(ledger));
}

}  // namespace kin::store
