// Bytes that the decoders of rows and keys accept must encode to the same bytes.
#include "index/truth/entity_format.h"

#include <cstdlib>

#include "index/truth/change.h"

namespace {

using namespace kin::index;

void check_same(std::string_view encoded, std::string_view bytes) {
  if (encoded != bytes) std::abort();
}

void rows(std::string_view bytes) {
  if (const auto row = decode_counters(bytes); row.ok()) check_same(encode(*row), bytes);
  // Rows of version 1 are written as version 2.
  if (const auto row = decode_head(bytes); row.ok()) {
    if (bytes[0] == 2) check_same(encode(*row), bytes);
    if (const auto again = decode_head(encode(*row)); !again.ok() || *again != *row) std::abort();
  }
  if (const auto row = decode_content(bytes); row.ok()) check_same(encode(*row), bytes);
  if (const auto row = decode_edge(bytes); row.ok()) check_same(encode(*row), bytes);
  if (const auto row = decode_reverse(bytes); row.ok()) check_same(encode(*row), bytes);
  if (const auto row = decode_fragment(bytes); row.ok()) check_same(encode(*row), bytes);
  if (const auto row = decode_owner(bytes); row.ok()) check_same(encode(*row), bytes);
  if (const auto row = decode_follower(bytes); row.ok()) check_same(encode_follower(*row), bytes);
  if (const auto row = decode_session(bytes); row.ok()) check_same(encode_session(*row), bytes);
  if (const auto row = decode_document(bytes); row.ok()) check_same(encode(*row), bytes);
  if (const auto row = decode_vector(bytes); row.ok()) check_same(encode_vector(*row), bytes);
  if (const auto row = decode_name(bytes); row.ok()) check_same(encode_name(*row), bytes);
  if (const auto row = decode_summary_text(bytes); row.ok())
    check_same(encode_summary_text(*row), bytes);
  if (const auto row = decode_summary_count(bytes); row.ok())
    check_same(encode_summary_count(*row), bytes);
  if (const auto row = decode_change(7, bytes); row.ok()) check_same(encode(*row), bytes);
}

void keys(std::string_view bytes) {
  if (const auto key = decode_name_key(bytes)) check_same(name_key(*key), bytes);
  if (const auto key = decode_entity_key(bytes)) check_same(entity_key(*key), bytes);
  if (const auto key = decode_forward_key(bytes)) check_same(forward_key(*key), bytes);
  if (const auto key = decode_reverse_key(bytes)) check_same(reverse_key(*key), bytes);
  for (const kin::kv::Family family : {kEntityFragmentsFamily, kEdgeFragmentsFamily})
    if (const auto key = decode_fragment_key(family, bytes))
      check_same(fragment_key(family, *key), bytes);
  if (const auto key = decode_document_key(bytes)) check_same(document_key(*key), bytes);
  if (const auto key = decode_member_key(bytes)) check_same(document_key(*key), bytes.substr(4));
  if (const auto key = decode_change_key(bytes)) check_same(change_key(*key), bytes);
  if (const auto key = decode_owner_key(bytes)) check_same(owner_key(*key), bytes);
  if (const auto key = decode_session_key(bytes)) check_same(session_key(*key), bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  rows(bytes);
  keys(bytes);
  return 0;
}
