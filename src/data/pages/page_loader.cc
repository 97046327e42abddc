#include "data/pages/page_loader.h"

#include <utility>

namespace kin::data {
namespace {

std::uint32_t level_bytes(const PageHeader& header) {
  return header.kind == PageKind::kDataV2 ? header.definition_bytes + header.repetition_bytes : 0;
}

bool is_packed(const PageOwner& owner, const PageHeader& header) {
  return owner.codec != Codec::kNone && header.compressed &&
         header.packed_bytes > level_bytes(header);
}

}  // namespace

// Levels of version 2 are not part of the unpacked bytes.
Result<PageBody> PageLoader::divide_kept(const PageOwner& owner, const PagePlace& page) {
  const std::uint32_t levels = level_bytes(page.header);
  if (levels > 0) {
    char* const begin = stored_.reset(levels);
    if (begin == nullptr) return no_memory(levels);
    KIN_RETURN_IF_ERROR(owner.file.read_at(page.begin + page.header_bytes, begin, levels));
  }
  return divide_page(page, std::string_view(stored_.view()).substr(0, levels), held_->view(),
                     owner.leaf);
}

Result<PageBody> PageLoader::load(const PageOwner& owner, const PagePlace& page, Use use) {
  held_.reset();
  if (owner.kept == nullptr || !is_packed(owner, page.header)) {
    return load_page(owner.file, page, owner.leaf, owner.codec, codecs_, stored_, unpacked_);
  }
  const std::string file = owner.file.path().string();
  held_ = owner.kept->find(file, page.begin);
  if (held_ != nullptr) {
    if (use == Use::kLast) owner.kept->drop(file, page.begin);
    return divide_kept(owner, page);
  }
  const std::uint64_t size = page.header.bytes - level_bytes(page.header);
  if (use == Use::kLast || !owner.kept->reserve(size))
    return load_page(owner.file, page, owner.leaf, owner.codec, codecs_, stored_, unpacked_);
  PageBuffer fresh;
  Result<PageBody> body =
      load_page(owner.file, page, owner.leaf, owner.codec, codecs_, stored_, fresh);
  if (!body) {
    owner.kept->give_back(size);
    return body;
  }
  // Moving the buffer keeps the bytes in place.
  held_ = owner.kept->keep(file, page.begin, std::move(fresh));
  return body;
}

}  // namespace kin::data
