// Documents of a fingerprint store as items of DynamoDB.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/doc_id.h"
#include "base/result.h"
#include "cloud/dynamo_client.h"
#include "store/dynamo_stores.h"
#include "store/fingerprint.h"

namespace kin::store {

// A document while a worker admits it (a claim), and afterwards.
struct DynamoRow {
  Fingerprint fingerprint;  // with its text only if texts were requested
  bool claimed = true;
  std::uint64_t version = 0;  // changes with every write
  WallTime changed{};
  std::uint32_t text_parts = 0;
};

// Reads and writes rows. Thread-safe. Borrows the client and the options.
class DynamoRows {
 public:
  DynamoRows(cloud::DynamoClient& client, const DynamoStoreOptions& options, std::string version,
             int hamming)
      : client_(client), options_(options), version_(std::move(version)), hamming_(hamming) {}

  using Rows = std::map<DocId, DynamoRow>;
  // The existing rows, expired ones too.
  Result<Rows> read(const std::set<DocId>& docs, bool with_texts);

  // Documents that may share a key with each of `batch`, without the document itself.
  Result<std::vector<std::set<DocId>>> look_up(std::span<const Fingerprint> batch);

  // Writes new rows after their keys and texts, so that an existing row can be found. Returns for
  // each whether it was written: `expected` is the version of the row that it replaces.
  struct Put {
    DynamoRow row;
    std::optional<std::uint64_t> expected = {};
  };
  Result<std::vector<bool>> put(std::span<const Put> puts);
  // Gives rows that have the expected version the state of `rows` and the next version. Returns for
  // each whether it was changed. Their texts need not be present.
  Result<std::vector<bool>> change(std::span<DynamoRow> rows);
  // Removes a row if it has this version, then its keys and texts.
  Result<bool> remove(const DynamoRow& row);

  // Visits every row.
  using Visit = std::function<Status(const DynamoRow&)>;
  Status each(bool with_texts, const Visit& visit);
  // The number of missing keys of a row.
  Result<std::size_t> missing_keys(const DynamoRow& row);

 private:
  std::map<std::string, std::vector<cloud::Item>> key_items(const DynamoRow& row) const;
  std::vector<cloud::Item> text_items(const DynamoRow& row) const;
  cloud::Item head_of(const DynamoRow& row) const;
  Result<DynamoRow> row_of(const cloud::Item& item) const;
  Status add_texts(Rows& rows);

  cloud::DynamoClient& client_;
  const DynamoStoreOptions& options_;
  const std::string version_;
  const int hamming_;
};

inline const cloud::KeySchema kDynamoKey{.partition = {.name = "pk"},
                                         .sort = cloud::KeyAttribute{.name = "sk"}};

}  // namespace kin::store
