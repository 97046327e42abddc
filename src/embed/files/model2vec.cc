#include "embed/files/model2vec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/file.h"
#include "base/hash.h"
#include "data/json_value.h"
#include "embed/files/model_file.h"
#include "embed/files/safetensors.h"
#include "embed/files/word_pieces.h"
#include "embed/linear/dense.h"

namespace kin::embed {
namespace {

using internal::Tensor;
using internal::TensorType;
using internal::WordPieces;

constexpr std::string_view kTokenizer = "tokenizer.json";
constexpr std::string_view kTensors = "model.safetensors";
constexpr std::string_view kConfig = "config.json";

Error wrong(std::string_view file, std::string_view what) {
  return {Code::kInvalidArgument, fmt::format("{}: {}", file, what)};
}

// The vectors of tokens, kept as bytes if the file has bytes.
class Rows {
 public:
  static Result<Rows> of(const std::vector<Tensor>& tensors, std::size_t tokens);

  std::size_t dimension() const { return dimension_; }
  void add(std::uint32_t token, std::span<float> sum) const {
    const std::size_t row = mapping_.empty() ? token : mapping_[token];
    const float weight = weights_.empty() ? 1 : weights_[token];
    // Bytes are added without the scale that made them: the length of the sum does not matter.
    if (!bytes_.empty()) {
      internal::add_scaled(bytes_.data() + row * dimension_, weight, sum);
      return;
    }
    const float* const from = floats_.data() + row * dimension_;
    for (std::size_t j = 0; j < dimension_; ++j) sum[j] += weight * from[j];
  }

 private:
  Status take_rows(const Tensor& rows);
  Status take_mapping(const Tensor& mapping, std::size_t rows);

