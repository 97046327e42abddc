#include "index/text/segment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <ranges>

#include "base/bytes.h"
#include "base/hash.h"
#include "index/text/analyzer.h"
#include "index/truth/entity_bytes.h"

namespace kin::index {
namespace {

constexpr std::string_view kMagic = "KINTEXTS";
// Terms per block of the dictionary. A key is stored as its difference to the key before; only the
// first key of a block is stored whole, so a look-up reads one block.
constexpr std::uint32_t kTermsOfBlock = 16;
constexpr std::size_t kMostFields = 16;

Error damaged(std::string_view what) {
  return Error{Code::kDataLoss, fmt::format("the {} of a text segment is damaged", what)};
}

// Returns 0 for a number that is cut off, and for all numbers after it: check_terms() then finds
// that keys or sizes do not fit.
std::uint64_t read_number(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  bytes = {};
  return 0;
}

std::string_view read_bytes(std::string_view& bytes, std::uint64_t count) {
  const std::string_view read = bytes.substr(0, count);
  bytes.remove_prefix(read.size());
  return read;
}

template <typename T>
void append_all(std::string& out, const std::vector<T>& values) {
  out += as_bytes_view(std::span<const T>(values));
}

std::string encode_docs(const SegmentDocs& docs) {
  std::string out;
  append_all(out, docs.numbers);
  append_all(out, docs.lengths);
  append_all(out, docs.field_lengths);
  append_all(out, docs.valid_from);
  append_all(out, docs.valid_until);
  append_all(out, docs.facet_starts);
  append_all(out, docs.facet_values);
  append_all(out, docs.kinds);
  return out;
}

// The length of the common prefix of two keys.
std::size_t shared_length(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

bool is_facet_key(std::string_view key) {
  return key.size() >= 3 && key.front() == kFacetKey && key[1] >= 'A' &&
         key[1] < static_cast<char>('A' + kMostFields) &&
         key.substr(2).find(kEndOfName) != std::string_view::npos;
}

}  // namespace

SegmentWriter::SegmentWriter(SegmentDocs docs, const SegmentSizes& expected)
    : docs_(std::move(docs)) {
  dictionary_.reserve(expected.dictionary);
  postings_.reserve(expected.postings);
  positions_.reserve(expected.positions);
}

void SegmentWriter::add(std::string_view key, const PostingList& list) {
  const bool first = terms_ % kTermsOfBlock == 0;
  if (first) {
    append_le(dictionary_blocks_, static_cast<std::uint32_t>(dictionary_.size()));
    last_key_.clear();
  }
  const std::size_t shared = shared_length(last_key_, key);
  append_varint(dictionary_, shared);
  append_varint(dictionary_, key.size() - shared);
  dictionary_ += key.substr(shared);
  append_varint(dictionary_, list.docs.size());
  // The offset of its postings. Offsets of later terms follow from the sizes before them.
  if (first) {
    append_varint(dictionary_, postings_.size());
    append_varint(dictionary_, positions_.size());
  }
  // The sizes of its own postings come last, when they are known.
  const PostingSizes before{.postings = postings_.size(), .positions = positions_.size()};
  encode_postings(list, docs_.lengths, postings_, positions_);
  append_varint(dictionary_, postings_.size() - before.postings);
  append_varint(dictionary_, positions_.size() - before.positions);
  last_key_ = key;
  if (key.front() == kFacetKey) {
    for (const std::uint32_t doc : list.docs) facets_.push_back({.doc = doc, .value = terms_});
    ++facet_terms_;
  }
  ++terms_;
}

void SegmentWriter::lay_out_facets() {
  // Stable: the values of a document stay in the order of their keys.
  std::ranges::stable_sort(facets_, {}, &DocFacet::doc);
  docs_.facet_starts.assign(docs_.numbers.size() + 1, 0);
  docs_.facet_values.clear();
  for (const DocFacet& facet : facets_) {
    ++docs_.facet_starts[facet.doc + 1];
    docs_.facet_values.push_back(facet.value);
  }
  std::partial_sum(docs_.facet_starts.begin(), docs_.facet_starts.end(),
                   docs_.facet_starts.begin());
}

std::string SegmentWriter::finish() && {
  lay_out_facets();
  const std::string docs = encode_docs(docs_);
  std::string out(kMagic);
  append_le(out, kSegmentVersion);
  append_le(out, docs_.fields);
  append_le(out, docs_.size());
  append_le(out, static_cast<std::uint32_t>(docs_.facet_values.size()));
  append_le(out, terms_);
  append_le(out, facet_terms_);
  // The sizes of all parts are in the header, so that a reader finds each without reading others.
  const std::array<const std::string*, 5> parts{&docs, &dictionary_, &dictionary_blocks_,
                                                &postings_, &positions_};
  for (const std::string* part : parts) append_le(out, static_cast<std::uint64_t>(part->size()));
  out.reserve(out.size() + docs.size() + dictionary_.size() + dictionary_blocks_.size() +
              postings_.size() + positions_.size() + kPostingPadding + 8);
  for (const std::string* part : parts) out += *part;
  out.append(kPostingPadding, '\0');  // vector loads read past the last posting
  append_le(out, kin::checksum(out));
  return out;
}

Result<std::shared_ptr<const TextSegment>> TextSegment::decode(std::string bytes) {
  const std::shared_ptr<TextSegment> segment(new TextSegment(std::move(bytes)));
  // Searches read postings without checks, so everything is checked once, here.
  KIN_RETURN_IF_ERROR(segment->check_whole());
  KIN_RETURN_IF_ERROR(segment->parse());
  KIN_RETURN_IF_ERROR(segment->check_terms());
  return std::shared_ptr<const TextSegment>(segment);
}

std::shared_ptr<const TextSegment> TextSegment::of_writer(std::string bytes) {
  const std::shared_ptr<TextSegment> segment(new TextSegment(std::move(bytes)));
  KIN_CHECK(segment->parse().ok(), "a segment just written can be read");
  return segment;
}

std::uint64_t TextSegment::checksum() const {
  return load_le<std::uint64_t>(bytes_.data() + bytes_.size() - 8);
}

Status TextSegment::check_whole() const {
  ByteReader reader(bytes_);
  if (reader.read_bytes(kMagic.size()) != kMagic) return damaged("header");
  if (const auto version = reader.read<std::uint32_t>(); version != kSegmentVersion) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("a text segment has version {}, and this program reads version {}",
                             version, kSegmentVersion)};
  }
  if (bytes_.size() < kPostingPadding + 8 + 8) return damaged("header");
  if (checksum() != kin::checksum(std::string_view(bytes_).substr(0, bytes_.size() - 8)))
    return damaged("checksum");
  return Done{};
}

