#include "dedup/record_doc_id.h"

namespace kin::dedup {

std::optional<DocId> record_doc_id(std::optional<std::string_view> source,
                                   std::optional<std::string_view> id) {
  if (!id || id->empty()) return std::nullopt;
  return doc_id_of(source.value_or(""), *id);
}

}  // namespace kin::dedup
