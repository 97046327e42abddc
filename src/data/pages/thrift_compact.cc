#include "data/pages/thrift_compact.h"

#include <algorithm>

namespace kin::data {
namespace {

constexpr int kMaximumDepth = 32;
constexpr unsigned kLongList = 15;

class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : bytes_(bytes) {}

  // False as soon as something is invalid; the value must not be used then.
  bool read_struct(ThriftValue& value, int depth);
  bool at_end() const { return at_ == bytes_.size(); }
  std::size_t used() const { return at_; }

 private:
  bool read_byte(std::uint8_t& byte) {
    if (at_ == bytes_.size()) return false;
    byte = static_cast<std::uint8_t>(bytes_[at_++]);
    return true;
  }
  bool read_varint(std::uint64_t& number);
  bool read_zigzag(std::int64_t& number);
  bool read_bytes(std::string& bytes, std::uint64_t count);
  bool read_field(ThriftValue& value, int& id, std::uint8_t head, int depth);
  bool read_value(ThriftValue& value, ThriftType type, int depth);
  bool read_list(ThriftValue& value, int depth);

  std::string_view bytes_;
  std::size_t at_ = 0;
};

bool Decoder::read_varint(std::uint64_t& number) {
  number = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    std::uint8_t byte = 0;
    if (!read_byte(byte)) return false;
    number |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool Decoder::read_zigzag(std::int64_t& number) {
  std::uint64_t packed = 0;
  if (!read_varint(packed)) return false;
  number = static_cast<std::int64_t>(packed >> 1) ^ -static_cast<std::int64_t>(packed & 1);
  return true;
}

bool Decoder::read_bytes(std::string& bytes, std::uint64_t count) {
  if (count > bytes_.size() - at_) return false;
  bytes.assign(bytes_.substr(at_, count));
  at_ += count;
  return true;
}

bool Decoder::read_struct(ThriftValue& value, int depth) {
  if (depth > kMaximumDepth) return false;
  value.type = ThriftType::kStruct;
  int id = 0;
  for (;;) {
    std::uint8_t head = 0;
    if (!read_byte(head)) return false;
    if (head == 0) return true;
    if (!read_field(value, id, head, depth)) return false;
  }
}

bool Decoder::read_field(ThriftValue& value, int& id, std::uint8_t head, int depth) {
  std::int64_t next = id + (head >> 4);
  if (head >> 4 == 0 && !read_zigzag(next)) return false;
  if (next <= id || next > INT16_MAX) return false;
  id = static_cast<int>(next);
  value.fields.push_back({id, {}});
  return read_value(value.fields.back().value, static_cast<ThriftType>(head & 0x0f), depth);
}

bool Decoder::read_value(ThriftValue& value, ThriftType type, int depth) {
  value.type = type;
  std::uint64_t count = 0;
  switch (type) {
    case ThriftType::kTrue:
    case ThriftType::kFalse: return true;
    case ThriftType::kByte: {
      std::uint8_t byte = 0;
      if (!read_byte(byte)) return false;
      value.number = byte;
      return true;
    }
    case ThriftType::kInt16:
    case ThriftType::kInt32:
    case ThriftType::kInt64: return read_zigzag(value.number);
    case ThriftType::kDouble: return read_bytes(value.bytes, sizeof(double));
    case ThriftType::kBinary: return read_varint(count) && read_bytes(value.bytes, count);
    case ThriftType::kList:
    case ThriftType::kSet: return read_list(value, depth + 1);
    case ThriftType::kStruct: return read_struct(value, depth + 1);
  }
  return false;
}

bool Decoder::read_list(ThriftValue& value, int depth) {
  if (depth > kMaximumDepth) return false;
  std::uint8_t head = 0;
  if (!read_byte(head)) return false;
  std::uint64_t count = head >> 4;
  if (count == kLongList && !read_varint(count)) return false;
  // Each element takes a byte at least, so that a wrong count cannot ask for much memory.
  if (count > bytes_.size() - at_) return false;
  value.element = static_cast<ThriftType>(head & 0x0f);
  const bool truths = value.element == ThriftType::kTrue || value.element == ThriftType::kFalse;
  value.items.resize(count);
  for (ThriftValue& item : value.items) {
    // In a list, a boolean takes a byte of its own.
    if (!read_value(item, truths ? ThriftType::kByte : value.element, depth)) return false;
  }
  return true;
}

void put_varint(std::string& out, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) out += static_cast<char>(number | 0x80);
  out += static_cast<char>(number);
}

void put_zigzag(std::string& out, std::int64_t number) {
  put_varint(out,
             static_cast<std::uint64_t>(number) << 1 ^ static_cast<std::uint64_t>(number >> 63));
}

void put_value(std::string& out, const ThriftValue& value) {
  switch (value.type) {
    case ThriftType::kTrue:
    case ThriftType::kFalse: return;
    case ThriftType::kByte: out += static_cast<char>(value.number); return;
    case ThriftType::kInt16:
    case ThriftType::kInt32:
    case ThriftType::kInt64: put_zigzag(out, value.number); return;
    case ThriftType::kDouble: out += value.bytes; return;
    case ThriftType::kBinary:
      put_varint(out, value.bytes.size());
      out += value.bytes;
      return;
    case ThriftType::kList:
    case ThriftType::kSet: {
      const unsigned count =
          static_cast<unsigned>(std::min<std::size_t>(value.items.size(), kLongList));
      out += static_cast<char>(count << 4 | static_cast<unsigned>(value.element));
      if (count == kLongList) put_varint(out, value.items.size());
      for (const ThriftValue& item : value.items) put_value(out, item);
      return;
    }
    case ThriftType::kStruct: encode_thrift(out, value); return;
  }
}

}  // namespace

