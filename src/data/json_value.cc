#include "data/json_value.h"

#include <simdjson.h>

#include <fmt/format.h>

namespace kin::data {
namespace {

JsonValue value_of(simdjson::dom::element element);

JsonValue array_of(const simdjson::dom::array& array) {
  JsonValue::Array items;
  for (const simdjson::dom::element item : array) items.push_back(value_of(item));
  return JsonValue(std::move(items));
}

JsonValue object_of(const simdjson::dom::object& object) {
  JsonValue::Object members;
  for (const auto& [name, value] : object) members.emplace_back(name, value_of(value));
  return JsonValue(std::move(members));
}

// Recursion is bounded by the depth the parser was told to allow.
JsonValue value_of(simdjson::dom::element element) {
  using Type = simdjson::dom::element_type;
  switch (element.type()) {
    case Type::ARRAY: return array_of(simdjson::dom::array(element));
    case Type::OBJECT: return object_of(simdjson::dom::object(element));
    case Type::INT64: return JsonValue(static_cast<double>(std::int64_t(element)));
    case Type::UINT64: return JsonValue(static_cast<double>(std::uint64_t(element)));
    case Type::DOUBLE: return JsonValue(double(element));
    case Type::STRING: return JsonValue(std::string(std::string_view(element)));
    case Type::BOOL: return JsonValue(bool(element));
    case Type::NULL_VALUE: return {};
  }
  KIN_UNREACHABLE();
}

// Bytes of documents that share a thread's buffers.
constexpr std::size_t kSmall = 4096;

// `capacity`: the longest document of this parser.
Result<JsonValue> parse_with(simdjson::dom::parser& parser, std::string_view bytes,
                             std::size_t capacity, const JsonLimits& limits) {
  if (parser.allocate(capacity, limits.depth) != simdjson::SUCCESS)
    return Error{Code::kResourceExhausted,
                 fmt::format("no memory for {} bytes of JSON", bytes.size())};
  simdjson::dom::element root;
  const auto error = parser.parse(bytes.data(), bytes.size(), true).get(root);
  if (error == simdjson::DEPTH_ERROR)
    return Error{Code::kInvalidArgument,
                 fmt::format("the JSON is nested more than {} deep", limits.depth)};
  if (error)
    return Error{Code::kInvalidArgument,
                 fmt::format("this is not valid JSON: {}", simdjson::error_message(error))};
  return value_of(root);
}

}  // namespace

const JsonValue::Array& JsonValue::items() const {
  static const Array none;
  return array() == nullptr ? none : *array();
}

const JsonValue& JsonValue::operator[](std::string_view name) const {
  static const JsonValue null;
  if (object() == nullptr) return null;
  for (const auto& [key, value] : *object()) {
    if (key == name) return value;
  }
  return null;
}

Result<JsonValue> parse_json(std::string_view bytes, JsonLimits limits) {
  if (bytes.size() > kSmall) {
    simdjson::dom::parser parser;
    return parse_with(parser, bytes, bytes.size(), limits);
  }
  // Kept, because its buffers cost more than reading a short document.
  thread_local simdjson::dom::parser parser;
  return parse_with(parser, bytes, kSmall, limits);
}

}  // namespace kin::data
