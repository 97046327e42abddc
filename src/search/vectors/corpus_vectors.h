// Vectors that an index learns from its own documents, and learns again as it grows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"
#include "embed/corpus_model.h"
#include "index/view.h"

namespace kin::search {

// A model and its place in the row of models that an index had. Kept in a file of its own.
struct CorpusGeneration {
  std::uint64_t number = 0;  // 0: there is none yet
  std::shared_ptr<const embed::CorpusModel> model = {};
};

bool has_model(const std::filesystem::path& folder);
// The newest model in the folder. One that is damaged counts as none: it can be learnt again.
Result<CorpusGeneration> newest_model(const std::filesystem::path& folder);

// Is it worth learning anew with so many documents? First with 32, then whenever there are half as
// many again as the model saw, from 50,000 on twice as many.
bool is_due(const CorpusGeneration& now, std::uint64_t documents);

// Learns from what is in the view, and puts the model into the folder; older ones go. An error of
// kFailedPrecondition if the documents have too few words in common.
Result<CorpusGeneration> learn(const index::ShardView& view, const std::string& language,
                               const CorpusGeneration& now, const std::filesystem::path& folder);

}  // namespace kin::search
