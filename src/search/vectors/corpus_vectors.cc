#include "search/vectors/corpus_vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/file.h"
#include "search/vectors/embedder_source.h"

namespace kin::search {
namespace {

namespace fs = std::filesystem;

// See has_grown(). Training on many documents takes long, so a large index waits for more of them.
constexpr std::uint64_t kFirst = 32;
constexpr std::uint64_t kMany = 50'000;
// When is_outdated() looks at documents, and at how many.
constexpr std::uint64_t kLeastNew = 32;
constexpr std::uint64_t kGrowthShare = 8;
constexpr std::uint64_t kCompared = 1'000;
// Below this share of unknown terms a model serves well, whatever the share among older documents.
constexpr double kLeastUnknown = 0.05;
constexpr double kUnknownFactor = 2;
constexpr std::string_view kBefore = "model-";
constexpr std::string_view kAfter = ".corpus";

fs::path path_of(const fs::path& folder, std::uint64_t number) {
  return folder / fmt::format("{}{}{}", kBefore, number, kAfter);
}

// The number in the name of a model's file; 0 for any other file.
std::uint64_t number_of(const fs::path& path) {
  const std::string name = path.filename().string();
  if (!name.starts_with(kBefore) || !name.ends_with(kAfter)) return 0;
  const char* end = name.data() + name.size() - kAfter.size();
  std::uint64_t number = 0;
  const auto [rest, problem] = std::from_chars(name.data() + kBefore.size(), end, number);
  return problem == std::errc() && rest == end ? number : 0;
}

std::vector<std::uint64_t> numbers_in(const fs::path& folder) {
  std::vector<std::uint64_t> numbers;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (const std::uint64_t number = number_of(entry.path()); number != 0)
      numbers.push_back(number);
  std::ranges::sort(numbers);
  return numbers;
}

Result<embed::CorpusSample> sample_of(const index::TruthView& truth, const std::string& language) {
  KIN_TRY(embed::CorpusSample sample, embed::CorpusSample::create({.language = language}));
  index::ScanRequest request{.want = {.vectors = false, .summaries = false}};
  while (true) {
    KIN_TRY(const index::ScanPage page, truth.scan(request));
    for (const index::StoredEntity& stored : page.entities)
      sample.add(embedded_text({stored.entity.title, stored.entity.text}));
    if (!page.next) return sample;
    request.after = page.next;
  }
}

// Texts of the documents numbered from `first` to below `last`.
Result<std::vector<std::string>> texts_between(const index::TruthView& truth, std::uint64_t first,
                                               std::uint64_t last) {
  std::vector<std::string> texts;
  index::ScanRequest request{.limit = kCompared, .want = {.vectors = false, .summaries = false}};
  // `after` is exclusive.
  if (first > 0) request.after = index::DocNumber{static_cast<std::uint32_t>(first - 1)};
  KIN_TRY(const index::ScanPage page, truth.scan(request));
  for (const index::StoredEntity& stored : page.entities) {
    if (static_cast<std::uint64_t>(stored.head.number) >= last) break;
    texts.push_back(embedded_text({stored.entity.title, stored.entity.text}));
  }
  return texts;
}

double unknown_share(const embed::CorpusModel& model, const std::vector<std::string>& texts) {
  return model.unknown_share(std::vector<std::string_view>(texts.begin(), texts.end()));
}

}  // namespace

bool has_model(const fs::path& folder) {
  return !numbers_in(folder).empty();
}

Result<CorpusGeneration> newest_model(const fs::path& folder) {
  const std::vector<std::uint64_t> numbers = numbers_in(folder);
  // The number of a damaged model counts, so that the next one gets a higher number.
  CorpusGeneration newest{.number = numbers.empty() ? 0 : numbers.back()};
  if (newest.number == 0) return newest;
  KIN_TRY(const std::string bytes, read_file(path_of(folder, newest.number)));
  if (auto model = embed::CorpusModel::decode(bytes)) newest.model = std::move(*model);
  return newest;
}

bool has_grown(const CorpusGeneration& now, std::uint64_t documents) {
  if (now.model == nullptr) return documents >= kFirst;
  const std::uint64_t seen = now.model->documents();
  return documents >= (documents > kMany ? 2 * seen : seen + seen / 2);
}

Result<bool> is_outdated(const CorpusGeneration& now, const index::TruthView& truth) {
  const index::Counters counters = truth.counters();
  if (now.model == nullptr) return false;
  const std::uint64_t seen = now.model->documents();
  if (counters.entities < seen + std::max(kLeastNew, seen / kGrowthShare)) return false;
  // Numbers are given out in order, so the newest documents have the last ones.
  const std::uint64_t added = std::min(counters.entities - seen, kCompared);
  const auto number = [&](std::uint64_t back) -> std::uint64_t {
    return counters.numbers > back ? counters.numbers - back : 0;
  };
  KIN_TRY(const auto newest, texts_between(truth, number(added), counters.numbers));
  KIN_TRY(const auto older, texts_between(truth, number(counters.entities - seen + kCompared),
                                          number(counters.entities - seen)));
  const double unknown = unknown_share(*now.model, newest);
  return unknown > kLeastUnknown && unknown > kUnknownFactor * unknown_share(*now.model, older);
}

Result<CorpusGeneration> learn(const index::ShardView& view, const std::string& language,
                               const CorpusGeneration& now, const fs::path& folder) {
  KIN_TRY(const embed::CorpusSample sample, sample_of(view.truth(), language));
  KIN_TRY(auto model, embed::train_corpus_model(sample));
  const CorpusGeneration next{.number = now.number + 1, .model = std::move(model)};
  // The new file is durable before the old one goes, so there is always one to open.
  KIN_RETURN_IF_ERROR(write_file_atomically(path_of(folder, next.number), next.model->encode()));
  for (const std::uint64_t number : numbers_in(folder)) {
    std::error_code ignored;
    if (number < next.number) fs::remove(path_of(folder, number), ignored);
  }
  return next;
}

}  // namespace kin::search
