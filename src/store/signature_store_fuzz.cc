// A store under any sequence of operations, reopening included, against std::map.
#include <cstdlib>
#include <map>

#include "base/file.h"
#include "store/signature_store.h"

namespace {

using namespace kin;         // NOLINT: a fuzzer is one small file
using namespace kin::store;  // NOLINT
using Model = std::map<std::uint32_t, std::uint8_t>;

constexpr std::uint32_t kWidth = 3;
constexpr std::uint32_t kIds = 1'000;

// A folder in memory, where flushing costs nothing, if the system has one.
std::optional<std::filesystem::path> memory_folder() {
  if (std::filesystem::is_directory("/dev/shm")) return "/dev/shm";
  return std::nullopt;
}

void require(bool truth) {
  if (!truth) std::abort();
}

Signature signature_of(std::uint32_t id, std::uint8_t value) {
  return {value, static_cast<std::uint8_t>(id), static_cast<std::uint8_t>(id >> 8)};
}

void compare(const TieredSignatureStore& store, const Model& model) {
  require(store.len() == model.size());
  std::vector<RecordId> ids;
  for (std::uint32_t id = 0; id < kIds; ++id) ids.push_back(RecordId(id));
  std::vector<std::uint8_t> signatures(ids.size() * kWidth);
  std::vector<std::uint8_t> found(ids.size());
  require(store.get_batch(ids, signatures, found).ok());
  for (std::uint32_t id = 0; id < kIds; ++id) {
    const auto it = model.find(id);
    require((found[id] != 0) == (it != model.end()));
    if (it == model.end()) continue;
    const Signature expected = signature_of(id, it->second);
    require(std::equal(expected.begin(), expected.end(),
                       signatures.begin() + std::ptrdiff_t{id} * kWidth));
  }
  const SignatureStoreStats stats = store.stats();
  require(stats.hot + stats.cold == model.size() && stats.hot <= 128 &&
          stats.cold_read_errors == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const TemporaryFolder folder = *TemporaryFolder::create(memory_folder());
  std::error_code ignored;
  std::filesystem::remove_all(folder.path() / "store", ignored);
  const bool kept = size > 0 && data[0] % 8 == 0;
  SignatureStoreOptions options{.signature_bytes = kWidth, .max_hot_signatures = 128};
  if (kept) options.path = folder.path() / "store";
  auto store = *TieredSignatureStore::open(options);
  Model model;
  for (std::size_t i = 1; i + 3 < size && i < 4'000; i += 4) {
    const std::uint32_t id = (data[i + 1] | data[i + 2] << 8) % kIds;
    const std::uint8_t value = data[i + 3];
    switch (data[i] % 16) {
      case 0: require(store->remove(RecordId(id)) == (model.erase(id) == 1)); break;
      case 1: require(store->flush().ok()); break;
      case 2: compare(*store, model); break;
      case 3:
        if (value != 0) break;
        require(store->clear().ok());
        model.clear();
        break;
      case 4:
        if (!kept) break;
        store.reset();
        store = *TieredSignatureStore::open(options);
        break;
      case 5: {
        const auto got = *store->get(RecordId(id));
        require(got.has_value() == model.contains(id) &&
                store->contains(RecordId(id)) == model.contains(id));
        if (got) require(*got == signature_of(id, model[id]));
        break;
      }
      default:
        require(store->insert(RecordId(id), signature_of(id, value)).ok());
        model[id] = value;
    }
  }
  compare(*store, model);
  return 0;
}
