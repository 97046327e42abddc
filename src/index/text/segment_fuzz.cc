// Bytes that are not a segment or manifest are refused. Accepted ones, with a corrected checksum,
// can be read, searched and merged safely.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "index/text/builder.h"
#include "index/text/manifest.h"
#include "index/text/segment.h"

namespace {

using namespace kin::index;

void read_all(const TextSegment& segment) {
  TextSegment::Terms terms(segment);
  for (bool more = terms.seek(""); more; more = terms.next()) {
    PostingCursor cursor(terms.postings());
    for (cursor.next(); cursor.doc() != kNoDoc; cursor.next()) cursor.positions();
    PostingCursor seeking(terms.postings());
    for (std::uint32_t target = 0; target < segment.size(); target += 7) seeking.seek(target);
  }
  for (std::uint32_t i = 0; i < segment.size(); ++i) segment.facet_values(i);
  const MergeInput input{.segment = &segment, .keep = std::vector<bool>(segment.size(), true)};
  static_cast<void>(
      merge_segments(std::vector{input, MergeInput{&segment, std::vector<bool>(segment.size())}}));
}

void try_segment(const std::string& bytes) {
  if (const auto segment = TextSegment::decode(bytes); segment.ok()) read_all(**segment);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  try_segment(bytes);
  static_cast<void>(kin::index::decode_manifest(bytes));
  if (bytes.size() < 8) return 0;
  const std::string_view body = std::string_view(bytes).substr(0, bytes.size() - 8);
  kin::store_le(bytes.data() + body.size(), kin::checksum(body));
  try_segment(bytes);
  static_cast<void>(kin::index::decode_manifest(bytes));
  return 0;
}
