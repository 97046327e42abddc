// Answers of DynamoDB: items that can be written and read again, or an error.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cloud/dynamo/protocol.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kin::cloud;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  kin::net::HttpResponse response;
  response.status = 400;
  response.body = input;
  const Verdict verdict = judge_dynamo(response);
  if (verdict == Verdict::kDone) std::abort();
  if (dynamo_error("t", {.response = response, .verdict = verdict}).message.empty()) std::abort();
  const auto json = kin::data::parse_json(input);
  if (!json.ok()) return 0;
  if (const auto table = read_table(*json); table.ok() && table->spec.name.empty()) std::abort();
  const auto page = read_page(*json);
  if (!page.ok()) return 0;
  for (const Item& item : page->items) {
    kin::JsonWriter writer;
    write_item(writer, item);
    const auto again = kin::data::parse_json(writer.text());
    if (!again.ok() || !(*read_item(*again) == item)) std::abort();
  }
  return 0;
}
