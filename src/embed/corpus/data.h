// The content of a corpus model, as training makes it and as the format stores it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "embed/corpus_model.h"

namespace kin::embed::internal {

struct CorpusData {
  std::string language;
  std::uint64_t documents = 0;
  std::uint32_t dimension = 0;
  std::vector<std::uint64_t> keys;  // of the terms, ascending
  std::vector<float> scales;        // factor of each row, with the weight of its term
  std::vector<std::int8_t> rows;    // `dimension` numbers per term
};

std::string encode_corpus(const CorpusData& data);
Result<CorpusData> decode_corpus(std::string_view bytes);

Result<std::shared_ptr<const CorpusModel>> make_corpus_model(CorpusData data);

}  // namespace kin::embed::internal
