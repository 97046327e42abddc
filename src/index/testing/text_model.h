// The simplest possible text index: maps and loops, no postings. For tests only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "index/text/view.h"

namespace kin::index {

// One thread only.
class TextModel {
 public:
  explicit TextModel(const TextOptions& options);

  void put(const TextDocument& document);
  void remove(std::uint32_t number) { documents_.erase(number); }

  // Score by number of every document that matches.
  std::map<std::uint32_t, double> matches(const TextQuery& query) const;
  const TextDocument& document(std::uint32_t number) const {
    return documents_.at(number).document;
  }
  std::vector<std::uint32_t> numbers() const;
  // Statistics of the current documents, with zeros for words that only deleted documents had.
  TextStatistics statistics() const;

 private:
  struct Word {
    std::string stem;
    std::string form;
  };
  struct Entry {
    TextDocument document;
    std::vector<std::vector<Word>> fields;
    double length = 0;
  };
  struct Verdict {
    bool matches = false;
    double score = 0;
  };
  using Accepts = std::function<bool(const Word&)>;

  std::vector<Word> words(std::string_view text) const;
  double frequency(const Entry& entry, const std::string& field, const Accepts& accepts) const;
  double inverse(double documents_with) const;
  double documents_with(const Accepts& accepts) const;
  double saturated(double frequency, double length) const;
  double average_length() const;

  Verdict judge(const TextQuery& query, const Entry& entry) const;
  Verdict judge_boolean(const TextQuery& query, const Entry& entry) const;
  Verdict judge_words(const TextQuery& query, const Entry& entry) const;
  Verdict judge_phrase(const TextQuery& query, const Entry& entry) const;
  Verdict judge_expansion(const TextQuery& query, const Entry& entry) const;
  bool is_facet(const std::string& name) const;

  TextOptions options_;
  std::map<std::uint32_t, Entry> documents_;
  std::set<std::string> stems_;
  std::set<std::string> forms_;
};

}  // namespace kin::index
