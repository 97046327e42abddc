#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "index/text_builder.h"

namespace kin::index {
namespace {

struct Source {
  const TextSegment* segment;
  TextSegment::Terms terms;
  bool more;
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
  PostingCursor cursor(source.terms.postings());
  for (cursor.next(); cursor.doc() != kNoDoc; cursor.next()) {
    const std::uint32_t place = source.places[cursor.doc()];
    if (place == kNoDoc) continue;
    const auto positions = cursor.positions();
    list.docs.push_back(place);
    list.frequencies.push_back(cursor.frequency());
    list.counts.push_back(static_cast<std::uint32_t>(positions.size()));
    list.positions.insert(list.positions.end(), positions.begin(), positions.end());
  }
}

// Documents of several segments interleave.
void put_in_order(PostingList& list) {
  if (std::ranges::is_sorted(list.docs)) return;
  std::vector<std::uint32_t> order(list.docs.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::uint32_t i) { return list.docs[i]; });
  std::vector<std::size_t> starts(list.docs.size());
  std::exclusive_scan(list.counts.begin(), list.counts.end(), starts.begin(), std::size_t{0});
  PostingList sorted;
  for (const std::uint32_t i : order) {
    sorted.docs.push_back(list.docs[i]);
    sorted.frequencies.push_back(list.frequencies[i]);
    sorted.counts.push_back(list.counts[i]);
    const auto begin = list.positions.begin() + static_cast<std::ptrdiff_t>(starts[i]);
    sorted.positions.insert(sorted.positions.end(), begin, begin + list.counts[i]);
  }
  list = std::move(sorted);
}

}  // namespace

std::string merge_segments(std::span<const MergeInput> inputs) {
  std::vector<Source> sources;
  for (const MergeInput& input : inputs) {
    sources.push_back({input.segment, TextSegment::Terms(*input.segment), false,
                       std::vector<std::uint32_t>(input.segment->size(), kNoDoc)});
    sources.back().more = sources.back().terms.seek("");
  }
  SegmentWriter writer(merge_docs(inputs, sources));
  PostingList list;
  std::string key;
  while (true) {
    const Source* least = nullptr;
    for (const Source& source : sources) {
      if (source.more && (least == nullptr || source.terms.key() < least->terms.key()))
        least = &source;
    }
    if (least == nullptr) break;
    key = least->terms.key();
    list.clear();
    for (Source& source : sources) {
      if (!source.more || source.terms.key() != key) continue;
      append_postings(source, list);
      source.more = source.terms.next();
    }
    put_in_order(list);
    if (!list.docs.empty()) writer.add(key, list);
  }
  return std::move(writer).finish();
}

}  // namespace kin::index
