#include "store/signatures/store_file.h"

#include <fmt/format.h>

#include "base/bytes.h"

namespace kin::store {

Result<std::unique_ptr<DiskFile>> open_store_file(const StorePlace& place, std::string_view name) {
  if (!place.folder) return place.disk->create_temporary(place.temporary_parent);
  KIN_RETURN_IF_ERROR(place.disk->make_folder(*place.folder));
  KIN_TRY(auto file, place.disk->open_to_write(*place.folder / name));
  // Before anything is read: another process might be writing.
  KIN_RETURN_IF_ERROR(file->lock());
  return file;
}

bool is_unfinished_header(std::string_view bytes, std::string_view magic) {
  // A sector that was not written reads as zeros, so any byte may be zero instead.
  for (std::size_t i = 0; i < bytes.size() && i < magic.size(); ++i) {
    if (bytes[i] != magic[i] && bytes[i] != '\0') return false;
  }
  return true;
}

Status check_kind(std::string_view bytes, const StoreFileKind& kind, std::uint32_t version) {
  ByteReader reader(bytes);
  if (reader.read_bytes(kind.magic.size()) != kind.magic) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("this is not the {} of a {}", kind.file, kind.store)};
  }
  const auto found = reader.read<std::uint32_t>();
  if (!reader.ok() || found == version) return Done{};
  return Error{Code::kFailedPrecondition,
               fmt::format("the {} of the {} has version {}, and this program reads version {}",
                           kind.file, kind.store, found, version)};
}

Error writes_refused(const Error& cause) {
  return Error{cause.code,
               fmt::format("the store refuses writes since an earlier failure: {} (what was "
                           "flushed is safe; open the store again once the cause is fixed)",
                           cause.message)};
}

}  // namespace kin::store
