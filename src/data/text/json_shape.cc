#include "data/text/json_shape.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "data/text/json_record.h"

namespace kin::data {
namespace {

namespace ondemand = simdjson::ondemand;

// 0.digits × 10^exponent, without zeros at either end of the digits.
struct Decimal {
  bool negative = false;
  std::string digits;
  std::int64_t exponent = 0;
  bool operator==(const Decimal&) const = default;
};

Decimal decimal_of(std::string_view number) {
  Decimal decimal;
  decimal.negative = number.starts_with('-');
  if (decimal.negative) number.remove_prefix(1);
  const std::size_t e = std::min(number.find_first_of("eE"), number.size());
  std::string_view exponent = number.substr(std::min(e + 1, number.size()));
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), decimal.exponent);
  const std::string_view mantissa = number.substr(0, e);
  decimal.exponent += static_cast<std::int64_t>(std::min(mantissa.find('.'), mantissa.size()));
  std::copy_if(mantissa.begin(), mantissa.end(), std::back_inserter(decimal.digits),
               [](char c) { return c != '.'; });
  const std::size_t zeros = std::min(decimal.digits.find_first_not_of('0'), decimal.digits.size());
  decimal.digits.erase(0, zeros);
  decimal.exponent -= static_cast<std::int64_t>(zeros);
  while (decimal.digits.ends_with('0')) decimal.digits.pop_back();
  if (decimal.digits.empty()) decimal.exponent = 0;
  return decimal;
}

template <typename Integer>
bool fits(std::string_view number) {
  Integer value{};
  return std::from_chars(number.data(), number.data() + number.size(), value).ec == std::errc();
}

void add_number(JsonShape& shape, std::string_view number) {
  number = number.substr(0, number.find_last_not_of(" \t\r\n") + 1);
  const bool integer = number.find_first_of(".eE") == std::string_view::npos;
  (integer ? shape.integer : shape.real) = true;
  if (integer) {
    shape.negative |= number.starts_with('-');
    const bool fits_signed = fits<std::int64_t>(number);
    shape.beyond_signed |= !fits_signed;
    shape.beyond_integer |= !fits_signed && !fits<std::uint64_t>(number);
  }
  if (!shape.beyond_double) shape.beyond_double = !survives_as_double(number);
}

JsonShape& child(std::unique_ptr<JsonShape>& place) {
  if (place == nullptr) place = std::make_unique<JsonShape>();
  return *place;
}

void limit_fields(JsonShape& shape) {
  if (shape.fields.size() > JsonShape::kMostFields) shape.too_many_fields = true;
  if (shape.too_many_fields) shape.fields.clear();
}

}  // namespace

bool survives_as_double(std::string_view number) {
  constexpr std::size_t kAlwaysSurvives = 15;  // digits of a decimal
  if (number.size() <= kAlwaysSurvives && number.find_first_of("eE") == std::string_view::npos)
    return true;
  double value = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), value);
  if (read.ec != std::errc() || !std::isfinite(value)) return false;
  char again[64];
  const auto end = std::to_chars(again, again + sizeof again, value, std::chars_format::scientific);
  return decimal_of(number) ==
         decimal_of({again, static_cast<std::size_t>(end.ptr - static_cast<char*>(again))});
}

void merge(JsonShape& shape, const JsonShape& other) {
  for (const auto flag :
       {&JsonShape::text, &JsonShape::truth, &JsonShape::integer, &JsonShape::real,
        &JsonShape::object, &JsonShape::array, &JsonShape::negative, &JsonShape::beyond_signed,
        &JsonShape::beyond_integer, &JsonShape::beyond_double, &JsonShape::repeated_key,
        &JsonShape::too_many_fields}) {
    shape.*flag |= other.*flag;
  }
  for (const auto& [key, field] : other.fields) {
    const auto [at, is_new] = shape.fields.try_emplace(key);
    if (is_new) child(at->second).first = field->first;
    at->second->first = std::min(at->second->first, field->first);
    merge(*at->second, *field);
    if (at->second->object) limit_fields(*at->second);
  }
  if (other.element == nullptr) return;
  merge(child(shape.element), *other.element);
  limit_fields(*shape.element);
}

std::vector<std::string> keys_of(const JsonShape& shape) {
  std::vector<std::string> keys;
  for (const auto& [key, field] : shape.fields) keys.push_back(key);
  std::sort(keys.begin(), keys.end(), [&](const auto& a, const auto& b) {
    return shape.fields.at(a)->first < shape.fields.at(b)->first;
  });
  return keys;
}

struct JsonShapeReader::State {
  ondemand::parser parser;
  std::uint64_t row = 0;
  std::size_t place = 0;

  // False if it cannot be read.
  bool add(JsonShape& shape, ondemand::value value);
  bool add_fields(JsonShape& shape, ondemand::object object);
  bool add_elements(JsonShape& shape, ondemand::array array);
};

bool JsonShapeReader::State::add(JsonShape& shape, ondemand::value value) {
  // Only a scalar has a token of its own. Writers of NaN and Infinity mean them as numbers.
  if (is_not_finite(without_trailing_space(value.raw_json_token()))) {
    shape.real = true;
    return true;
  }
  ondemand::json_type type{};
  if (value.type().get(type)) return false;
  switch (type) {
    case ondemand::json_type::object: {
      ondemand::object object;
      if (value.get_object().get(object) || !add_fields(shape, object)) return false;
      limit_fields(shape);
      return true;
    }
    case ondemand::json_type::array: {
      ondemand::array array;
      return !value.get_array().get(array) && add_elements(shape, array);
    }
    case ondemand::json_type::number: add_number(shape, value.raw_json_token()); return true;
    case ondemand::json_type::string: shape.text = true; return true;
    case ondemand::json_type::boolean: shape.truth = true; return true;
    default: return true;
  }
}

bool JsonShapeReader::State::add_fields(JsonShape& shape, ondemand::object object) {
  shape.object = true;
  std::vector<std::string_view> seen;
  for (auto field : object) {
    std::string_view key;
    ondemand::value value;
    if (field.unescaped_key().get(key) || field.value().get(value)) return false;
    seen.push_back(key);
    const auto [at, is_new] = shape.fields.try_emplace(std::string(key));
    JsonShape& next = child(at->second);
    const std::pair here{row, place++};
    if (is_new || here < next.first) next.first = here;
    if (!add(next, value)) return false;
  }
  std::sort(seen.begin(), seen.end());
  shape.repeated_key |= std::adjacent_find(seen.begin(), seen.end()) != seen.end();
  return true;
}

bool JsonShapeReader::State::add_elements(JsonShape& shape, ondemand::array array) {
  shape.array = true;
  for (auto element : array) {
    ondemand::value value;
    if (element.get(value) || !add(child(shape.element), value)) return false;
  }
  return true;
}

JsonShapeReader::JsonShapeReader() : state_(std::make_unique<State>()) {}
JsonShapeReader::~JsonShapeReader() = default;

void JsonShapeReader::add(std::string_view record, std::uint64_t row, JsonShape& shape) {
  state_->row = row;
  state_->place = 0;
  ondemand::document document;
  ondemand::object object;
  const simdjson::padded_string_view padded(record.data(), record.size(),
                                            record.size() + kJsonPadding);
  if (state_->parser.iterate(padded).get(document) || document.get_object().get(object)) return;
  state_->add_fields(shape, object);
}

}  // namespace kin::data
