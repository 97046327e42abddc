#include "embed/corpus_model.h"

#include <algorithm>
#include <cmath>

#include "base/hash.h"
#include "embed/corpus/data.h"
#include "embed/files/terms.h"
#include "embed/linear/dense.h"

namespace kin::embed {
namespace {

using internal::CorpusData;

class Model final : public CorpusModel {
 public:
  Model(CorpusData data, std::unique_ptr<internal::TermReaders> readers)
      : data_(std::move(data)),
        readers_(std::move(readers)),
        info_{.kind = EmbedderKind::kCorpus,
              .dimension = data_.dimension,
              .model_hash = hash64(internal::encode_corpus(data_))} {}

  const EmbedderInfo& info() const override { return info_; }
  std::string encode() const override { return internal::encode_corpus(data_); }
  std::uint64_t documents() const override { return data_.documents; }
  std::size_t memory() const override {
    return data_.rows.size() + data_.keys.size() * (sizeof(std::uint64_t) + sizeof(float));
  }

  double unknown_share(std::span<const std::string_view> texts) const override {
    std::size_t all = 0;
    std::size_t unknown = 0;
    // Made for embedding, but it reads the terms of each text as well; the vectors are dropped.
    readers_->embed(texts, [&](std::vector<std::uint64_t>& keys) {
      std::ranges::sort(keys);
      const auto repeated = std::ranges::unique(keys);
      keys.erase(repeated.begin(), repeated.end());
      all += keys.size();
      unknown += static_cast<std::size_t>(std::ranges::count_if(
          keys, [&](std::uint64_t key) { return !std::ranges::binary_search(data_.keys, key); }));
      return std::vector<float>();
    });
    return all == 0 ? 0 : static_cast<double>(unknown) / static_cast<double>(all);
  }

  Result<std::vector<std::vector<float>>> embed(
      std::span<const std::string_view> texts) const override {
    return readers_->embed(texts, [this](auto& keys) { return vector_of(keys); });
  }

 private:
  std::vector<float> vector_of(std::vector<std::uint64_t>& keys) const {
    std::sort(keys.begin(), keys.end());
    std::vector<float> sum(data_.dimension);
    auto at = data_.keys.begin();  // both lists ascend, so the search only moves forward
    for (std::size_t i = 0; i < keys.size();) {
      const std::size_t first = i;
      while (i < keys.size() && keys[i] == keys[first]) ++i;
      at = std::lower_bound(at, data_.keys.end(), keys[first]);
      if (at == data_.keys.end()) break;
      if (*at != keys[first]) continue;
      add_row(static_cast<std::size_t>(at - data_.keys.begin()), i - first, sum);
    }
    if (!internal::normalise(sum)) return {};
    return sum;
  }

  void add_row(std::size_t term, std::size_t count, std::vector<float>& sum) const {
    // Repetitions count by their logarithm, as in training.
    const float factor = (1 + std::log(static_cast<float>(count))) * data_.scales[term];
    const std::int8_t* const row = data_.rows.data() + term * data_.dimension;
    internal::add_scaled(row, factor, sum);
  }

  CorpusData data_;
  std::unique_ptr<internal::TermReaders> readers_;
  EmbedderInfo info_;
};

}  // namespace

Result<std::shared_ptr<const CorpusModel>> CorpusModel::decode(std::string_view bytes) {
  KIN_TRY(CorpusData data, internal::decode_corpus(bytes));
  return internal::make_corpus_model(std::move(data));
}

Result<std::shared_ptr<const CorpusModel>> internal::make_corpus_model(CorpusData data) {
  KIN_TRY(auto readers, TermReaders::create(data.language));
  return std::shared_ptr<const CorpusModel>(
      std::make_shared<Model>(std::move(data), std::move(readers)));
}

}  // namespace kin::embed
