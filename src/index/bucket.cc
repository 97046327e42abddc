#include "index/bucket.h"

#include "base/hash.h"

namespace kin::index {

std::uint8_t bucket_of(const DocId& id) {
  return static_cast<std::uint8_t>(hash64(id.view()));
}

}  // namespace kin::index
