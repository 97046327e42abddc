#include <cstddef>
#include <cstdint>
#include <string_view>

#include "data/json_value.h"
#include "search/document.h"
#include "search/question.h"

// Any JSON is a valid question or document, or gives an error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto json = kin::data::parse_json({reinterpret_cast<const char*>(data), size});
  if (!json) return 0;
  const auto question = kin::search::question_of(*json);
  static_cast<void>(question);
  if (const auto document = kin::search::document_of(*json)) {
    kin::JsonWriter writer;
    kin::search::write_document(writer, *document);
    const auto mutations = kin::search::mutations_of(*document, "main");
    static_cast<void>(mutations);
  }
  return 0;
}
