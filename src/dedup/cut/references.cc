#include "dedup/cut/references.h"

#include <algorithm>

#include "dedup/cut/varint.h"
#include "dedup/spill/long_texts.h"

namespace kin::dedup {
namespace {

// The header of a run, before its units.
struct RunHeader {
  UnitRange units;
  std::uint32_t field = 0;
  bool bytes = false;
};

// The memory of runs with more units is reserved: a vector that grows holds its elements three
// times.
constexpr std::uint32_t kReservedUnits = 64 << 10;

std::uint32_t size32(std::string_view text) {
  return static_cast<std::uint32_t>(text.size());
}

void append_run(std::string& out, Units& units, const RunHeader& header) {
  append_varint(out, header.units.begin);
  append_varint(out, header.units.count());
  append_varint(out, header.field);
  append_varint(out, header.bytes ? 1 : 0);
  if (header.bytes) {
    const std::uint32_t begin = units.range(header.units.begin).begin;
    append_varint(out, begin);
    out += units.fields()[header.field].text.substr(begin, header.units.count());
    return;
  }
  std::uint32_t last = 0;
  for (std::uint32_t unit = header.units.begin; unit < header.units.end; ++unit) {
    const ByteRange range = units.range(unit);
    const std::string_view text = units.text(unit);
    append_varint(out, range.begin - last);
    append_varint(out, range.end - range.begin);
    append_varint(out, size32(text));
    out += text;
    last = range.end;
  }
}

// About the length of encode_reference(): a string that grows is held three times.
std::uint64_t encoded_bytes(const Units& units, const std::vector<UnitRange>& ranges, bool bytes) {
  constexpr std::uint64_t kUnitHeader = 3;
  std::uint64_t length = 0;
  for (const UnitRange& range : ranges) {
    if (range.count() == 0) continue;
    const std::uint32_t last = range.end - 1;
    const bool one_field = units.field_of(range.begin) == units.field_of(last);
    length +=
        one_field ? units.range(last).end - units.range(range.begin).begin : units.text_bytes();
    if (!bytes) length += kUnitHeader * range.count();
  }
  return length;
}

// Splits `range` at the ends of fields.
std::string encode_reference(Units& units, const std::vector<UnitRange>& ranges,
                             std::optional<std::string_view> id, bool bytes) {
  std::string out;
  if (units.text_bytes() > kShortText) out.reserve(encoded_bytes(units, ranges, bytes));
  append_varint(out, id ? 1 : 0);
  if (id) {
    append_varint(out, size32(*id));
    out += *id;
  }
  for (UnitRange range : ranges) {
    while (range.begin < range.end) {
      const std::size_t field = units.field_of(range.begin);
      const std::uint32_t end = std::min(range.end, units.fields()[field].units.end);
      append_run(out, units,
                 {.units = {range.begin, end},
                  .field = static_cast<std::uint32_t>(field),
                  .bytes = bytes});
      range.begin = end;
    }
  }
  return out;
}

bool read_run(VarintReader& reader, Reference::Run& run) {
  run.units.begin = reader.read();
  run.units.end = run.units.begin + reader.read();
  run.field = reader.read();
  if (reader.read() == 1) {
    const std::uint32_t begin = reader.read();
    run.ranges.push_back({begin, begin + run.units.count()});
    run.text = reader.read_bytes(run.units.count());
    return reader.ok();
  }
  if (run.units.count() > kReservedUnits) {
    run.ranges.reserve(run.units.count());
    run.ends.reserve(run.units.count());
    run.text.reserve(reader.left());
  }
  std::uint32_t last = 0;
  for (std::uint32_t left = run.units.count(); left > 0 && reader.ok(); --left) {
    const std::uint32_t begin = last + reader.read();
    last = begin + reader.read();
    run.ranges.push_back({begin, last});
    run.text += reader.read_bytes(reader.read());
    run.ends.push_back(size32(run.text));
  }
  return reader.ok();
}

}  // namespace

std::string_view Reference::Run::text_of(std::uint32_t unit) const {
  const std::size_t i = unit - units.begin;
  if (ends.empty()) return std::string_view(text).substr(i, 1);
  const std::uint32_t begin = i == 0 ? 0 : ends[i - 1];
  return std::string_view(text).substr(begin, ends[i] - begin);
}

ByteRange Reference::Run::range_of(UnitRange some) const {
  const std::uint32_t first = some.begin - units.begin;
  const std::uint32_t last = some.end - 1 - units.begin;
  if (ends.empty()) return {ranges[0].begin + first, ranges[0].begin + last + 1};
  return {ranges[first].begin, ranges[last].end};
}

Result<Reference> Reference::decode(std::string_view bytes) {
  Reference reference;
  VarintReader reader(bytes);
  if (reader.read() == 1) reference.id_ = reader.read_bytes(reader.read());
  while (reader.ok() && !reader.done()) {
    Run run;
    if (!read_run(reader, run)) break;
    reference.runs_.push_back(std::move(run));
  }
  if (reader.ok()) return reference;
  return Error{Code::kDataLoss, "a reference text of a cut is damaged (run again)"};
}

const Reference::Run* Reference::find(std::uint32_t unit) const {
  const auto after = std::upper_bound(
      runs_.begin(), runs_.end(), unit,
      [](std::uint32_t wanted, const Run& run) { return wanted < run.units.begin; });
  if (after == runs_.begin()) return nullptr;
  const Run& run = *(after - 1);
  return unit < run.units.end ? &run : nullptr;
}

std::size_t Reference::memory() const {
  std::size_t bytes = sizeof *this + 64;
  for (const Run& run : runs_)
    bytes += sizeof run + run.text.capacity() + run.ranges.size() * 8 + run.ends.size() * 4;
  return bytes;
}

Result<References> collect_references(const CutInput& input, const Plans& plans) {
  References references;
  KIN_TRY(references.values, store::KeptValues::open({.temporary_parent = input.folder}));
  const bool with_ids = input.options.id_column.has_value();
  const bool bytes = input.options.cut->unit == CutOptions::Unit::kByte;
  const auto visit = [&](const data::Batch& batch, std::size_t i, Units& units, int) -> Status {
    KIN_TRY(const CutPlan plan, plans.get(batch.row(i)));
    std::optional<std::string_view> id;
    if (with_ids) id = batch.value(input.options.fields.size(), i);
    return references.values->append(batch.row(i),
                                     encode_reference(units, plan.references, id, bytes));
  };
  KIN_RETURN_IF_ERROR(scan_units(input, {.only = &plans.references, .with_ids = with_ids}, visit));
  return references;
}

Result<const Reference*> ReferenceReader::get(RecordId record) {
  const auto known = remembered_.find(record);
  if (known != remembered_.end()) return &known->second;
  if (used_ > memory_) {
    remembered_.clear();
    used_ = 0;
  }
  KIN_TRY(const std::optional<std::string> bytes, references_.values->get(record));
  KIN_TRY(Reference reference, Reference::decode(bytes.value_or(std::string())));
  used_ += reference.memory();
  return &remembered_.emplace(record, std::move(reference)).first->second;
}

}  // namespace kin::dedup
