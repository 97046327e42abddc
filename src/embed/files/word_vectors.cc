#include "embed/files/word_vectors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <ranges>

#include "base/bytes.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/huge_vector.h"
#include "embed/files/model_file.h"
#include "embed/files/terms.h"
#include "embed/linear/dense.h"

namespace kin::embed {
namespace {

using internal::ModelFile;

constexpr ModelFile kFile{.magic = "KWVE", .version = 1, .what = "file of word vectors"};
// Part of the model's hash. Changes whenever the same file gives other vectors: 1 since Eigen
// computes the common directions.
constexpr std::uint64_t kRules = 1;
constexpr float kSteps = 127;

// Every text contains a component that all texts share and that distinguishes none of them (Mu,
// Viswanath 2018): the mean of running text, and the directions in which frequent words differ
// most, one per kDimensionsOfADirection. Learnt from the most frequent words, if there are enough.
constexpr std::uint32_t kFrequentWords = 10'000;
constexpr std::size_t kDimensionsOfADirection = 10;
constexpr std::size_t kWordsOfADimension = 10;
// Above this scale, sums of squares could overflow a float.
constexpr float kLargestScale = 1e6F;
constexpr std::size_t kCacheLine = 64;

// The weight of a word is a / (a + p) where p is how often it occurs (Arora, Liang, Ma 2017); by
// Zipf's law p is about 1 / (10 * (rank + 1)) in a vocabulary of this size.
constexpr double kA = 1e-4;
constexpr double kZipf = 0.1;

// The columns of the file, in its bytes. Sorted by key.
struct Columns {
  std::uint32_t dimension = 0;
  std::uint32_t count = 0;
  const char* keys = nullptr;
  const char* ranks = nullptr;
  const char* scales = nullptr;
  const std::int8_t* rows = nullptr;

  std::uint64_t key(std::size_t i) const { return load_le<std::uint64_t>(keys + i * 8); }
  std::uint32_t rank(std::size_t i) const { return load_le<std::uint32_t>(ranks + i * 4); }
  float scale(std::size_t i) const { return load_le<float>(scales + i * 4); }
  const std::int8_t* row(std::size_t i) const { return rows + i * dimension; }

  double frequency(std::size_t i) const { return kZipf / (static_cast<double>(rank(i)) + 1); }
  double weight(std::size_t i) const { return kA / (kA + frequency(i)); }
  // to += factor * the vector of word i.
  void add(std::size_t i, double factor, std::span<float> to) const {
    internal::add_scaled(row(i), static_cast<float>(factor * scale(i)), to);
  }
  // Begins to load what add() and weight() read of word i.
  void prefetch(std::size_t i) const {
    __builtin_prefetch(ranks + i * 4);
    __builtin_prefetch(scales + i * 4);
    for (std::size_t byte = 0; byte < dimension; byte += kCacheLine)
      __builtin_prefetch(row(i) + byte);
    // A row may end in one cache line more.
    __builtin_prefetch(row(i) + dimension - 1);
  }
};

// Where the keys with the same first bits begin. Keys are hashes, so a few are between two of the
// places, and a look-up costs two cache misses instead of one for each halving.
class Places {
 public:
  explicit Places(const Columns& columns)
      : shift_(kKeyBits - std::max(1, static_cast<int>(std::bit_width(columns.count)) - 1)),
        starts_((std::size_t{1} << (kKeyBits - shift_)) + 1, columns.count) {
    for (std::size_t i = columns.count; i-- > 0;)
      starts_[columns.key(i) >> shift_] = static_cast<std::uint32_t>(i);
    // A place without keys begins where the next one does.
    for (std::size_t place = starts_.size() - 1; place-- > 0;)
      starts_[place] = std::min(starts_[place], starts_[place + 1]);
  }

  std::optional<std::size_t> find(const Columns& columns, std::uint64_t wanted) const {
    const std::size_t place = wanted >> shift_;
    const auto within =
        std::views::iota(std::size_t{starts_[place]}, std::size_t{starts_[place + 1]});
    const auto found =
        std::ranges::lower_bound(within, wanted, {}, [&](auto i) { return columns.key(i); });
    if (found == within.end() || columns.key(*found) != wanted) return std::nullopt;
    return *found;
  }

