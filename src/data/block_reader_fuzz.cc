// Reads a file in blocks of several sizes and by several formats: the records must be the same as
// when it is split in one go.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/file.h"
#include "data/block_reader.h"
#include "data/text/record_splitter.h"

namespace {

using namespace kin::data;

void require(bool truth) {
  if (!truth) std::abort();
}

struct Record {
  std::string bytes;
  std::uint64_t line;
  std::uint64_t row;
  bool operator==(const Record&) const = default;
};

std::vector<Record> split_in_one_go(const std::string& bytes, Format format) {
  std::vector<Record> records;
  std::uint64_t line = 1;
  bool skip_header = format != Format::kJsonl;
  for (std::size_t begin = bytes.starts_with(kByteOrderMark) ? 3 : 0; begin < bytes.size();) {
    const auto span = next_record(format, bytes, begin, Behind::kEndOfFile);
    const bool is_header = !span->blank && std::exchange(skip_header, skip_header && span->blank);
    if (!span->blank && !is_header)
      records.push_back({bytes.substr(begin, span->end - begin), line, records.size()});
    begin = span->end;
    line += span->lines;
  }
  return records;
}

std::vector<Record> read_in_blocks(const Input& input, std::size_t block_bytes) {
  std::vector<Record> records;
  Position position;
  // Every block is read by a new reader, so that positions are tested too.
  for (bool finished = false; !finished;) {
    int asked = 0;
    BlockReader reader({&input, 1}, {.start = position, .block_bytes = block_bytes, .pause = [&] {
                                       return ++asked > 1;
                                     }});
    Block block;
    const bool any = reader.next(block).value();
    for (std::size_t i = 0; any && i < block.records.size(); ++i) {
      records.push_back({std::string(block.text(block.records[i])),
                         block.first_line + block.records[i].line, block.first_row + i});
    }
    require(!any || !block.records.empty());
    finished = reader.finished() || !any;
    position = reader.position();
  }
  return records;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const kin::TemporaryFolder folder = kin::TemporaryFolder::create().value();
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto path = folder.path() / "input";
  {
    kin::File file = kin::File::create(path).value();
    require(file.write(bytes).ok());
  }
  for (const Format format : {Format::kJsonl, Format::kCsv, Format::kTsv}) {
    const Input input{path, {format, Compression::kNone}, bytes.size(), "input"};
    const std::vector<Record> expected = split_in_one_go(bytes, format);
    for (const std::size_t block_bytes : {16, 61, 4096})
      require(read_in_blocks(input, block_bytes) == expected);
  }
  return 0;
}
