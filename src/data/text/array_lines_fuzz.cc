// Turns an array into lines in pieces of several sizes: the lines must not depend on the pieces,
// and an array of objects that simdjson accepts must become the same number of valid lines.
#include <simdjson.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "data/text/array_lines.h"

namespace {

void require(bool truth) {
  if (!truth) std::abort();
}

bool turn(std::string& bytes, std::size_t piece) {
  kin::data::ArrayLines lines("array");
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    if (!lines.turn(bytes.data() + at, std::min(piece, bytes.size() - at)).ok()) return false;
  }
  return lines.finish().ok();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  std::string whole = bytes;
  const bool good = turn(whole, size + 1);
  for (const std::size_t piece : {1, 3, 16}) {
    std::string in_pieces = bytes;
    require(turn(in_pieces, piece) == good);
    require(!good || in_pieces == whole);
  }
  static simdjson::dom::parser parser;
  simdjson::dom::array array;
  const simdjson::padded_string padded(bytes);
  if (parser.parse(padded).get(array)) return 0;
  require(good);
  std::size_t lines = 0;
  for (std::size_t begin = 0; begin < whole.size();) {
    const std::size_t end = std::min(whole.find('\n', begin), whole.size());
    lines +=
        whole.substr(begin, end - begin).find_first_not_of(" \xef\xbb\xbf") != std::string::npos;
    begin = end + 1;
  }
  require(lines == array.size() || array.size() >= 0xFFFFFF);
  return 0;
}