 private:
  static constexpr int kKeyBits = 64;

  int shift_;
  HugeVector<std::uint32_t> starts_;
};

Status check(const Columns& columns) {
  for (std::size_t i = 0; i < columns.count; ++i) {
    if (i > 0 && columns.key(i - 1) >= columns.key(i))
      return kFile.damaged("its words are not in order");
    if (!(columns.scale(i) > 0 && columns.scale(i) <= kLargestScale))
      return kFile.damaged("a row's scale is out of bounds");
  }
  return Done{};
}

Result<Columns> columns_of(std::string_view bytes) {
  KIN_TRY(const std::string_view body, kFile.open(bytes));
  ByteReader reader(body);
  Columns out;
  out.dimension = reader.read<std::uint32_t>();
  out.count = reader.read<std::uint32_t>();
  if (!reader.ok() || out.dimension == 0 || out.dimension > kMostDimensions || out.count == 0)
    return kFile.damaged("its header is not valid");
  const std::uint64_t a_word = 8 + 4 + 4 + std::uint64_t{out.dimension};
  if (reader.rest().size() != out.count * a_word)
    return kFile.damaged("its length does not fit its header");
  out.keys = reader.rest().data();
  out.ranks = out.keys + std::size_t{out.count} * 8;
  out.scales = out.ranks + std::size_t{out.count} * 4;
  out.rows = reinterpret_cast<const std::int8_t*>(out.scales + std::size_t{out.count} * 4);
  KIN_RETURN_IF_ERROR(check(out));
  return out;
}

// The component that all texts share: a mean, and the directions in which most texts vary.
struct Common {
  std::vector<float> mean;
  std::vector<std::vector<float>> directions;

  // Subtracts it from a sum of word vectors with this total weight.
  void take_out(double weight, std::vector<float>& sum) const {
    if (mean.empty()) return;
    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] -= static_cast<float>(weight) * mean[j];
    for (const std::vector<float>& direction : directions) {
      float share = 0;
      for (std::size_t j = 0; j < sum.size(); ++j) share += direction[j] * sum[j];
      for (std::size_t j = 0; j < sum.size(); ++j) sum[j] -= share * direction[j];
    }
  }
};

// The rows of the words minus their mean, each times the root of its weight.
internal::Matrix spread_of(const Columns& columns, const std::vector<std::size_t>& words,
                           const std::vector<float>& mean) {
  internal::Matrix out(words.size(), columns.dimension);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const double root = std::sqrt(columns.frequency(words[i]) * columns.weight(words[i]));
    float* const row = out.row(i);
    columns.add(words[i], root, {row, columns.dimension});
    for (std::size_t j = 0; j < columns.dimension; ++j)
      row[j] -= static_cast<float>(root) * mean[j];
  }
  return out;
}

Common common_of(const Columns& columns) {
  std::vector<std::size_t> words;
  for (std::size_t i = 0; i < columns.count; ++i) {
    if (columns.rank(i) < kFrequentWords) words.push_back(i);
  }
  // Directions computed from few words would be noise: then nothing is subtracted.
  if (words.size() < columns.dimension * kWordsOfADimension) return {};
  Common out{.mean = std::vector<float>(columns.dimension), .directions = {}};
  double total = 0;
  for (const std::size_t word : words) total += columns.frequency(word) * columns.weight(word);
  for (const std::size_t word : words)
    columns.add(word, columns.frequency(word) * columns.weight(word) / total, out.mean);
  const internal::EigenPairs found =
      internal::eigen(internal::gram(spread_of(columns, words, out.mean), 1));
  for (std::size_t i = 0; i < columns.dimension / kDimensionsOfADirection; ++i) {
    const double* const row = &found.vectors.values[i * columns.dimension];
    out.directions.emplace_back(row, row + columns.dimension);
  }
  return out;
}

