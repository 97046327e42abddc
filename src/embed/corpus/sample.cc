#include "embed/corpus/sample.h"

#include <algorithm>

#include "embed/files/terms.h"

namespace kin::embed {

struct CorpusSample::Reading {
  std::unique_ptr<internal::TermReader> reader;
  std::vector<std::uint64_t> keys;
};

CorpusSample::CorpusSample(SampleOptions options, std::unique_ptr<Reading> reading)
    : options_(std::move(options)), reading_(std::move(reading)), random_(options_.seed) {}
CorpusSample::CorpusSample(CorpusSample&&) noexcept = default;
CorpusSample& CorpusSample::operator=(CorpusSample&&) noexcept = default;
CorpusSample::~CorpusSample() = default;

Result<CorpusSample> CorpusSample::create(SampleOptions options) {
  auto reading = std::make_unique<Reading>();
  KIN_TRY(reading->reader, internal::TermReader::create(options.language));
  return CorpusSample(std::move(options), std::move(reading));
}

void CorpusSample::add(std::string_view text) {
  std::vector<std::uint64_t>& keys = reading_->keys;
  reading_->reader->read(text, keys);
  ++seen_;
  if (keys.empty()) return;
  ++with_words_;
  // Reservoir sampling: document n replaces a random one of the kept with probability most / n, so
  // that all documents have the same chance to be kept.
  std::size_t place = documents_.size();
  if (place == options_.most_documents) {
    place = random_.below(with_words_);
    if (place >= documents_.size()) return;
  } else {
    documents_.emplace_back();
  }
  std::sort(keys.begin(), keys.end());
  Document document;
  for (const std::uint64_t key : keys) {
    if (document.empty() || document.back().key != key) document.push_back({key, 0});
    ++document.back().count;
  }
  document.shrink_to_fit();  // it stays in memory until training
  documents_[place] = std::move(document);
}

}  // namespace kin::embed
