#include "index/truth/entity_bytes.h"

#include <algorithm>
#include <cstring>

namespace kin::index {

DocId read_id(RowReader& reader) {
  DocId id;
  const std::string_view bytes = reader.bytes(id.bytes.size());
  std::copy(bytes.begin(), bytes.end(), id.bytes.begin());
  return id;
}

void append_version(std::string& out, const Version& version) {
  append_varint(out, version.epoch);
  append_varint(out, version.lsn);
}

Version read_version(RowReader& reader) {
  const std::uint64_t epoch = reader.varint();
  return {.epoch = epoch, .lsn = reader.varint()};
}

std::uint8_t range_flags(const Validity& valid) {
  return static_cast<std::uint8_t>((valid.from != kBeginning ? kHasFrom : 0) |
                                   (valid.until != kForever ? kHasUntil : 0));
}

void append_range(std::string& out, const Validity& valid) {
  if (valid.from != kBeginning) append_le(out, valid.from);
  if (valid.until != kForever) append_le(out, valid.until);
}

Validity read_range(RowReader& reader, std::uint8_t flags) {
  Validity valid;
  if ((flags & kHasFrom) != 0) valid.from = reader.read<Millis>();
  if ((flags & kHasUntil) != 0) valid.until = reader.read<Millis>();
  return valid;
}

void append_value(std::string& out, const AttributeValue& value) {
  // The index in the variant is part of the format: read_value() has the same numbers.
  out += static_cast<char>(value.index());
  if (const auto* text = std::get_if<std::string>(&value)) append_text(out, *text);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) append_le(out, *whole);
  if (const auto* number = std::get_if<double>(&value)) append_le(out, *number);
  if (const auto* truth = std::get_if<bool>(&value)) out += static_cast<char>(*truth ? 1 : 0);
}

std::optional<AttributeValue> read_value(RowReader& reader) {
  switch (reader.read<std::uint8_t>()) {
    case 0: return std::string(reader.text());
    case 1: return reader.read<std::int64_t>();
    case 2: return reader.read<double>();
    case 3: {  // other bytes would give one value two spellings
      const auto byte = reader.read<std::uint8_t>();
      if (byte > 1) return {};
      return byte == 1;
    }
    default: return {};
  }
}

std::optional<std::vector<float>> to_vector(std::string_view bytes) {
  const std::size_t count = bytes.size() / sizeof(float);
  if (count == 0 || count > kMaxDimensions || bytes.size() % sizeof(float) != 0) return {};
  std::vector<float> values(count);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace kin::index
