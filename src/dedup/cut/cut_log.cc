#include "dedup/cut/cut_log.h"

#include <algorithm>

#include "base/json_writer.h"

namespace kin::dedup {
namespace {

void text_or_null(JsonWriter& json, std::string_view key, std::optional<std::string_view> value) {
  json.key(key);
  if (value) {
    json.value(*value);
  } else {
    json.null();
  }
}

}  // namespace

CutLog::CutLog(const data::Dataset& dataset, const DedupOptions& options)
    : first_rows_(dataset.first_rows()), fields_(options.fields), method_(method_of(*options.cut)) {
  for (const data::Input& input : dataset.inputs()) files_.push_back(input.shown_as);
}

const std::string& CutLog::file_of(RecordId record) const {
  const auto after =
      std::upper_bound(first_rows_.begin(), first_rows_.end(), std::uint64_t{row_number(record)});
  return files_[static_cast<std::size_t>(after - first_rows_.begin() - 1)];
}

Result<std::string> CutLog::lines(RecordId record, std::optional<std::string_view> id,
                                  const Units& units, const RecordCut& cut, Cutter& cutter) const {
  std::string lines;
  for (const CutPassage& passage : cut.passages) {
    const auto [begin, end] = passage.cut;
    KIN_TRY(const std::optional<std::string> of_id, cutter.id_of(passage.of));
    JsonWriter json;
    json.begin_object().field("row_id", row_number(record));
    text_or_null(json, "id", id);
    json.field("file", file_of(record)).field("field", fields_[passage.field]);
    json.field("begin", begin).field("end", end);
    json.field("text", units.fields()[passage.field].text.substr(begin, end - begin));
    json.field("duplicate_of_row_id", row_number(passage.of));
    text_or_null(json, "duplicate_of_id", of_id);
    json.field("duplicate_of_file", file_of(passage.of));
    json.field("duplicate_of_field", fields_[passage.of_field]);
    json.field("duplicate_of_begin", passage.of_range.begin);
    json.field("duplicate_of_end", passage.of_range.end);
    json.field("method", method_).field("record_removed", cut.emptied).end();
    lines += json.text();
    lines += '\n';
  }
  return lines;
}

}  // namespace kin::dedup
