#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <optional>

#include "base/bytes.h"
#include "data/json_value.h"
#include "embed/files/safetensors.h"

namespace kin::embed::internal {
namespace {

constexpr std::uint64_t kLongestHeader = std::uint64_t{100} << 20;
// What doubles, which JSON's numbers are, hold exactly.
constexpr double kLargestWhole = 9e15;

Error damaged(std::string_view what) {
  return {Code::kDataLoss, fmt::format("this is no safetensors file: {}", what)};
}

std::optional<TensorType> type_of(std::string_view name) {
  if (name == "I8") return TensorType::kI8;
  if (name == "F16") return TensorType::kF16;
  if (name == "BF16") return TensorType::kBF16;
  if (name == "F32") return TensorType::kF32;
  if (name == "F64") return TensorType::kF64;
  if (name == "I32") return TensorType::kI32;
  if (name == "I64") return TensorType::kI64;
  return std::nullopt;
}

std::size_t size_of(TensorType type) {
  switch (type) {
    case TensorType::kI8: return 1;
    case TensorType::kF16:
    case TensorType::kBF16: return 2;
    case TensorType::kF32:
    case TensorType::kI32: return 4;
    case TensorType::kF64:
    case TensorType::kI64: return 8;
  }
  KIN_UNREACHABLE();
}

double half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1F;
  const double fraction = bits & 0x3FF;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  if (exponent == 0x1F) return fraction == 0 ? sign * HUGE_VAL : std::nan("");
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

std::optional<std::size_t> whole(const data::JsonValue& value) {
  const double* const number = value.number();
  if (number == nullptr || !(*number >= 0 && *number <= kLargestWhole)) return std::nullopt;
  if (*number != std::floor(*number)) return std::nullopt;
  return static_cast<std::size_t>(*number);
}

// Nothing for a type we have no use for.
Result<std::optional<Tensor>> tensor_of(const std::string& name, const data::JsonValue& entry,
                                        std::string_view bytes) {
  const auto type = type_of(entry["dtype"].text());
  if (!type) return std::optional<Tensor>();
  Tensor out{.name = name, .type = *type, .shape = {}, .bytes = {}};
  std::uint64_t expected = size_of(*type);
  for (const data::JsonValue& item : entry["shape"].items()) {
    const auto extent = whole(item);
    if (!extent || (*extent > 0 && expected > kLargestWhole / static_cast<double>(*extent)))
      return damaged(fmt::format("the shape of '{}' makes no sense", name));
    out.shape.push_back(*extent);
    expected *= *extent;
  }
  const auto& offsets = entry["data_offsets"].items();
  const auto begin = offsets.size() == 2 ? whole(offsets[0]) : std::nullopt;
  const auto end = offsets.size() == 2 ? whole(offsets[1]) : std::nullopt;
  if (!begin || !end || *begin > *end || *end > bytes.size())
    return damaged(fmt::format("'{}' does not lie in the file", name));
  if (*end - *begin != expected)
    return damaged(
        fmt::format("'{}' has {} bytes, and its shape makes {}", name, *end - *begin, expected));
  out.bytes = bytes.substr(*begin, *end - *begin);
  return std::optional(std::move(out));
}

}  // namespace

std::size_t Tensor::count() const {
  return bytes.size() / size_of(type);
}

double Tensor::at(std::size_t i) const {
  const char* const from = bytes.data() + i * size_of(type);
  switch (type) {
    case TensorType::kI8: return load_le<std::int8_t>(from);
    case TensorType::kF16: return half(load_le<std::uint16_t>(from));
    case TensorType::kBF16:
      return std::bit_cast<float>(static_cast<std::uint32_t>(load_le<std::uint16_t>(from)) << 16);
    case TensorType::kF32: return load_le<float>(from);
    case TensorType::kF64: return load_le<double>(from);
    case TensorType::kI32: return load_le<std::int32_t>(from);
    case TensorType::kI64: return static_cast<double>(load_le<std::int64_t>(from));
  }
  KIN_UNREACHABLE();
}

Result<std::vector<Tensor>> parse_safetensors(std::string_view file) {
  ByteReader reader(file);
  const auto length = reader.read<std::uint64_t>();
  if (!reader.ok() || length > kLongestHeader || length > reader.rest().size())
    return damaged("its header does not lie in it");
  const std::string_view header = reader.read_bytes(length);
  const auto parsed = data::parse_json(header);
  if (!parsed) return damaged("its header: " + parsed.error().message);
  if (parsed->object() == nullptr) return damaged("its header is no JSON object");
  std::vector<Tensor> out;
  for (const auto& [name, entry] : *parsed->object()) {
    if (name == "__metadata__") continue;
    KIN_TRY(std::optional<Tensor> tensor, tensor_of(name, entry, reader.rest()));
    if (tensor) out.push_back(std::move(*tensor));
  }
  return out;
}

}  // namespace kin::embed::internal
