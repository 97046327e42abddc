#include "dedup/scan/contains.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/bytes.h"
#include "base/hash.h"
#include "data/dataset.h"
#include "dedup/record_text.h"
#include "dedup/spill/budget.h"
#include "dedup/spill/long_texts.h"
#include "text/words.h"

namespace kin::dedup {
namespace {

sketch::ShingleOptions shingles_of(std::size_t words, text::Normalization normalization) {
  return {.unit = sketch::ShingleOptions::Unit::kWord,
          .size = static_cast<std::uint32_t>(words),
          .normalization = normalization};
}

// The memory of an index of references with this many bytes and words, including that used while it
// is made: their texts as they are and normalised, and tables by reference and by run of words.
// Each matcher has tables too; the memory is enough for at least kMatchers of them.
struct IndexSize {
  std::uint64_t references = 0;
  std::uint64_t bytes = 0;
  std::uint64_t words = 0;

  static constexpr std::uint64_t kMatchers = 16;

  std::uint64_t memory() const {
    constexpr std::uint64_t kReference = 400;
    // The hash of a run, in the order of the text and sorted; its place, its number, how many
    // references have it, and a part of the index of hashes. Postings take the memory of hashes.
    constexpr std::uint64_t kWord = 2 * 8 + 3 * 4 + 2;
    return references * kReference + 2 * bytes + kWord * words + for_matchers();
  }
  std::uint64_t for_matchers() const {
    return kMatchers * (2 * sizeof(std::uint32_t) * references + words / 8) + 4 * words;
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
  dataset_options.longest_record = scan_room(options, {}, own, 1) / kRecordCopies;
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
  // Runs of words are numbered with 32 bits.
  if (references.size.words > std::numeric_limits<std::uint32_t>::max())
    return Error{
        Code::kInvalidArgument,
        fmt::format("--against: {} words are too many for --contains (split the references "
                    "into parts of 4 billion words, and run once for each)",
                    references.size.words)};
  KIN_RETURN_IF_ERROR(check(references.size.memory()));
  std::unique_ptr<ContainIndex> index = make(options, std::move(references.texts));
  index->memory_ = references.size.memory();
  index->matcher_memory_ = references.size.for_matchers();
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
  index->add_all(index->normalize_texts());
  return index;
}

// Normalises each text. Gives the number of the first reference with the same normalised text, for
// each: the others keep nothing, as that one comes first.
std::vector<std::uint32_t> ContainIndex::normalize_texts() {
  normalized_.resize(texts_.size());
  std::vector<std::pair<std::uint64_t, std::uint32_t>> by_hash(texts_.size());
  for (std::uint32_t number = 0; number < texts_.size(); ++number) {
    text::normalize(texts_[number].text, normalization_, normalized_[number]);
    by_hash[number] = {hash64(normalized_[number]), number};
  }
  std::sort(by_hash.begin(), by_hash.end());
  std::vector<std::uint32_t> first_with_text(texts_.size());
  for (std::size_t i = 0, first = 0; i < by_hash.size(); ++i) {
    if (by_hash[i].first != by_hash[first].first) first = i;
    const std::uint32_t number = by_hash[i].second;
    const std::uint32_t earlier = by_hash[first].second;
    const bool same = number != earlier && normalized_[number] == normalized_[earlier];
    first_with_text[number] = same ? earlier : number;
    if (same) normalized_[number] = std::string();
  }
  return first_with_text;
}

void ContainIndex::add_all(const std::vector<std::uint32_t>& first_with_text) {
  sketch::Shingler shingler(shingles_of(words_, normalization_));
  std::size_t words = 0;
  for (const std::string& text : normalized_) words += text_units(text, shingler.options());
  grams_of_length(words_).reserve(words);
  std::vector<std::size_t> lengths(texts_.size());
  for (std::uint32_t number = 0; number < texts_.size(); ++number) {
    const std::uint32_t first = first_with_text[number];
    lengths[number] = first == number ? add(number, shingler) : lengths[first];
    without_words_ += lengths[number] == 0 ? 1 : 0;
    short_ones_ += lengths[number] > 0 && lengths[number] < words_ ? 1 : 0;
  }
  std::erase_if(grams_, [](const ReferenceGrams& part) { return part.references() == 0; });
  for (ReferenceGrams& part : grams_) part.finish();
}

// The length of its runs, in words; 0 if it has no words.
std::size_t ContainIndex::add(std::uint32_t number, sketch::Shingler& shingler) {
  const std::string& text = normalized_[number];
  const std::span<const std::uint64_t> hashes = shingler.shingles(text);
  std::size_t length = hashes.empty() ? 0 : words_;
  if (hashes.size() == 1) {
    // The hash of a run of words_ words, or of all words if there are fewer.
    std::vector<std::string_view> words;
    text::split_words(text, normalization_, words);
    length = std::min(length, words.size());
  }
  if (length > 0) grams_of_length(length).add(number, hashes);
  return length;
}

ReferenceGrams& ContainIndex::grams_of_length(std::size_t length) {
  for (ReferenceGrams& part : grams_)
    if (part.length() == length) return part;
  return grams_.emplace_back(length, share_);
}

int ContainIndex::most_matchers() const {
  // The working memory of a thread has room for small tables.
  constexpr std::uint64_t kSmall = 2 << 20;
  std::uint64_t each = 0;
  for (const ReferenceGrams& part : grams_) each += ReferenceGrams::Search::memory(part);
  if (each <= kSmall) return std::numeric_limits<int>::max();
  return static_cast<int>(std::max(matcher_memory_ / each, IndexSize::kMatchers));
}
ContainIndex::Matcher::Matcher(const ContainIndex& index) : index_(index) {
  for (const ReferenceGrams& grams : index.grams_) {
    parts_.push_back(
        Part{.grams = grams,
             .shingler = sketch::Shingler(shingles_of(grams.length(), index.normalization_)),
             .search = ReferenceGrams::Search(grams)});
  }
}

void ContainIndex::Matcher::forget() {
  for (Part& part : parts_) {
    part.search.forget();
    part.shingler = sketch::Shingler(part.shingler.options());
  }
  normalized_ = std::string();
  words_ = {};
  is_split_ = false;
}

std::optional<ContainIndex::Found> ContainIndex::Matcher::find(std::string_view text) {
  is_split_ = false;
  std::optional<Found> best;
  for (Part& part : parts_) {
    find_in(part, text, best);
    // Memory for one long text is not kept for each length of runs.
    if (text.size() > kShortText) part.shingler = sketch::Shingler(part.shingler.options());
  }
  return best;
}

// Replaces `best` by a reference that comes before it.
void ContainIndex::Matcher::find_in(Part& part, std::string_view text, std::optional<Found>& best) {
  using Claim = ReferenceGrams::Claim;
  std::optional<Claim> least;
  if (best) least = Claim{.share = best->share, .number = best->reference};
  if (least && !Claim{.share = 1, .number = part.grams.first_number()}.beats(*least)) return;
  const std::span<const std::uint64_t> hashes = part.shingler.shingles(text);
  part.search.begin(hashes);
  while (const std::optional<Claim> claim = part.search.best(least)) {
    split(text);
    std::optional<Found> found = compare(part.grams, claim->number, hashes);
    const bool is_right = found && found->share == claim->share;
    if (found) {
      const Claim confirmed{.share = found->share, .number = found->reference};
      if (!least || confirmed.beats(*least)) {
        least = confirmed;
        best = std::move(found);
      }
    }
    if (is_right) return;
    part.search.refute(claim->number);
  }
}

void ContainIndex::Matcher::split(std::string_view text) {
  if (std::exchange(is_split_, true)) return;
  text::normalize(text, index_.normalization_, normalized_);
  text::split_words(normalized_, index_.normalization_, words_);
}

// `hashes` are those of the text's runs of words.
std::optional<ContainIndex::Found> ContainIndex::Matcher::compare(
    const ReferenceGrams& grams, std::uint32_t reference, std::span<const std::uint64_t> hashes) {
  if (words_.size() < grams.length()) return {};
  std::vector<std::string_view> words;
  text::split_words(index_.normalized_[reference], index_.normalization_, words);
  const std::vector<ReferenceGrams::Place> places = grams.grams_of(reference);
  // Most runs of a long text are not in the reference.
  FingerprintFilter filter(places.size() * 2 + 64);
  for (const ReferenceGrams::Place& place : places) filter.insert(grams.hash_of(place.gram));
  const auto length = static_cast<std::ptrdiff_t>(grams.length());
  // The number of the reference's run that the text has here.
  const auto run_at = [&](std::size_t place) -> std::optional<std::size_t> {
    if (!filter.may_contain(hashes[place])) return {};
    const auto gram = grams.find(hashes[place]);
    if (!gram) return {};
    const auto at = std::ranges::lower_bound(places, *gram, {}, &ReferenceGrams::Place::gram);
    if (at == places.end() || at->gram != *gram) return {};
    const auto theirs = words.begin() + at->word;
    if (!std::equal(theirs, theirs + length, words_.begin() + static_cast<std::ptrdiff_t>(place)))
      return {};
    return static_cast<std::size_t>(at - places.begin());
  };
  std::vector<bool> met(places.size());
  std::size_t count = 0;
  std::size_t run = 0;      // runs of words in a row that the reference has
  std::size_t longest = 0;  // of them, and where they end
  std::size_t longest_end = 0;
  for (std::size_t place = 0; place < hashes.size(); ++place) {
    const std::optional<std::size_t> number = run_at(place);
    run = number ? run + 1 : 0;
    if (run > longest) {
      longest = run;
      longest_end = place + 1;
    }
    if (!number || met[*number]) continue;
    met[*number] = true;
    ++count;
  }
  if (count < grams.enough_of(places.size())) return {};
  return Found{.reference = reference,
               .share = static_cast<double>(count) / static_cast<double>(places.size()),
               .passage = passage_at(longest_end - longest, longest + grams.length() - 1)};
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