Status TextSegment::parse() {
  ByteReader reader(std::string_view(bytes_).substr(kMagic.size() + 4));
  docs_.fields = reader.read<std::uint32_t>();
  const auto documents = reader.read<std::uint32_t>();
  const auto facet_values = reader.read<std::uint32_t>();
  terms_ = reader.read<std::uint32_t>();
  facet_terms_ = reader.read<std::uint32_t>();
  std::array<std::uint64_t, 5> sizes{};
  for (std::uint64_t& size : sizes) size = reader.read<std::uint64_t>();
  const std::string_view docs = reader.read_bytes(sizes[0]);
  dictionary_ = reader.read_bytes(sizes[1]);
  dictionary_blocks_ = reader.read_bytes(sizes[2]);
  postings_ = reader.read_bytes(sizes[3]);
  positions_ = reader.read_bytes(sizes[4]);
  if (!reader.ok() || reader.rest().size() != kPostingPadding + 8) return damaged("header");
  if (docs_.fields == 0 || docs_.fields > kMostFields) return damaged("header");
  // Each document takes some bytes, which bounds their number before memory is allocated.
  // 29: its number, its length and that of a field, two moments, and its kind.
  if (docs.size() < std::uint64_t{documents} * 29 + std::uint64_t{facet_values} * 4)
    return damaged("header");
  return parse_docs(docs, documents, facet_values);
}

