// Reads every line of the input in a block, alone, as a line too long for an index, and with
// simdjson's DOM, and compares.
#include <simdjson.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "data/text/json_record.h"
#include "data/text/record_splitter.h"

namespace {

using kin::data::JsonRecordReader;
using kin::data::RecordProblem;
using kin::data::RecordSpan;
using kin::data::ValueArena;

void require(bool truth) {
  if (!truth) std::abort();
}

struct Outcome {
  std::optional<RecordProblem> problem;
  std::string_view text;
  std::string_view inner;
};

Outcome read(JsonRecordReader& reader, std::string_view record, ValueArena& arena) {
  std::string_view values[2];
  Outcome outcome;
  outcome.problem = reader.read(record, arena, values);
  if (!outcome.problem) {
    outcome.text = values[0];
    outcome.inner = values[1];
  }
  return outcome;
}

void compare_with_dom(std::string_view record, const Outcome& ours) {
  static simdjson::dom::parser parser;
  const simdjson::padded_string padded(record.data(), record.size());
  simdjson::dom::element document;
  const auto error = parser.parse(padded).get(document);
  const bool missing = ours.problem && ours.problem->kind == RecordProblem::Kind::kFieldMissing;
  const bool too_deep =
      ours.problem && ours.problem->why.find("nested more than") != std::string::npos;
  if (error) return;  // it also checks values that were not requested
  if (!document.is_object() || too_deep) {
    require(ours.problem.has_value());
    return;
  }
  require(!ours.problem || missing);
  simdjson::dom::element value;
  const bool has_text = document.at_key("text").get(value) == simdjson::SUCCESS;
  require(has_text || missing);
  if (ours.problem) return;
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS)
    require(ours.text == text && ours.text.data() != nullptr);
  require(value.is_null() == (ours.text.data() == nullptr));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  bytes += '\n';
  const std::size_t length = bytes.size();
  bytes.resize(length + kin::data::kJsonPadding, '"');
  const std::string_view block(bytes.data(), length);

  JsonRecordReader in_block({"text", "a.b"});
  JsonRecordReader alone({"text", "a.b"});
  JsonRecordReader text_only({"text", "text"});
  JsonRecordReader long_reader({"text", "a.b"});
  std::string long_record;
  ValueArena arena;
  in_block.begin_block(block);
  for (std::size_t begin = 0; begin < length;) {
    const RecordSpan span =
        kin::data::next_record(kin::data::Format::kJsonl, block, begin, kin::data::Behind::kMore)
            .value();
    const std::string_view record = block.substr(begin, span.end - begin);
    begin = span.end;
    if (span.blank) continue;
    const Outcome one = read(in_block, record, arena);
    const Outcome two = read(alone, record, arena);
    require(one.problem == two.problem && one.text == two.text && one.inner == two.inner);
    constexpr std::size_t kTooLong = (2 << 20) + 1;
    long_record = record.substr(0, record.size() - 1);
    long_record.resize(std::max(kTooLong, record.size()), ' ');
    const Outcome scanned = read(long_reader, long_record, arena);
    require(one.problem.has_value() == scanned.problem.has_value());
    require(one.text == scanned.text && one.inner == scanned.inner);
    const Outcome three = read(text_only, record, arena);
    require(three.problem || three.text == three.inner);
    compare_with_dom(record, three);
    (void)alone.keys(record);
  }
  return 0;
}