class WordVectors final : public Embedder {
 public:
  // `columns` point into the bytes, which are on the heap so that they stay where they are.
  WordVectors(std::unique_ptr<const std::string> bytes, const Columns& columns,
              std::unique_ptr<internal::TermReaders> readers)
      : bytes_(std::move(bytes)),
        columns_(columns),
        places_(columns),
        common_(common_of(columns)),
        readers_(std::move(readers)),
        info_{.kind = EmbedderKind::kWords,
              .dimension = columns.dimension,
              .model_hash = hash64(*bytes_, kRules)} {}

  const EmbedderInfo& info() const override { return info_; }

  Result<std::vector<std::vector<float>>> embed(
      std::span<const std::string_view> texts) const override {
    return readers_->embed(texts, [this](auto& keys) { return vector_of(keys); });
  }

 private:
  // `keys` becomes the places of the known words: all loads begin before the first sum needs one.
  std::vector<float> vector_of(std::vector<std::uint64_t>& keys) const {
    std::vector<float> sum(columns_.dimension);
    double total = 0;
    std::size_t known = 0;
    for (const std::uint64_t key : keys) {
      const auto word = places_.find(columns_, key);
      if (!word) continue;
      columns_.prefetch(*word);
      keys[known++] = *word;
    }
    keys.resize(known);
    for (const std::size_t word : keys) {
      const double weight = columns_.weight(word);
      columns_.add(word, weight, sum);
      total += weight;
    }
    if (total == 0) return {};  // no word is known
    common_.take_out(total, sum);
    if (!internal::normalise(sum)) return {};
    return sum;
  }

  std::unique_ptr<const std::string> bytes_;
  Columns columns_;
  Places places_;
  Common common_;
  std::unique_ptr<internal::TermReaders> readers_;
  EmbedderInfo info_;
};

struct Entry {
  std::uint64_t key;
  const WordVector* word;
};

std::vector<Entry> entries_of(const std::vector<WordVector>& words) {
  std::vector<Entry> out;
  for (const WordVector& word : words) out.push_back({internal::term_key(word.word), &word});
  // Stable, so that of two entries with one key the first given stays.
  std::stable_sort(out.begin(), out.end(),
                   [](const Entry& a, const Entry& b) { return a.key < b.key; });
  const auto end = std::unique(out.begin(), out.end(),
                               [](const Entry& a, const Entry& b) { return a.key == b.key; });
  out.erase(end, out.end());
  return out;
}

float scale_of(const std::vector<float>& values) {
  float most = 0;
  for (const float value : values) most = std::max(most, std::abs(value));
  return most > 0 ? most / kSteps : 1;
}

}  // namespace

std::string encode_word_vectors(const std::vector<WordVector>& words) {
  const std::vector<Entry> entries = entries_of(words);
  std::string out = kFile.begin();
  append_le(out, static_cast<std::uint32_t>(words.empty() ? 0 : words.front().values.size()));
  append_le(out, static_cast<std::uint32_t>(entries.size()));
  // Column by column, so that a look-up reads keys alone until it has found its word.
  for (const Entry& entry : entries) append_le(out, entry.key);
  for (const Entry& entry : entries) append_le(out, entry.word->rank);
  for (const Entry& entry : entries) append_le(out, scale_of(entry.word->values));
  for (const Entry& entry : entries) {
    const float scale = scale_of(entry.word->values);
    for (const float value : entry.word->values)
      append_le(out, static_cast<std::int8_t>(std::nearbyint(value / scale)));
  }
  ModelFile::seal(out);
  return out;
}

Result<std::shared_ptr<const Embedder>> decode_word_vectors(std::string bytes) {
  auto kept = std::make_unique<const std::string>(std::move(bytes));
  KIN_TRY(const Columns columns, columns_of(*kept));
  KIN_TRY(auto readers, internal::TermReaders::create("none"));
  return std::shared_ptr<const Embedder>(
      std::make_shared<WordVectors>(std::move(kept), columns, std::move(readers)));
}

Result<std::shared_ptr<const Embedder>> open_word_vectors(const std::filesystem::path& file) {
  KIN_TRY(std::string bytes, internal::read_model_file(file));
  auto opened = decode_word_vectors(std::move(bytes));
  if (!opened) return with_context(file.string(), opened.error());
  return opened;
}

}  // namespace kin::embed
