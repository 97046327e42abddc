#include "bench/dedup/corpus.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json_writer.h"

namespace kin::bench {
namespace {

// Puts a line end in place of the space behind every full stop.
void break_lines(std::string& text) {
  for (std::size_t at = text.find(". "); at != std::string::npos; at = text.find(". ", at))
    text[at + 1] = '\n';
}

// The first `count` words of some prose.
std::vector<std::string> words_of(const Prose& prose, std::uint64_t seed, std::uint64_t count) {
  constexpr std::size_t kBytesOfWord = 16;  // more than words have on average
  Random random(mix64(seed + 3));
  std::string text;
  prose.append(random, 100 + count * kBytesOfWord, text);
  std::vector<std::string> words;
  for (std::string_view rest = text; words.size() < count && !rest.empty();)
    words.emplace_back(take_until(rest, " "));
  return words;
}

class Corpus {
 public:
  Corpus(const CorpusOptions& options, const Prose& prose)
      : options_(options),
        prose_(prose),
        template_(words_of(prose, options.seed, options.template_words)) {}

  std::string text(std::uint64_t record) const {
    // Each record is drawn by its number, so that none depends on those before it.
    Random random(mix64(options_.seed + 2) ^ record);
    const std::uint64_t kind = random.next();
    if (!is_duplicate(record)) return original(record);
    std::uint64_t of = random.below(record);
    // Copies are of originals alone. Record 0 is one, so this ends.
    while (is_duplicate(of)) of = of / 2;
    const std::string copied = original(of);
    // From one word in 500 to one in 25: similarities from 0.67 to 0.98.
    return kind % 2 == 0 ? copied : with_changed_words(copied, 25 + random.below(476), random);
  }

 private:
  bool is_duplicate(std::uint64_t record) const {
    if (record == 0) return false;
    return Random(mix64(options_.seed + 1) ^ record).unit() < options_.duplicates;
  }

  std::string original(std::uint64_t record) const {
    Random random(mix64(options_.seed) ^ record);
    if (!template_.empty()) return filled_template(random);
    std::string text;
    prose_.append(random, options_.bytes / 2 + random.below(options_.bytes + 1), text);
    if (options_.lines) break_lines(text);
    return text;
  }

  std::string filled_template(Random& random) const {
    constexpr std::uint64_t kNumbers = 1'000'000;
    const std::uint64_t words = template_.size();
    const std::uint64_t varying = std::min(options_.varying_words, words);
    std::string text;
    for (std::uint64_t i = 0; i < words; ++i) {
      if (i > 0) text += ' ';
      const bool varies = i * varying / words != (i + 1) * varying / words;
      text += varies ? std::to_string(random.below(kNumbers)) : template_[i];
    }
    return text;
  }

  const CorpusOptions& options_;
  const Prose& prose_;
  const std::vector<std::string> template_;
};

}  // namespace

Status write_corpus(const CorpusOptions& options, const Prose& prose,
                    const std::filesystem::path& path) {
  constexpr std::size_t kAtOnce = 4 << 20;
  const Corpus corpus(options, prose);
  KIN_TRY(File file, File::create(path));
  std::string lines;
  for (std::uint64_t record = 0; record < options.records; ++record) {
    lines += fmt::format("{{\"id\":\"doc-{:09}\",\"text\":", record);
    append_json_string(lines, corpus.text(record));
    lines += "}\n";
    if (lines.size() < kAtOnce) continue;
    KIN_RETURN_IF_ERROR(file.write(lines));
    lines.clear();
  }
  KIN_RETURN_IF_ERROR(file.write(lines));
  return file.close();
}

}  // namespace kin::bench
