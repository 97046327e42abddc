#include "embed/http/embeddings_answer.h"

#include <fmt/format.h>

#include <algorithm>

#include "data/json_fields.h"
#include "embed/embedder.h"
#include "embed/linear/dense.h"

namespace kin::embed::internal {
namespace {

constexpr std::size_t kLongestMessage = 300;

Error invalid(std::string_view what) {
  return {Code::kDataLoss, fmt::format("the server's answer is not valid: {}", what)};
}

}  // namespace

Result<std::vector<std::vector<float>>> parse_embeddings(std::string_view body, std::size_t count,
                                                         std::size_t dimension) {
  const auto parsed = data::parse_json(body);
  if (!parsed) return invalid(parsed.error().message);
  std::vector<std::vector<float>> out(count);
  std::size_t found = 0;
  data::JsonFields fields(*parsed);
  fields.read_objects("data", [&](data::JsonFields& entry) {
    std::size_t index = 0;
    std::vector<float> vector;
    entry.require("index");
    entry.require("embedding");
    ++found;
    if (!entry.read("index", index, {0, static_cast<double>(count) - 1}) ||
        !entry.read("embedding", vector))
      return;
    // The first vector decides the dimension if the caller does not know it yet.
    if (dimension == 0) dimension = vector.size();
    if (!out[index].empty())
      entry.fail("index", fmt::format("is {} for two vectors", index));
    else if (vector.size() != dimension || vector.size() > kMostDimensions)
      entry.fail("embedding", fmt::format("has {} dimensions instead of {}", vector.size(),
                                          std::min<std::size_t>(dimension, kMostDimensions)));
    else if (!normalise(vector))
      entry.fail("embedding", "is zero");
    out[index] = std::move(vector);
  });
  if (const Status status = fields.status(); !status.ok()) return invalid(status.error().message);
  if (found != count) return invalid(fmt::format("{} vectors for {} texts", found, count));
  return out;
}

std::string error_in(std::string_view body) {
  const auto parsed = data::parse_json(body);
  if (!parsed) return "";
  const data::JsonValue& error = (*parsed)["error"];
  // OpenAI sends an object with a message; some servers send the message alone.
  const std::string_view said = error.string() != nullptr ? error.text() : error["message"].text();
  return std::string(said.substr(0, kLongestMessage));
}

}  // namespace kin::embed::internal
