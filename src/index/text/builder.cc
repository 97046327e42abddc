#include "index/text/builder.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>

#include "base/check.h"
#include "base/hash.h"

namespace kin::index {
namespace {

// Values of facets have no place in the text.
constexpr std::uint32_t kNoPosition = 0xFFFFFFFF;
constexpr std::uint32_t kWholeWord = 4;  // quarters

// Weights are multiples of a quarter, so that frequencies are whole numbers.
std::uint32_t quarters(const TextField& field) {
  return static_cast<std::uint32_t>(field.weight * 4);
}

}  // namespace

std::uint32_t KeyTable::number(std::string_view key) {
  const auto hash = static_cast<std::uint32_t>(hash64(key));
  std::size_t slot = hash & (slots_.size() - 1);
  for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
    const std::uint32_t known = slots_[slot] - 1;
    if (keys_[known].hash == hash && this->key(known) == key) return known;
  }
  keys_.push_back({bytes_.size(), static_cast<std::uint32_t>(key.size()), hash});
  bytes_ += key;
  slots_[slot] = size();
  if (keys_.size() * 2 > slots_.size()) grow();
  return size() - 1;
}

void KeyTable::grow() {
  std::vector<std::uint32_t> slots(slots_.size() * 4);
  for (std::uint32_t number = 0; number < keys_.size(); ++number) {
    std::size_t slot = keys_[number].hash & (slots.size() - 1);
    while (slots[slot] != 0) slot = (slot + 1) & (slots.size() - 1);
    slots[slot] = number + 1;
  }
  slots_ = std::move(slots);
}

// Most words repeat within a segment, so a token remembers the numbers of its keys.
const Terms& TextBuilder::terms_of(const TextToken& token) {
  Terms& terms = *token.terms;
  if (terms.builder == self_) return terms;
  terms = {.builder = self_,
           .stem = keys_.number(*token.stem),
           .form = token.form != nullptr ? keys_.number(*token.form) : 0};
  return terms;
}

void TextBuilder::add_field(std::size_t field, std::string_view text, std::uint32_t begin) {
  const std::uint32_t length = analyzer_.document(text, tokens_);
  const std::uint32_t weight = quarters(options_.fields[field]);
  const std::uint32_t doc = docs_.size() - 1;
  for (const TextToken& token : tokens_) {
    const std::uint32_t position = begin + token.position;
    const Terms& terms = terms_of(token);
    occurrences_.push_back({terms.stem, doc, position, weight});
    if (token.form != nullptr) occurrences_.push_back({terms.form, doc, position, weight});
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
  // Every field counts, even an empty one: field_range() adds up the lengths of those before. The
  // gap keeps phrases from reaching into the next field.
  std::uint32_t begin = 0;
  for (std::size_t field = 0; field < options_.fields.size(); ++field) {
    add_field(field, field < document.fields.size() ? document.fields[field] : "", begin);
    begin += docs_.field_lengths.back() + kFieldGap;
  }
  std::set<std::string> facets;  // a value that is given twice counts once
  for (const FacetValue& facet : document.facets) {
    if (facet.facet < options_.facets.size()) facets.insert(facet_key(facet.facet, facet.value));
  }
  for (const std::string& key : facets)
    occurrences_.push_back({keys_.number(key), docs_.size() - 1, kNoPosition, kWholeWord});
}

// The first byte becomes the highest, so that numbers compare as bytes do. A shorter key is padded
// with zeros.
std::uint64_t front_of(std::string_view key) {
  std::uint64_t front = 0;
  if (key.size() >= sizeof front) {
    std::memcpy(&front, key.data(), sizeof front);  // of a known size: one load
  } else {
    std::memcpy(&front, key.data(), key.size());
  }
  return __builtin_bswap64(front);
}

std::vector<std::uint32_t> TextBuilder::terms_in_order() const {
  // Nearly all keys differ in their first bytes, which are compared as numbers.
  struct Entry {
    std::uint64_t front;
    std::uint64_t next;
    std::uint32_t number;
  };
  std::vector<Entry> entries;
  entries.reserve(keys_.size());
  for (std::uint32_t number = 0; number < keys_.size(); ++number) {
    const std::string_view key = keys_.key(number);
    entries.push_back(
        {front_of(key), front_of(key.substr(std::min<std::size_t>(8, key.size()))), number});
  }
  std::ranges::sort(entries, [&](const Entry& a, const Entry& b) {
    if (a.front != b.front) return a.front < b.front;
    if (a.next != b.next) return a.next < b.next;
    return keys_.key(a.number) < keys_.key(b.number);
  });
  std::vector<std::uint32_t> order(entries.size());
  std::ranges::transform(entries, order.begin(), &Entry::number);
  return order;
}

// A counting sort: it keeps the order of documents and positions within each term.
std::vector<TextBuilder::Occurrence> TextBuilder::occurrences_by_term(
    std::vector<std::uint32_t>& starts) const {
  starts.assign(keys_.size() + 1, 0);
  for (const Occurrence& one : occurrences_) ++starts[one.term + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  std::vector<Occurrence> sorted(occurrences_.size());
  std::vector<std::uint32_t> next(starts.begin(), starts.end() - 1);
  for (const Occurrence& one : occurrences_) sorted[next[one.term]++] = one;
  return sorted;
}

std::string TextBuilder::finish() && {
  std::vector<std::uint32_t> starts;
  const std::vector<Occurrence> occurrences = occurrences_by_term(starts);
  // Most terms of a small segment are in one document: four bytes of postings, five of positions.
  SegmentWriter writer(std::move(docs_),
                       {.dictionary = keys_.bytes() + 8 * std::size_t{keys_.size()},
                        .postings = 4 * occurrences.size(),
                        .positions = 5 * occurrences.size()});
  PostingList list;
  for (const std::uint32_t number : terms_in_order()) {
    list.clear();
    std::uint32_t last = 0;
    // Occurrences of a term come by document, then by position.
    for (std::uint32_t i = starts[number]; i < starts[number + 1]; ++i) {
      const Occurrence& one = occurrences[i];
      if (list.docs.empty() || list.docs.back() != one.doc) {
        list.docs.push_back(one.doc);
        list.frequencies.push_back(0);
        list.counts.push_back(0);
        last = 0;
      }
      list.frequencies.back() += one.weight;
      if (one.position == kNoPosition) continue;
      ++list.counts.back();
      list.gaps.push_back(one.position - last);
      last = one.position;
    }
    writer.add(keys_.key(number), list);
  }
  return std::move(writer).finish();
}

}  // namespace kin::index
