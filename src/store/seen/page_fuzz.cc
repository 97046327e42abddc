// A page of any bytes with a valid checksum reads safely, and a page that was built holds the ids
// that were added.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/bytes.h"
#include "store/seen/page.h"

namespace {

using namespace kin::store;

void read_any(std::string_view bytes, IdKind kind) {
  SeenPageBytes page;
  page.bytes.fill(0);
  std::memcpy(page.bytes.data() + 8, bytes.data(), std::min(bytes.size(), kSeenPageBytes - 8));
  const std::string_view body(page.bytes.data() + 8, kSeenPageBytes - 8);
  kin::store_le(page.bytes.data(), kin::hash64(body, kin::mix64(1) ^ 1));
  const auto view = SeenPage::read(page.bytes.data(), {1, 0}, kind);
  if (!view) return;
  std::vector<SeenId> ids;
  view->append_to(ids);
  if (ids.size() != view->size()) std::abort();
  for (const SeenId& id : ids) (void)view->contains(id);
}

void build_and_read(std::string_view bytes, IdKind kind) {
  std::vector<SeenId> ids;
  kin::ByteReader reader(bytes);
  while (reader.rest().size() >= 16) {
    const auto high = reader.read<std::uint64_t>();
    const auto low = reader.read<std::uint64_t>();
    const std::uint64_t kept = kind == IdKind::kText ? low : low & 0xffffffffU;
    ids.push_back({high, kind == IdKind::kNumber ? 0 : kept});
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  SeenPageBuilder builder(kind);
  std::size_t added = 0;
  while (added < ids.size() && builder.add(ids[added])) ++added;
  if (added == 0) return;
  SeenPageBytes page;
  page.bytes.fill(0);
  std::memcpy(page.bytes.data(), builder.finish({1, 2}).data(), kSeenPageBytes);
  const auto view = SeenPage::read(page.bytes.data(), {1, 2}, kind);
  if (!view || view->size() != added) std::abort();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (view->contains(ids[i]) != (i < added)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const IdKind kind : {IdKind::kNumber, IdKind::kText, kPairs}) {
    read_any(bytes, kind);
    build_and_read(bytes, kind);
  }
  return 0;
}