Status TextSegment::parse_docs(std::string_view bytes, std::size_t documents,
                               std::size_t facet_values) {
  ByteReader reader(bytes);
  docs_.numbers = reader.read_vector<std::uint32_t>(documents);
  docs_.lengths = reader.read_vector<std::uint32_t>(documents);
  docs_.field_lengths = reader.read_vector<std::uint32_t>(documents * docs_.fields);
  docs_.valid_from = reader.read_vector<std::int64_t>(documents);
  docs_.valid_until = reader.read_vector<std::int64_t>(documents);
  docs_.facet_starts = reader.read_vector<std::uint32_t>(documents + 1);
  docs_.facet_values = reader.read_vector<std::uint32_t>(facet_values);
  docs_.kinds = reader.read_vector<DocKind>(documents);
  if (!reader.ok() || !reader.rest().empty()) return damaged("list of documents");
  // ordinal() searches the numbers by halves.
  if (std::ranges::adjacent_find(docs_.numbers, std::ranges::greater_equal()) !=
      docs_.numbers.end())
    return damaged("list of documents");
  if (docs_.facet_starts.front() != 0 || docs_.facet_starts.back() != docs_.facet_values.size() ||
      !std::ranges::is_sorted(docs_.facet_starts))
    return damaged("list of facets");
  if (std::ranges::any_of(docs_.facet_values, [&](auto value) { return value >= facet_terms_; }))
    return damaged("list of facets");
  if (std::ranges::any_of(docs_.kinds,
                          [](DocKind kind) { return static_cast<std::size_t>(kind) >= kDocKinds; }))
    return damaged("list of documents");
  for (const std::uint32_t length : docs_.lengths) total_length_ += length;
  return Done{};
}

Status TextSegment::check_terms() const {
  if (dictionary_blocks_.size() % 4 != 0 ||
      blocks() != (terms_ + kTermsOfBlock - 1) / kTermsOfBlock)
    return damaged("dictionary");
  std::string_view rest = dictionary_;
  std::string key;
  std::string last;
  PostingSizes used;
  for (std::uint32_t term = 0; term < terms_; ++term) {
    const bool first = term % kTermsOfBlock == 0;
    if (first && load_le<std::uint32_t>(dictionary_blocks_.data() + term / kTermsOfBlock * 4) !=
                     dictionary_.size() - rest.size())
      return damaged("dictionary");
    const std::uint64_t shared = read_number(rest);
    // The first key of a block is whole, because seek() begins to read there.
    if (shared > (first ? 0 : key.size())) return damaged("dictionary");
    const std::uint64_t suffix = read_number(rest);
    key.resize(shared);
    key += read_bytes(rest, suffix);
    if (key.size() != shared + suffix || key.empty() || (term > 0 && key <= last))
      return damaged("dictionary");
    // Keys of facets come before all others: ordinals below facet_terms_ are values of facets.
    if (is_facet_key(key) != (term < facet_terms_)) return damaged("dictionary");
    const std::uint64_t documents = read_number(rest);
    if (first && (read_number(rest) != used.postings || read_number(rest) != used.positions))
      return damaged("dictionary");
    const std::uint64_t postings_size = read_number(rest);
    const std::uint64_t positions_size = read_number(rest);
    if (documents > size()) return damaged("dictionary");
    const auto sizes =
        check_postings(postings_.substr(used.postings), positions_.substr(used.positions),
                       static_cast<std::uint32_t>(documents), size());
    if (!sizes || sizes->postings != postings_size || sizes->positions != positions_size)
      return damaged("postings");
    used.postings += postings_size;
    used.positions += positions_size;
    last = key;
  }
  const bool all = rest.empty() && used.postings == postings_.size() &&
                   used.positions == positions_.size() && facet_terms_ <= terms_;
  return all ? Status(Done{}) : damaged("dictionary");
}