  std::size_t dimension_ = 0;
  std::vector<std::int8_t> bytes_;
  std::vector<float> floats_;
  std::vector<float> weights_;          // of each token; empty if all are 1
  std::vector<std::uint32_t> mapping_;  // from token to row; empty if they are the same
};

const Tensor* find(const std::vector<Tensor>& tensors, std::string_view name) {
  const auto found =
      std::ranges::find_if(tensors, [&](const Tensor& tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

Result<std::vector<float>> floats_of(const Tensor& tensor) {
  std::vector<float> out(tensor.count());
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<float>(tensor.at(i));
    if (!std::isfinite(out[i]))
      return wrong(kTensors, fmt::format("\"{}\" has a number that is not finite", tensor.name));
  }
  return out;
}

Status Rows::take_rows(const Tensor& rows) {
  if (rows.shape.size() != 2 || rows.shape[0] == 0 || rows.shape[1] == 0 ||
      rows.shape[1] > kMostDimensions)
    return wrong(kTensors, fmt::format("\"{}\" must be a matrix", rows.name));
  dimension_ = rows.shape[1];
  if (rows.type == TensorType::kI8) {
    const auto* const begin = reinterpret_cast<const std::int8_t*>(rows.bytes.data());
    bytes_.assign(begin, begin + rows.bytes.size());
    return Done{};
  }
  KIN_TRY(floats_, floats_of(rows));
  return Done{};
}

Status Rows::take_mapping(const Tensor& mapping, std::size_t rows) {
  for (std::size_t i = 0; i < mapping.count(); ++i) {
    const double row = mapping.at(i);
    // Written so that a row that is not a number is refused too.
    if (!(row >= 0 && row < static_cast<double>(rows)))
      return wrong(kTensors, "\"mapping\" names a row that does not exist");
    mapping_.push_back(static_cast<std::uint32_t>(row));
  }
  return Done{};
}

Result<Rows> Rows::of(const std::vector<Tensor>& tensors, std::size_t tokens) {
  const Tensor* rows = find(tensors, "embeddings");
  // Sentence Transformers gives the same matrix another name.
  if (rows == nullptr) rows = find(tensors, "embedding.weight");
  if (rows == nullptr)
    return wrong(kTensors, "there are no \"embeddings\" of the type F32, F16, BF16, F64 or I8");
  Rows out;
  KIN_RETURN_IF_ERROR(out.take_rows(*rows));
  // The fewest tokens that any of the tensors covers: add() reads them without checks.
  std::size_t known = rows->shape[0];
  if (const Tensor* mapping = find(tensors, "mapping"); mapping != nullptr) {
    KIN_RETURN_IF_ERROR(out.take_mapping(*mapping, known));
    known = out.mapping_.size();
  }
  if (const Tensor* weights = find(tensors, "weights"); weights != nullptr) {
    KIN_TRY(out.weights_, floats_of(*weights));
    known = std::min(known, out.weights_.size());
  }
  if (known < tokens)
    return wrong(kTensors, fmt::format("it has rows for {} tokens, but {} has {}", known,
                                       kTokenizer, tokens));
  return out;
}

class Model2Vec final : public Embedder {
 public:
  Model2Vec(WordPieces pieces, Rows rows, std::uint64_t model_hash)
      : pieces_(std::move(pieces)),
        rows_(std::move(rows)),
        info_{.kind = EmbedderKind::kModel2Vec,
              .dimension = static_cast<std::uint32_t>(rows_.dimension()),
              .model_hash = model_hash} {}

  const EmbedderInfo& info() const override { return info_; }

  Result<std::vector<std::vector<float>>> embed(
      std::span<const std::string_view> texts) const override {
    // Made for each call, because it is for one thread.
    text::BertWords cutter(pieces_.normalization());
    std::vector<std::uint32_t> tokens;
    std::vector<std::vector<float>> out;
    out.reserve(texts.size());
    for (const std::string_view text : texts) {
      tokens.clear();
      for (const std::string_view word : cutter.split(text)) pieces_.append_pieces(word, tokens);
      std::vector<float> sum(rows_.dimension());
      for (const std::uint32_t token : tokens) rows_.add(token, sum);
      if (!internal::normalise(sum)) sum.clear();
      out.push_back(std::move(sum));
    }
    return out;
  }

 private:
  const WordPieces pieces_;
  const Rows rows_;
  const EmbedderInfo info_;
};

}  // namespace

Result<std::shared_ptr<const Embedder>> make_model2vec(const Model2VecFiles& files) {
  auto pieces = WordPieces::parse(files.tokenizer);
  if (!pieces) return with_context(kTokenizer, pieces.error());
  const auto tensors = internal::parse_safetensors(files.safetensors);
  if (!tensors) return with_context(kTensors, tensors.error());
  KIN_TRY(Rows rows, Rows::of(*tensors, pieces->tokens()));
  // Tokenizer and vectors both decide what a text's vector is.
  const std::uint64_t model_hash = hash64(files.tokenizer, hash64(files.safetensors));
  return std::shared_ptr<const Embedder>(
      std::make_shared<Model2Vec>(std::move(*pieces), std::move(rows), model_hash));
}

Result<std::shared_ptr<const Embedder>> open_model2vec(const std::filesystem::path& folder) {
  // The type comes first, because other kinds of models have files of these names too.
  KIN_TRY(const std::string config, internal::read_model_file(folder / kConfig));
  const auto settings = data::parse_json(config);
  if (!settings) return with_context((folder / kConfig).string(), settings.error());
  if ((*settings)["model_type"].text() != "model2vec")
    return with_context(
        folder.string(),
        wrong(kConfig, fmt::format("the model type is \"{}\" instead of \"model2vec\"",
                                   (*settings)["model_type"].text())));
  KIN_TRY(const std::string tokenizer, internal::read_model_file(folder / kTokenizer));
  KIN_TRY(const std::string tensors, internal::read_model_file(folder / kTensors));
  auto made = make_model2vec({.tokenizer = tokenizer, .safetensors = tensors});
  if (!made) return with_context(folder.string(), made.error());
  return made;
}

}  // namespace kin::embed