ThriftValue* ThriftValue::field(int id) {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const auto& one) { return one.id == id; });
  return found == fields.end() ? nullptr : &found->value;
}

const ThriftValue* ThriftValue::field(int id) const {
  return const_cast<ThriftValue*>(this)->field(id);
}

std::int64_t ThriftValue::number_of(int id, std::int64_t otherwise) const {
  const ThriftValue* const found = field(id);
  return found == nullptr ? otherwise : found->number;
}

void ThriftValue::put(int id, ThriftValue value) {
  if (ThriftValue* const there = field(id)) {
    *there = std::move(value);
    return;
  }
  const auto behind =
      std::find_if(fields.begin(), fields.end(), [&](const auto& one) { return one.id > id; });
  fields.insert(behind, {id, std::move(value)});
}

void ThriftValue::put_number(int id, ThriftType type_of_number, std::int64_t value) {
  ThriftValue number_value;
  number_value.type = type_of_number;
  number_value.number = value;
  put(id, std::move(number_value));
}

void ThriftValue::erase(int id) {
  std::erase_if(fields, [&](const auto& one) { return one.id == id; });
}

Result<ThriftValue> decode_thrift_prefix(std::string_view bytes, std::size_t& used) {
  ThriftValue value;
  Decoder decoder(bytes);
  if (!decoder.read_struct(value, 0))
    return Error{Code::kDataLoss, "the bytes do not begin with a Thrift struct"};
  used = decoder.used();
  return value;
}

Result<ThriftValue> decode_thrift(std::string_view bytes) {
  ThriftValue value;
  Decoder decoder(bytes);
  if (!decoder.read_struct(value, 0) || !decoder.at_end()) {
    return Error{Code::kDataLoss, "the bytes are not one Thrift struct"};
  }
  return value;
}

void encode_thrift(std::string& out, const ThriftValue& value) {
  constexpr int kShortStep = 15;
  int last = 0;
  for (const auto& [id, field] : value.fields) {
    const auto type = static_cast<unsigned>(field.type);
    if (id - last <= kShortStep) {
      out += static_cast<char>(static_cast<unsigned>(id - last) << 4 | type);
    } else {
      out += static_cast<char>(type);
      put_zigzag(out, id);
    }
    last = id;
    put_value(out, field);
  }
  out += '\0';
}

}  // namespace kin::data
