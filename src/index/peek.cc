#include "index/peek.h"

#include "index/truth/entity_keys.h"
#include "index/truth/truth.h"

namespace kin::index {

Result<Counters> peek_counters(const std::filesystem::path& folder) {
  const auto row = kv::read_value(folder / kTruthFolder, kCountersKey);
  // The store is made when the shard is first opened, its counters with the first batch.
  if (!row && row.error().code == Code::kNotFound) return Counters{};
  if (!row) return row.error();
  if (!row->has_value()) return Counters{};
  return decode_counters(**row);
}

Status check_closed(const std::filesystem::path& folder) {
  // Opening takes the store's lock before it reads anything.
  const auto store =
      kv::KeyValueStore::open(folder / kTruthFolder, {.mode = kv::StoreOptions::Mode::kOpen});
  if (!store && store.error().code == Code::kFailedPrecondition) return store.error();
  return Done{};
}

}  // namespace kin::index
