#include "index/text/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace kin::index {
namespace {

using Fault = std::function<void(std::string)>;
using Segment = std::shared_ptr<const TextSegment>;

// Merges everything into one segment; null for an empty index.
Segment merged(TextIndex& index) {
  index.merge_all();
  const TextCheckpoint whole = index.checkpoint();
  return whole.parts.empty() ? nullptr : whole.parts.front().segment;
}

void compare_numbers(const SegmentDocs& is, const SegmentDocs& should, const Fault& fault) {
  std::vector<std::uint32_t> different;
  std::ranges::set_difference(should.numbers, is.numbers, std::back_inserter(different));
  for (const std::uint32_t number : different)
    fault(fmt::format("the text of number {} is missing", number));
  different.clear();
  std::ranges::set_difference(is.numbers, should.numbers, std::back_inserter(different));
  for (const std::uint32_t number : different)
    fault(fmt::format("the text of number {} should not be there", number));
}

// The documents of a term, each as its number and the term's frequency in one sortable word.
std::vector<std::uint64_t> numbers_of(const TextSegment& segment, const TermPostings& postings) {
  std::vector<std::uint64_t> found;
  PostingCursor cursor(postings);
  for (cursor.next(); cursor.doc() != kNoDoc; cursor.next()) {
    found.push_back(segment.docs().numbers[cursor.doc()]);
    found.back() = found.back() << 32 | cursor.frequency();
  }
  return found;
}

void compare_terms(const TextSegment& is, const TextSegment& should, const Fault& fault) {
  std::set<std::uint32_t> numbers;
  TextSegment::Terms a(is);
  TextSegment::Terms b(should);
  bool more_a = a.seek("");
  bool more_b = b.seek("");
  while (more_a || more_b) {
    // Both go through their terms in order; a term that only one has differs in all documents.
    const bool take_a = more_a && (!more_b || a.key() <= b.key());
    const bool take_b = more_b && (!more_a || b.key() <= a.key());
    std::vector<std::uint64_t> of_a;
    std::vector<std::uint64_t> of_b;
    if (take_a) of_a = numbers_of(is, a.postings());
    if (take_b) of_b = numbers_of(should, b.postings());
    std::vector<std::uint64_t> different;
    std::ranges::set_symmetric_difference(of_a, of_b, std::back_inserter(different));
    for (const std::uint64_t one : different) numbers.insert(static_cast<std::uint32_t>(one >> 32));
    if (take_a) more_a = a.next();
    if (take_b) more_b = b.next();
  }
  for (const std::uint32_t number : numbers)
    fault(fmt::format("the words of number {} are not those of its text", number));
}

}  // namespace

Status compare_texts(const TextOptions& options, const TextCheckpoint& is, TextIndex should,
                     const Fault& fault) {
  const auto load = [&](std::uint64_t id) -> Result<std::string> {
    const auto part = std::ranges::find(is.parts, id, &CheckpointPart::id);
    if (part == is.parts.end()) return Error{Code::kDataLoss, "a part of the text is missing"};
    return part->segment->bytes();
  };
  // A copy, because merging it to one segment must not disturb the index itself.
  KIN_TRY(TextIndex copy, TextIndex::open(options, is.manifest, load));
  const Segment one = merged(copy);
  const Segment other = merged(should);
  if (one == nullptr && other == nullptr) return Done{};
  // A segment is a function of its documents, so equal documents give equal bytes.
  if (one != nullptr && other != nullptr && one->bytes() == other->bytes()) return Done{};
  std::size_t faults = 0;
  const Fault counted = [&](std::string text) {
    ++faults;
    fault(std::move(text));
  };
  const SegmentDocs none;
  compare_numbers(one ? one->docs() : none, other ? other->docs() : none, counted);
  if (one && other) compare_terms(*one, *other, counted);
  if (faults == 0)
    fault("the text index differs from one built from scratch in positions or lengths");
  return Done{};
}

}  // namespace kin::index
