#include "dedup/scan/contains.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "base/bytes.h"
#include "data/dataset.h"
#include "dedup/record_text.h"
#include "dedup/spill/budget.h"
#include "dedup/spill/long_texts.h"
#include "sketch/jaccard.h"
#include "text/words.h"

namespace kin::dedup {
namespace {

// The number of `count` runs of words that is enough, rounded as a share of whole numbers: 0.8 of 5
// is 4.
std::size_t enough_of(std::size_t count, double share) {
  return static_cast<std::size_t>(std::ceil(static_cast<double>(count) * share - 1e-9));
}

sketch::ShingleOptions shingles_of(std::size_t words, text::Normalization normalization) {
  return {.unit = sketch::ShingleOptions::Unit::kWord,
          .size = static_cast<std::uint32_t>(words),
          .normalization = normalization};
}

// The memory of an index of references with this many bytes and words, including that used while it
// is made: their texts as they are and normalised; for every run of words its hash and place, an
// entry of the index, and a hash to count it by.
struct IndexSize {
  std::uint64_t references = 0;
  std::uint64_t bytes = 0;
  std::uint64_t words = 0;

  std::uint64_t memory() const {
    constexpr std::uint64_t kReference = 400;
    constexpr std::uint64_t kWord = 12 + 16 + 8;
    return references * kReference + 2 * bytes + kWord * words;
  }
};

struct References {
  std::vector<ReferenceText> texts;
  IndexSize size;
};

// Reads all records of `inputs`, in order. References that do not fit, or all if they are only to
// be counted, are not held.
Result<References> read_references(const DedupOptions& options, const std::filesystem::path& folder,
                                   StageWork* work, bool hold = true) {
  KIN_TRY(std::vector<data::Input> inputs,
          data::find_inputs(options.against, folder, nullptr, options.remote));
  const std::uint64_t own = options.max_memory - reserved_memory(options, options.max_memory);
  const Budget budget(own);
  const auto words = shingles_of(options.contains_words, options.shingles.normalization);
  References found;
  std::uint64_t on_disk = 0;
  for (const data::Input& input : inputs) on_disk += input.bytes;
  next_phase(work, on_disk);
  data::DatasetOptions dataset_options;
  dataset_options.temporary_folder = folder;
  dataset_options.memory_bytes = budget.reader;
  dataset_options.longest_record = scan_room(own, 1) / kRecordCopies;
  KIN_TRY(const auto dataset, data::Dataset::open(std::move(inputs), dataset_options));
  data::ScanOptions scan;
  scan.columns = options.fields;
  scan.columns.push_back(options.id_column.value_or("id"));
  scan.optional_columns = scan.columns.size();
  scan.on_error = options.on_error;
  std::vector<ReferenceText>& texts = found.texts;
  std::string joined;
  const auto end = dataset->scan(scan, [&](const data::Batch& batch, int) -> Status {
    count_work(work, batch.bytes());
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto text = text_of(batch, i, options.fields.size(), joined);
      if (!text) continue;
      ++found.size.references;
      found.size.bytes += text->size();
      found.size.words += text_units(*text, words);
      // References that do not fit are only counted, to name a sufficient budget.
      if (!hold || found.size.memory() > own) {
        texts = {};
        continue;
      }
      ReferenceText reference;
      reference.file = dataset->inputs()[batch.file()].shown_as;
      reference.row = row_number(batch.row(i));
      if (const auto id = batch.value(options.fields.size(), i)) reference.id = std::string(*id);
      reference.text = std::string(*text);
      texts.push_back(std::move(reference));
    }
    return Done{};
  });
  if (!end && end.error().code == Code::kResourceExhausted)
    KIN_RETURN_IF_ERROR(check_needs(options, {.longest_record = dataset->longest_record()}));
  if (!end) return end.error();
  if (!end->found.empty() && !end->found.front()) {
    return Error{
        Code::kNotFound,
        fmt::format("{}: no reference has a field \"{}\" (references need the fields of the "
                    "inputs)",
                    dataset->inputs().front().shown_as, options.fields.front())};
  }
  std::sort(texts.begin(), texts.end(),
            [](const ReferenceText& a, const ReferenceText& b) { return a.row < b.row; });
  return found;
}

// As std::lower_bound, and faster if the place is near `at`, as it is between lists of like length.
template <typename At>
At first_not_below(At at, At end, std::uint64_t hash) {
  std::ptrdiff_t step = 1;
  for (; step < end - at && at[step] < hash; step *= 2) at += step;
  return std::lower_bound(at, at + std::min(step, end - at), hash);
}

}  // namespace

std::string ContainEvidence::encode() const {
  std::string bytes;
  append_le(bytes, reference);
  append_le(bytes, share);
  return bytes + passage;
}

