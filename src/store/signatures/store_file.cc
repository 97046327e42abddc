#include "store/signatures/store_file.h"

#include <fmt/format.h>

namespace kin::store {

Result<std::unique_ptr<DiskFile>> open_store_file(const StorePlace& place, std::string_view name) {
  if (!place.folder) return place.disk->create_temporary(place.temporary_parent);
  KIN_RETURN_IF_ERROR(place.disk->make_folder(*place.folder));
  KIN_TRY(auto file, place.disk->open_to_write(*place.folder / name));
  KIN_RETURN_IF_ERROR(file->lock());
  return file;
}

bool is_unfinished_header(std::string_view bytes, std::string_view magic) {
  for (std::size_t i = 0; i < bytes.size() && i < magic.size(); ++i) {
    if (bytes[i] != magic[i] && bytes[i] != '\0') return false;
  }
  return true;
}

Error writes_refused(const Error& cause) {
  return Error{cause.code,
               fmt::format("the store refuses writes since an earlier failure: {} (what was "
                           "flushed is safe; open the store again once the cause is fixed)",
                           cause.message)};
}

}  // namespace kin::store
