#include "search/vectors/corpus_vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/file.h"
#include "search/vectors/embedder_source.h"

namespace kin::search {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kFirst = 32;
constexpr std::uint64_t kMany = 50'000;
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

}  // namespace

bool has_model(const fs::path& folder) {
  return !numbers_in(folder).empty();
}

Result<CorpusGeneration> newest_model(const fs::path& folder) {
  const std::vector<std::uint64_t> numbers = numbers_in(folder);
  CorpusGeneration newest{.number = numbers.empty() ? 0 : numbers.back()};
  if (newest.number == 0) return newest;
  KIN_TRY(const std::string bytes, read_file(path_of(folder, newest.number)));
  if (auto model = embed::CorpusModel::decode(bytes)) newest.model = std::move(*model);
  return newest;
}

bool is_due(const CorpusGeneration& now, std::uint64_t documents) {
  if (now.model == nullptr) return documents >= kFirst;
  const std::uint64_t seen = now.model->documents();
  return documents >= (documents > kMany ? 2 * seen : seen + seen / 2);
}

Result<CorpusGeneration> learn(const index::ShardView& view, const std::string& language,
                               const CorpusGeneration& now, const fs::path& folder) {
  KIN_TRY(const embed::CorpusSample sample, sample_of(view.truth(), language));
  KIN_TRY(auto model, embed::train_corpus_model(sample));
  const CorpusGeneration next{.number = now.number + 1, .model = std::move(model)};
  KIN_RETURN_IF_ERROR(write_file_atomically(path_of(folder, next.number), next.model->encode()));
  for (const std::uint64_t number : numbers_in(folder)) {
    std::error_code ignored;
    if (number < next.number) fs::remove(path_of(folder, number), ignored);
  }
  return next;
}

}  // namespace kin::search