Result<ContainEvidence> ContainEvidence::decode(std::string_view bytes) {
  ContainEvidence evidence;
  ByteReader reader(bytes);
  evidence.reference = reader.read<std::uint32_t>();
  evidence.share = reader.read<double>();
  evidence.passage = std::string(reader.rest());
  if (reader.ok()) return evidence;
  return Error{Code::kDataLoss, "the evidence of a contained reference is damaged (run again)"};
}

ContainIndex::ContainIndex(const DedupOptions& options)
    : share_(*options.contains),
      words_(options.contains_words),
      normalization_(options.shingles.normalization) {}

Result<std::unique_ptr<ContainIndex>> ContainIndex::open(
    const DedupOptions& options, const std::filesystem::path& folder,
    const std::function<Status(std::uint64_t)>& check, StageWork* work) {
  KIN_TRY(References references, read_references(options, folder, work));
  KIN_RETURN_IF_ERROR(check(references.size.memory()));
  std::unique_ptr<ContainIndex> index = make(options, std::move(references.texts));
  index->memory_ = references.size.memory();
  return index;
}

Result<std::uint64_t> ContainIndex::measure(const DedupOptions& options,
                                            const std::filesystem::path& folder) {
  KIN_TRY(const References references, read_references(options, folder, nullptr, false));
  return references.size.memory();
}

std::unique_ptr<ContainIndex> ContainIndex::make(const DedupOptions& options,
                                                 std::vector<ReferenceText> texts) {
  std::unique_ptr<ContainIndex> index(new ContainIndex(options));
  index->texts_ = std::move(texts);
  index->grams_.resize(index->texts_.size());
  for (std::uint32_t number = 0; number < index->texts_.size(); ++number) index->add(number);
  index->index_rarest();
  return index;
}

void ContainIndex::add(std::uint32_t number) {
  Grams& grams = grams_[number];
  text::normalize(texts_[number].text, normalization_, grams.normalized);
  std::vector<std::string_view> words;
  text::split_words(grams.normalized, normalization_, words);
  if (words.empty()) {
    ++without_words_;
    return;
  }
  short_ones_ += words.size() < words_ ? 1 : 0;
  grams.length = std::min<std::size_t>(words_, words.size());
  auto at = std::find(lengths_.begin(), lengths_.end(), grams.length);
  if (at == lengths_.end()) at = lengths_.insert(at, grams.length);
  grams.length_number = static_cast<std::size_t>(at - lengths_.begin());
  sketch::Shingler shingler(shingles_of(grams.length, normalization_));
  std::vector<std::pair<std::uint64_t, std::uint32_t>> all;
  for (const std::uint64_t hash : shingler.shingles(grams.normalized))
    all.emplace_back(hash, static_cast<std::uint32_t>(all.size()));
  std::sort(all.begin(), all.end());
  for (const auto& [hash, place] : all) {
    if (!grams.hashes.empty() && grams.hashes.back() == hash) continue;
    grams.hashes.push_back(hash);
    grams.places.push_back(place);
  }
}

// A record that has enough of the runs of a reference misses so few that it has one of its rarest:
// only these are searched for, so that a run that many references share costs nothing.
void ContainIndex::index_rarest() {
  std::vector<std::uint64_t> all;
  std::size_t count = 0;
  for (const Grams& grams : grams_) count += grams.hashes.size();
  all.reserve(count);
  for (const Grams& grams : grams_) all.insert(all.end(), grams.hashes.begin(), grams.hashes.end());
  std::sort(all.begin(), all.end());
  const auto uses = [&](std::uint64_t hash) {
    const auto [begin, end] = std::equal_range(all.begin(), all.end(), hash);
    return end - begin;
  };
  const auto looked_for = [&](const Grams& grams) {
    const std::size_t missing = grams.hashes.size() - enough_of(grams.hashes.size(), share_);
    return std::min(grams.hashes.size(), missing + 1);
  };
  std::size_t entries = 0;
  for (const Grams& grams : grams_) entries += looked_for(grams);
  postings_.reserve(entries);
  std::vector<std::pair<std::ptrdiff_t, std::uint64_t>> rarest;
  for (std::uint32_t number = 0; number < grams_.size(); ++number) {
    rarest.clear();
    for (const std::uint64_t hash : grams_[number].hashes) rarest.emplace_back(uses(hash), hash);
    std::sort(rarest.begin(), rarest.end());
    rarest.resize(looked_for(grams_[number]));
    for (const auto& [used, hash] : rarest) postings_.push_back({hash, number});
  }
  std::sort(postings_.begin(), postings_.end(), [](const Posting& a, const Posting& b) {
    return std::pair(a.hash, a.reference) < std::pair(b.hash, b.reference);
  });
  filter_ = FingerprintFilter(postings_.size() * 2 + 64);
  for (const Posting& posting : postings_) filter_.insert(posting.hash);
}

ContainIndex::Matcher::Matcher(const ContainIndex& index) : index_(index) {
  for (const std::size_t length : index.lengths_)
    shinglers_.emplace_back(shingles_of(length, index.normalization_));
}

