// Vectors that an index learns from its own documents, and learns again as these change.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"
#include "embed/corpus_model.h"
#include "index/view.h"

namespace kin::search {

// A model and its number in the sequence of models that the index had. Each has its own file.
struct CorpusGeneration {
  std::uint64_t number = 0;  // 0: no model yet
  std::shared_ptr<const embed::CorpusModel> model = {};
};

bool has_model(const std::filesystem::path& folder);
// The newest model in the folder. A damaged one counts as none, since it can be learnt again.
Result<CorpusGeneration> newest_model(const std::filesystem::path& folder);

// True if there are enough documents to learn a first model (32), or enough new ones since the
// model was learnt: half as many again, or from 50,000 documents on as many again.
bool has_grown(const CorpusGeneration& now, std::uint64_t documents);

// True if the newest documents are about another subject than the model: there are an eighth more
// documents than it saw, and at least 32 more, and the newest ones (at most 1,000) have twice as
// many unknown terms as the documents before them. On one subject, unseen documents have 1.1 to 1.8
// times as many unknown terms as seen ones, whatever the size of the model.
Result<bool> is_outdated(const CorpusGeneration& now, const index::TruthView& truth);

// Learns from the documents in the view and writes the model into the folder; older models are
// removed. kFailedPrecondition if the documents have too few words in common.
Result<CorpusGeneration> learn(const index::ShardView& view, const std::string& language,
                               const CorpusGeneration& now, const std::filesystem::path& folder);

}  // namespace kin::search
