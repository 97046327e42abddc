// Tables of DynamoDB, or of a database that speaks its protocol.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cloud/call_counts.h"
#include "cloud/cloud_options.h"

namespace kin::cloud {

struct Binary {
  std::string bytes;
  friend auto operator<=>(const Binary&, const Binary&) = default;
};

// The value of an attribute: a string, a whole number, bytes or a boolean.
using Attribute = std::variant<std::string, std::int64_t, Binary, bool>;
// An item, or a key, by the names of its attributes. Attributes of an item that have another type
// (lists, maps, sets, fractions) are left out when it is read.
using Item = std::map<std::string, Attribute>;

// "S", "N" or "B" of keys.
enum class KeyType { kString, kNumber, kBinary };
struct KeyAttribute {
  std::string name;
  KeyType type = KeyType::kString;
  friend bool operator==(const KeyAttribute&, const KeyAttribute&) = default;
};
struct KeySchema {
  KeyAttribute partition;
  std::optional<KeyAttribute> sort = {};
  friend bool operator==(const KeySchema&, const KeySchema&) = default;
};

// A table, paid by the request. Its indexes have all attributes.
struct TableSpec {
  std::string name;
  KeySchema key;
  std::map<std::string, KeySchema> indexes = {};  // global secondary indexes by name
  std::string ttl_attribute = {};  // seconds since 1970 when items expire; empty: none
};
struct TableState {
  TableSpec spec;           // without ttl_attribute
  bool active = false;      // the table and all its indexes
  std::uint64_t items = 0;  // as of hours ago
};

// Items of one partition, in the order of the sort key.
struct DynamoQuery {
  std::string table;
  std::string index = {};  // a global secondary index; empty: the table
  std::string partition_name = "pk";
  Attribute partition;
  std::string sort_name = "sk";
  std::optional<std::string> sort_prefix = {};
  std::optional<std::int64_t> sort_from = {};  // least value of a sort key that is a number
  int limit = 0;                               // of one page; 0: as many as fit
  bool consistent = false;                     // not for indexes
  std::optional<Item> after = {};              // `next` of the page before
};
struct ItemPage {
  std::vector<Item> items;
  std::optional<Item> next;  // nothing after the last page. A page without items may have one.
};

// Thread-safe. Borrows the clock.
//
// Requests that are throttled or fail for a temporary reason are sent again, as CloudOptions say;
// many are in flight at once. Errors: kNotFound for a table that does not exist, kInvalidArgument
// for a request that DynamoDB refuses, kResourceExhausted if it keeps throttling, kUnavailable if
// it keeps failing, kDataLoss for an answer that cannot be read.
class DynamoClient {
 public:
  // Limits of DynamoDB. Larger calls are divided.
  static constexpr std::size_t kBatchWrite = 25;
  static constexpr std::size_t kBatchGet = 100;

  DynamoClient(CloudOptions options, Clock& clock, std::uint64_t seed);
  ~DynamoClient();
  DynamoClient(const DynamoClient&) = delete;
  DynamoClient& operator=(const DynamoClient&) = delete;

  // Makes a table and waits until it can be used. An existing table with these keys and indexes is
  // not an error; kFailedPrecondition if it has others. False if the database does not support
  // expiry (TTL): then it does not remove items.
  Result<bool> create_table(const TableSpec& spec);
  // Nothing if there is none.
  Result<std::optional<TableState>> describe_table(const std::string& table);
  // A missing table is not an error.
  Status delete_table(const std::string& table);

  // One item, read consistently. Nothing if there is none.
  Result<std::optional<Item>> get(const std::string& table, const Item& key);
  // The existing items of these keys, read consistently, in any order. Any number of unique keys.
  Result<std::vector<Item>> get_all(const std::string& table, std::vector<Item> keys);

  Status put(const std::string& table, const Item& item);
  // Puts an item unless one with its key exists. False if there was one. If the answer to our write
  // was lost, an existing item equal to `item` counts as written by us. `key` names the key's
  // attributes.
  Result<bool> put_if_absent(const std::string& table, const KeySchema& key, const Item& item);
  // Several puts at once, each with its own condition. Returns for each whether it was put.
  struct ConditionalPut {
    Item item;
    // Attributes that the existing item must have; without, no item must exist.
    std::optional<Item> expected = {};
  };
  Result<std::vector<bool>> put_each_if(const std::string& table, const KeySchema& key,
                                        std::span<const ConditionalPut> puts);
  // Removes an item that has the attributes `expected`. False if there is none.
  Result<bool> remove_if(const std::string& table, const Item& key, const Item& expected);
  // Puts items, any number of them, none twice. They take effect one by one, in any order.
  Status put_all(const std::string& table, std::vector<Item> items);
  // Missing items are not an error.
  Status remove_all(const std::string& table, std::vector<Item> keys);

  Result<ItemPage> query(const DynamoQuery& query);
  // A page of all items of a table, in any order, with only those that have the attributes `equal`.
  Result<ItemPage> scan(const std::string& table, const Item& equal,
                        const std::optional<Item>& after);
  // All pages of several queries, in parallel. `found` is called on this thread with the number of
  // the query and a page of its items; false ends that query.
  using Found = std::function<bool(std::size_t query, std::vector<Item> items)>;
  Status query_all(std::span<const DynamoQuery> queries, const Found& found);

  CallCounts counts() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kin::cloud
