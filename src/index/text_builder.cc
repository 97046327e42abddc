#include "index/text_builder.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/check.h"

namespace kin::index {
namespace {

constexpr std::uint32_t kNoPosition = 0xFFFFFFFF;
constexpr std::uint32_t kWholeWord = 4;  // quarters

std::uint32_t quarters(const TextField& field) {
  return static_cast<std::uint32_t>(field.weight * 4);
}

}  // namespace

std::uint32_t TextBuilder::term(std::string_view key) {
  if (const auto found = terms_.find(key); found != terms_.end()) return found->second;
  const auto number = static_cast<std::uint32_t>(keys_.size());
  terms_.emplace(keys_.emplace_back(key), number);
  return number;
}

void TextBuilder::add_field(std::size_t field, std::string_view text, std::uint32_t begin) {
  const std::uint32_t length = analyzer_.document(text, tokens_);
  const std::uint32_t weight = quarters(options_.fields[field]);
  const std::uint32_t doc = docs_.size() - 1;
  for (const TextToken& token : tokens_) {
    const std::uint32_t position = begin + token.position;
    occurrences_.push_back({term(*token.stem), doc, position, weight});
    if (token.form != nullptr) occurrences_.push_back({term(*token.form), doc, position, weight});
  }
  docs_.field_lengths.push_back(length);
  docs_.lengths.back() += weight * length;
}

void TextBuilder::add(const TextDocument& document) {
  KIN_CHECK(docs_.numbers.empty() || docs_.numbers.back() < document.number,
            "documents come in the order of their numbers");
  docs_.numbers.push_back(document.number);
  docs_.kinds.push_back(document.kind);
  docs_.valid_from.push_back(document.valid_from);
  docs_.valid_until.push_back(document.valid_until);
  docs_.lengths.push_back(0);
  std::uint32_t begin = 0;
  for (std::size_t field = 0; field < options_.fields.size(); ++field) {
    add_field(field, field < document.fields.size() ? document.fields[field] : "", begin);
    begin += docs_.field_lengths.back() + kFieldGap;
  }
  std::set<std::string> facets;
  for (const FacetValue& facet : document.facets) {
    if (facet.facet < options_.facets.size()) facets.insert(facet_key(facet.facet, facet.value));
  }
  for (const std::string& key : facets)
    occurrences_.push_back({term(key), docs_.size() - 1, kNoPosition, kWholeWord});
}

std::vector<std::uint32_t> TextBuilder::terms_in_order() const {
  std::vector<std::uint32_t> order(keys_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [&](auto a, auto b) { return keys_[a] < keys_[b]; });
  return order;
}

std::string TextBuilder::finish() && {
  // Occurrences lie in the order of documents and positions already; only terms are to be sorted.
  std::vector<std::uint32_t> starts(keys_.size() + 1, 0);
  for (const Occurrence& one : occurrences_) ++starts[one.term + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  std::vector<std::uint32_t> sorted(occurrences_.size());
  std::vector<std::uint32_t> next(starts.begin(), starts.end() - 1);
  for (std::uint32_t i = 0; i < occurrences_.size(); ++i) sorted[next[occurrences_[i].term]++] = i;

  SegmentWriter writer(std::move(docs_));
  PostingList list;
  for (const std::uint32_t number : terms_in_order()) {
    list.clear();
    for (std::uint32_t i = starts[number]; i < starts[number + 1]; ++i) {
      const Occurrence& one = occurrences_[sorted[i]];
      if (list.docs.empty() || list.docs.back() != one.doc) {
        list.docs.push_back(one.doc);
        list.frequencies.push_back(0);
        list.counts.push_back(0);
      }
      list.frequencies.back() += one.weight;
      if (one.position == kNoPosition) continue;
      ++list.counts.back();
      list.positions.push_back(one.position);
    }
    writer.add(keys_[number], list);
  }
  return std::move(writer).finish();
}

}  // namespace kin::index
