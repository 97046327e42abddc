// Edits of a JSON record: valid input gives valid output, and edits that change nothing give the
// same bytes.
#include <simdjson.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "data/text/json_record.h"
#include "data/text/record_editor.h"

namespace {

using kin::RecordId;
using kin::data::EditParts;
using kin::data::RecordEdits;

void require(bool truth) {
  if (!truth) std::abort();
}

class Edits : public RecordEdits {
 public:
  explicit Edits(bool changes) : changes_(changes) {
    if (changes) added_ = {{"added \" name", Type::kText}, {"n", Type::kReal}};
  }
  const std::vector<Column>& added() const override { return added_; }
  std::optional<Value> added_value(std::size_t column, RecordId) const override {
    if (column == 1) return 0.25;
    return std::string("a\n\"b");
  }
  const std::vector<std::string>& replaced() const override { return replaced_; }
  kin::Result<bool> replace(std::size_t, RecordId, std::string_view old,
                            std::string& text) const override {
    text = std::string(old) + "\"\\\n";
    return changes_;
  }

 private:
  bool changes_;
  std::vector<Column> added_;
  std::vector<std::string> replaced_{"text", "a.b"};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.find('\n') != std::string::npos) return 0;
  bytes.resize(size + kin::data::kJsonPadding, ' ');
  const std::string_view record(bytes.data(), size);

  const Edits none(false);
  std::string same;
  const std::string line = std::string(record) + (record.ends_with('\n') ? "" : "\n");
  if (!edit_json(none, EditParts::kAll)->append(same, record, RecordId{0})) require(same == line);

  const Edits some(true);
  std::string edited;
  if (edit_json(some, EditParts::kAll)->append(edited, record, RecordId{0})) return 0;
  static simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(simdjson::padded_string(record)).get(object)) return 0;
  require(parser.parse(simdjson::padded_string(edited)).get(object) == simdjson::SUCCESS);
  std::string_view text;
  require(object.at_key("added \" name").get(text) == simdjson::SUCCESS && text == "a\n\"b");

  std::string csv;
  (void)edit_csv(some, std::vector<std::string>{"text", "x"}, kin::data::Format::kCsv,
                 EditParts::kAll)
      ->append(csv, record, RecordId{0});
  return 0;
}
