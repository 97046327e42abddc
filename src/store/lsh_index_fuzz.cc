// An index under any sequence of operations against a plain map of keys. Keys are few, so that
// many records share one.
#include <cstdlib>
#include <map>
#include <set>

#include "store/lsh_index.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kin;         // NOLINT: a fuzzer is one small file
  using namespace kin::store;  // NOLINT
  const auto require = [](bool truth) {
    if (!truth) std::abort();
  };
  LshIndex index;
  std::map<RecordId, std::vector<std::uint64_t>> model;
  std::uint32_t next = 0;
  for (std::size_t i = 0; i + 2 < size; i += 3) {
    const std::vector<std::uint64_t> keys{data[i + 1] % 5U, data[i + 2]};
    switch (data[i] % 8) {
      case 0: {
        const auto id = RecordId(next == 0 ? 0U : (data[i + 1] * 256U + data[i + 2]) % next);
        require(index.remove(id) == (model.erase(id) == 1));
        break;
      }
      case 1: index.compact(); break;
      case 2: {
        std::vector<RecordId> expected;
        for (const auto& [id, theirs] : model) {
          if (theirs[0] == keys[0] || theirs[1] == keys[1]) expected.push_back(id);
        }
        require(index.query(keys) == expected);
        break;
      }
      default:
        for (int copies = 0; copies < 10; ++copies) {
          require(index.insert(RecordId(next), keys));
          model[RecordId(next++)] = keys;
        }
    }
    require(index.len() == model.size());
  }
  return 0;
}
