#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "base/breath.h"
#include "index/text/builder.h"

namespace kin::index {
namespace {

// Greater than front_of() any key: the first byte of a key is at most kStemKey.
constexpr std::uint64_t kNoFront = ~std::uint64_t{0};

struct Source {
  explicit Source(const TextSegment& segment) : terms(segment), places(segment.size(), kNoDoc) {
    front = terms.seek("") ? front_of(terms.key()) : kNoFront;
  }
  void next() { front = terms.next() ? front_of(terms.key()) : kNoFront; }

  TextSegment::Terms terms;
  std::uint64_t front;                // of the key; kNoFront behind the last
  std::vector<std::uint32_t> places;  // in the merged segment, by ordinal; kNoDoc: left out
};

void append_document(SegmentDocs& docs, const SegmentDocs& from, std::uint32_t ordinal) {
  docs.numbers.push_back(from.numbers[ordinal]);
  docs.kinds.push_back(from.kinds[ordinal]);
  docs.lengths.push_back(from.lengths[ordinal]);
  const auto lengths =
      std::span(from.field_lengths).subspan(std::size_t{ordinal} * from.fields, from.fields);
  docs.field_lengths.insert(docs.field_lengths.end(), lengths.begin(), lengths.end());
  docs.valid_from.push_back(from.valid_from[ordinal]);
  docs.valid_until.push_back(from.valid_until[ordinal]);
}

SegmentDocs merge_docs(std::span<const MergeInput> inputs, std::vector<Source>& sources) {
  struct Kept {
    std::uint32_t number;
    std::uint32_t source;
    std::uint32_t ordinal;
  };
  std::vector<Kept> kept;
  for (std::uint32_t i = 0; i < inputs.size(); ++i) {
    const auto& numbers = inputs[i].segment->docs().numbers;
    for (std::uint32_t ordinal = 0; ordinal < numbers.size(); ++ordinal) {
      if (inputs[i].keep[ordinal]) kept.push_back({numbers[ordinal], i, ordinal});
    }
  }
  // Ordinals have the order of numbers, and the inputs may interleave.
  std::ranges::sort(kept, {}, &Kept::number);
  SegmentDocs docs;
  docs.fields = inputs.front().segment->docs().fields;
  for (const Kept& one : kept) {
    sources[one.source].places[one.ordinal] = docs.size();
    append_document(docs, inputs[one.source].segment->docs(), one.ordinal);
  }
  return docs;
}

void append_postings(const Source& source, PostingList& list) {
  const std::size_t begin = list.docs.size();
  decode_postings(source.terms.postings(), list);
  for (std::size_t i = begin; i < list.docs.size(); ++i) list.docs[i] = source.places[list.docs[i]];
}

// Documents of several inputs may interleave, and some are dropped: their place is kNoDoc. In most
// merges of old segments nothing has to move.
void put_in_order(PostingList& list) {
  if (std::ranges::is_sorted(list.docs) && list.docs.back() != kNoDoc) return;
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < list.docs.size(); ++i) {
    if (list.docs[i] != kNoDoc) order.push_back(i);
  }
  const auto doc = [&](std::uint32_t i) { return list.docs[i]; };
  if (!std::ranges::is_sorted(order, {}, doc)) std::ranges::sort(order, {}, doc);
  std::vector<std::size_t> starts(list.docs.size());  // of the positions of each document
  std::exclusive_scan(list.counts.begin(), list.counts.end(), starts.begin(), std::size_t{0});
  PostingList sorted;
  for (const std::uint32_t i : order) {
    sorted.docs.push_back(list.docs[i]);
    sorted.frequencies.push_back(list.frequencies[i]);
    sorted.counts.push_back(list.counts[i]);
    const auto begin = list.gaps.begin() + static_cast<std::ptrdiff_t>(starts[i]);
    sorted.gaps.insert(sorted.gaps.end(), begin, begin + list.counts[i]);
  }
  list = std::move(sorted);
}

// The input whose key comes first; null at the end.
const Source* least_of(const std::vector<Source>& sources) {
  const Source* least = &sources.front();
  for (const Source& source : sources) {
    // Nearly all keys differ in their first eight bytes, which are compared as numbers.
    if (source.front < least->front || (source.front == least->front && source.front != kNoFront &&
                                        source.terms.key() < least->terms.key()))
      least = &source;
  }
  return least->front != kNoFront ? least : nullptr;
}

}  // namespace

std::string merge_segments(std::span<const MergeInput> inputs) {
  std::vector<Source> sources;
  sources.reserve(inputs.size());
  SegmentSizes sizes;
  for (const MergeInput& input : inputs) {
    sources.emplace_back(*input.segment);
    sizes.dictionary += input.segment->sizes().dictionary;
    sizes.postings += input.segment->sizes().postings;
    sizes.positions += input.segment->sizes().positions;
  }
  SegmentWriter writer(merge_docs(inputs, sources), sizes);
  PostingList list;
  std::string key;
  while (const Source* least = least_of(sources)) {
    take_breath();
    key = least->terms.key();  // a copy: next() changes it
    const std::uint64_t front = least->front;
    list.clear();
    for (Source& source : sources) {
      if (source.front != front || source.terms.key() != key) continue;
      append_postings(source, list);
      source.next();
      take_breath();
    }
    put_in_order(list);
    take_breath();
    if (!list.docs.empty()) writer.add(key, list);
  }
  return std::move(writer).finish();
}

}  // namespace kin::index