std::optional<ContainIndex::Found> ContainIndex::Matcher::find(std::string_view text) {
  candidates_.clear();
  for (std::size_t length = 0; length < shinglers_.size(); ++length) add_candidates(length, text);
  if (candidates_.empty()) return {};
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return std::pair(-a.share, a.reference) < std::pair(-b.share, b.reference);
  });
  text::normalize(text, index_.normalization_, normalized_);
  text::split_words(normalized_, index_.normalization_, words_);
  std::optional<Found> best;
  // A text may contain thousands of references: those that cannot be the best are not compared.
  const auto beats = [&](double share, std::uint32_t reference) {
    return !best || std::pair(-share, reference) < std::pair(-best->share, best->reference);
  };
  for (const Candidate& candidate : candidates_) {
    if (!beats(candidate.share, candidate.reference)) continue;
    std::optional<Found> found = compare(candidate.reference, text);
    if (found && beats(found->share, found->reference)) best = std::move(found);
  }
  return best;
}

void ContainIndex::Matcher::add_candidates(std::size_t length, std::string_view text) {
  const std::vector<Posting>& postings = index_.postings_;
  const auto shingles = shinglers_[length].shingles(text);
  met_.clear();
  for (const std::uint64_t hash : shingles) {
    if (!index_.filter_.may_contain(hash)) continue;
    auto at = std::lower_bound(
        postings.begin(), postings.end(), hash,
        [](const Posting& posting, std::uint64_t wanted) { return posting.hash < wanted; });
    for (; at != postings.end() && at->hash == hash; ++at) {
      if (index_.grams_[at->reference].length_number == length) met_.push_back(at->reference);
    }
  }
  if (met_.empty()) return;
  std::sort(met_.begin(), met_.end());
  met_.erase(std::unique(met_.begin(), met_.end()), met_.end());
  sorted_.assign(shingles.begin(), shingles.end());
  sketch::sort_unique(sorted_);
  for (const std::uint32_t reference : met_) {
    if (const auto share = share_in_sorted(index_.grams_[reference]))
      candidates_.push_back({*share, reference});
  }
}

// The share of a reference's runs whose hashes the text has; nothing if it is too small. A long
// text shares a run with very many references, most of which lack too many others.
std::optional<double> ContainIndex::Matcher::share_in_sorted(const Grams& grams) const {
  const std::size_t all = grams.hashes.size();
  const std::size_t may_miss = all - enough_of(all, index_.share_);
  std::size_t missing = 0;
  auto at = sorted_.begin();
  for (const std::uint64_t hash : grams.hashes) {
    at = first_not_below(at, sorted_.end(), hash);
    if (at != sorted_.end() && *at == hash) continue;
    if (++missing > may_miss) return {};
  }
  return static_cast<double>(all - missing) / static_cast<double>(all);
}

std::optional<ContainIndex::Found> ContainIndex::Matcher::compare(std::uint32_t reference,
                                                                  std::string_view text) {
  const Grams& grams = index_.grams_[reference];
  if (words_.size() < grams.length) return {};
  std::vector<std::string_view> words;
  text::split_words(grams.normalized, index_.normalization_, words);
  std::vector<bool> met(grams.hashes.size());
  std::size_t count = 0;
  std::size_t run = 0;      // runs of words in a row that the reference has
  std::size_t longest = 0;  // of them, and where they end
  std::size_t longest_end = 0;
  std::size_t place = 0;
  for (const std::uint64_t hash : shinglers_[grams.length_number].shingles(text)) {
    const auto at = std::lower_bound(grams.hashes.begin(), grams.hashes.end(), hash);
    const auto number = static_cast<std::size_t>(at - grams.hashes.begin());
    const bool same =
        at != grams.hashes.end() && *at == hash &&
        std::equal(words.begin() + grams.places[number],
                   words.begin() + grams.places[number] + static_cast<std::ptrdiff_t>(grams.length),
                   words_.begin() + static_cast<std::ptrdiff_t>(place));
    ++place;
    run = same ? run + 1 : 0;
    if (run > longest) {
      longest = run;
      longest_end = place;
    }
    if (!same || met[number]) continue;
    met[number] = true;
    ++count;
  }
  if (count == 0 || count < enough_of(grams.hashes.size(), index_.share_)) return {};
  return Found{.reference = reference,
               .share = static_cast<double>(count) / static_cast<double>(grams.hashes.size()),
               .passage = passage_at(longest_end - longest, longest + grams.length - 1)};
}

std::string ContainIndex::Matcher::passage_at(std::size_t first, std::size_t words) const {
  constexpr std::size_t kMostWords = 100;
  std::string passage;
  for (std::size_t i = first; i < first + std::min(words, kMostWords); ++i) {
    if (i > first) passage += ' ';
    passage += words_[i];
  }
  return passage;
}

}  // namespace kin::dedup
