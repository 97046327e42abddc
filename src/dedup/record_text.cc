#include "dedup/record_text.h"

namespace kin::dedup {

std::optional<std::string_view> text_of(const data::Batch& batch, std::size_t record,
                                        std::size_t fields, std::string& scratch) {
  if (fields == 1) return batch.value(0, record);
  scratch.clear();
  bool found = false;
  for (std::size_t field = 0; field < fields; ++field) {
    const auto value = batch.value(field, record);
    if (!value) continue;
    if (found) scratch += '\n';
    scratch += *value;
    found = true;
  }
  if (!found) return {};
  return scratch;
}

}  // namespace kin::dedup