std::uint32_t TextSegment::blocks() const {
  return static_cast<std::uint32_t>(dictionary_blocks_.size() / 4);
}

std::string_view TextSegment::first_key(std::uint32_t block) const {
  std::string_view rest = dictionary_.substr(
      load_le<std::uint32_t>(dictionary_blocks_.data() + std::size_t{block} * 4));
  read_number(rest);
  const std::uint64_t length = read_number(rest);
  return rest.substr(0, length);  // whole: the first key of a block shares nothing
}

std::optional<std::uint32_t> TextSegment::ordinal(std::uint32_t number) const {
  const auto found = std::ranges::lower_bound(docs_.numbers, number);
  if (found == docs_.numbers.end() || *found != number) return std::nullopt;
  return static_cast<std::uint32_t>(found - docs_.numbers.begin());
}

std::span<const std::uint32_t> TextSegment::facet_values(std::uint32_t ordinal) const {
  const std::uint32_t begin = docs_.facet_starts[ordinal];
  return std::span(docs_.facet_values).subspan(begin, docs_.facet_starts[ordinal + 1] - begin);
}

TextSegment::FieldRange TextSegment::field_range(std::uint32_t ordinal, std::size_t field) const {
  const std::uint32_t* const lengths =
      docs_.field_lengths.data() + std::size_t{ordinal} * docs_.fields;
  // As TextBuilder lays the fields out.
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < field; ++i) begin += std::uint64_t{lengths[i]} + kFieldGap;
  return {.begin = begin, .end = begin + lengths[field]};
}

std::optional<TermPostings> TextSegment::find(std::string_view key) const {
  Terms terms(*this);
  if (!terms.seek(key) || terms.key() != key) return std::nullopt;
  return terms.postings();
}

void TextSegment::Terms::open(std::uint32_t block) {
  rest_ = segment_.dictionary_.substr(
      load_le<std::uint32_t>(segment_.dictionary_blocks_.data() + std::size_t{block} * 4));
  ordinal_ = block * kTermsOfBlock;
  key_.clear();
  read();
}

void TextSegment::Terms::read() {
  const std::uint64_t shared = read_number(rest_);
  const std::uint64_t suffix = read_number(rest_);
  key_.resize(shared);
  key_ += read_bytes(rest_, suffix);
  const auto documents = static_cast<std::uint32_t>(read_number(rest_));
  if (ordinal_ % kTermsOfBlock == 0) {
    next_postings_ = read_number(rest_);
    next_positions_ = read_number(rest_);
  }
  const auto at = [](std::string_view area, std::uint64_t offset) {
    return reinterpret_cast<const std::uint8_t*>(area.data() + offset);
  };
  postings_ = {.documents = documents,
               .postings = at(segment_.postings_, next_postings_),
               .positions = at(segment_.positions_, next_positions_)};
  next_postings_ += read_number(rest_);
  next_positions_ += read_number(rest_);
}

bool TextSegment::Terms::seek(std::string_view key) {
  if (segment_.blocks() == 0) return false;
  // The last block whose first key is not greater, or the first block if all are.
  const auto later = std::views::iota(1U, segment_.blocks());
  const auto greater = std::ranges::upper_bound(
      later, key, {}, [&](std::uint32_t block) { return segment_.first_key(block); });
  open(static_cast<std::uint32_t>(greater - later.begin()));
  while (key_ < key) {
    if (!next()) return false;
  }
  return true;
}

bool TextSegment::Terms::next() {
  if (ordinal_ + 1 >= segment_.terms_) return false;
  if (++ordinal_ % kTermsOfBlock == 0) key_.clear();  // a new block shares nothing
  read();
  return true;
}

}  // namespace kin::index
