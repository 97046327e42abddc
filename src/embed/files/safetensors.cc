#include "embed/files/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>

#include "base/bytes.h"
#include "data/json_fields.h"

namespace kin::embed::internal {
namespace {

constexpr std::uint64_t kLongestHeader = std::uint64_t{100} << 20;
// Sizes in JSON are doubles, which are exact up to here.
constexpr std::uint64_t kLargest = std::uint64_t{1} << 53;

Error damaged(std::string_view what) {
  return {Code::kDataLoss, fmt::format("not a safetensors file: {}", what)};
}

// In the order of TensorType.
struct TypeInfo {
  std::string_view name;
  std::size_t size;  // bytes of a number
};
constexpr std::array<TypeInfo, 7> kTypes{
    {{"I8", 1}, {"F16", 2}, {"BF16", 2}, {"F32", 4}, {"F64", 8}, {"I32", 4}, {"I64", 8}}};
static_assert(kTypes.size() == static_cast<std::size_t>(TensorType::kI64) + 1);

std::optional<TensorType> type_of(std::string_view name) {
  const auto* const found = std::ranges::find(kTypes, name, &TypeInfo::name);
  if (found == kTypes.end()) return std::nullopt;
  return static_cast<TensorType>(found - kTypes.begin());
}

std::size_t size_of(TensorType type) {
  return kTypes[static_cast<std::size_t>(type)].size;
}

// IEEE 754 half precision. Subnormal numbers lack the leading one of the fraction.
double half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1F;
  const double fraction = bits & 0x3FF;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  if (exponent == 0x1F) return fraction == 0 ? sign * HUGE_VAL : std::nan("");
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

// Nothing for a type that embedders do not use.
Result<std::optional<Tensor>> tensor_of(const std::string& name, const data::JsonValue& entry,
                                        std::string_view bytes) {
  std::string dtype;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> offsets;
  data::JsonFields fields(entry, name);
  fields.read("dtype", dtype);
  fields.read("shape", shape);
  fields.read("data_offsets", offsets);
  if (const Status status = fields.status(); !status.ok()) return damaged(status.error().message);
  const auto type = type_of(dtype);
  if (!type) return std::optional<Tensor>();
  std::uint64_t expected = size_of(*type);
  for (const std::uint64_t extent : shape) {
    if (extent > 0 && expected > kLargest / extent)
      return damaged(fmt::format("the shape of \"{}\" is too large", name));
    expected *= extent;
  }
  if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > bytes.size())
    return damaged(fmt::format("\"{}\" is not inside the file", name));
  if (offsets[1] - offsets[0] != expected)
    return damaged(fmt::format("\"{}\" has {} bytes, but its shape needs {}", name,
                               offsets[1] - offsets[0], expected));
  return std::optional(Tensor{.name = name,
                              .type = *type,
                              .shape = {shape.begin(), shape.end()},
                              .bytes = bytes.substr(offsets[0], expected)});
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
    return damaged("it is shorter than its header says");
  const std::string_view header = reader.read_bytes(length);
  const auto parsed = data::parse_json(header);
  if (!parsed) return damaged("its header: " + parsed.error().message);
  if (parsed->object() == nullptr) return damaged("its header is not a JSON object");
  std::vector<Tensor> out;
  for (const auto& [name, entry] : *parsed->object()) {
    if (name == "__metadata__") continue;
    KIN_TRY(std::optional<Tensor> tensor, tensor_of(name, entry, reader.rest()));
    if (tensor) out.push_back(std::move(*tensor));
  }
  return out;
}

}  // namespace kin::embed::internal
