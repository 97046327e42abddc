// Small random corpora with repeats of all kinds, and options to cut them with.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "dedup/testing/cut_reference.h"

namespace kin::dedup {

// Few words, so that windows repeat, overlap and nest; several languages; all kinds of line breaks;
// nulls and empty texts. One thread only.
class CutCorpora {
 public:
  explicit CutCorpora(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t limit) { return random_() % limit; }
  Corpus corpus(std::size_t fields);
  DedupOptions options(CutOptions::Unit unit);

 private:
  std::string word();
  std::string gap();
  std::string text();

  std::mt19937_64 random_;
  std::size_t alphabet_ = 0;
  std::vector<std::string> pieces_;
};

}  // namespace kin::dedup
