#include <fmt/format.h>

#include <cmath>

#include "data/json_value.h"
#include "embed/http/embeddings_answer.h"
#include "embed/linear/dense.h"

namespace kin::embed::internal {
namespace {

constexpr std::size_t kMostDimensions = 65'536;
constexpr std::size_t kLongestMessage = 300;

Error damaged(std::string_view what) {
  return {Code::kDataLoss, fmt::format("the answer makes no sense: {}", what)};
}

Result<std::vector<float>> vector_of(const data::JsonValue& numbers) {
  std::vector<float> out;
  out.reserve(numbers.items().size());
  for (const data::JsonValue& item : numbers.items()) {
    const double* const number = item.number();
    if (number == nullptr || !std::isfinite(static_cast<float>(*number)))
      return damaged("a vector has something in it that is no number");
    out.push_back(static_cast<float>(*number));
  }
  if (out.empty() || out.size() > kMostDimensions)
    return damaged(fmt::format("a vector has {} dimensions", out.size()));
  return out;
}

}  // namespace

Result<std::vector<std::vector<float>>> parse_embeddings(std::string_view body, std::size_t count,
                                                         std::size_t dimension) {
  const auto parsed = data::parse_json(body);
  if (!parsed) return damaged(parsed.error().message);
  const auto& entries = (*parsed)["data"].items();
  if (entries.size() != count)
    return damaged(fmt::format("{} vectors for {} texts", entries.size(), count));
  std::vector<std::vector<float>> out(count);
  for (const data::JsonValue& entry : entries) {
    const double* const index = entry["index"].number();
    if (index == nullptr || !(*index >= 0 && *index < static_cast<double>(count)) ||
        *index != std::floor(*index))
      return damaged("a vector does not say which text it is of");
    std::vector<float>& place = out[static_cast<std::size_t>(*index)];
    if (!place.empty()) return damaged(fmt::format("two vectors for text {}", *index));
    KIN_TRY(place, vector_of(entry["embedding"]));
    if (dimension == 0) dimension = place.size();
    if (place.size() != dimension)
      return damaged(
          fmt::format("a vector has {} dimensions, and {} are expected", place.size(), dimension));
    if (!normalise(place)) return damaged("a vector is no direction");
  }
  return out;
}

std::string error_in(std::string_view body) {
  const auto parsed = data::parse_json(body);
  if (!parsed) return "";
  const data::JsonValue& error = (*parsed)["error"];
  const std::string_view said = error.string() != nullptr ? error.text() : error["message"].text();
  return std::string(said.substr(0, kLongestMessage));
}

}  // namespace kin::embed::internal
