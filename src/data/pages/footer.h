// The footer of a Parquet file, parsed and checked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "data/pages/format.h"
#include "data/pages/thrift_compact.h"
#include "data/pages/value_reader.h"

namespace kin::data {

// A column that has values of its own: a leaf of the schema.
struct Leaf {
  std::vector<std::string> path;  // of names, from the top-level column down
  ValueType type;
  int max_definition = 0;
  int max_repetition = 0;
  std::size_t element = 0;   // its place in the list of schema elements
  std::string name() const;  // the path with dots
};

// A column chunk: the pages of one leaf in one row group.
struct ChunkPlace {
  Codec codec = Codec::kNone;
  std::uint64_t begin = 0;  // in the file
  std::uint64_t bytes = 0;
  std::uint64_t unpacked_bytes = 0;
  std::uint64_t values = 0;  // levels, to be exact: nulls count
};

struct GroupPlace {
  std::uint64_t first_row = 0;  // in the file
  std::uint64_t rows = 0;
  std::vector<ChunkPlace> chunks;  // by leaf
};

// A footer whose numbers were checked against each other and against the size of the file.
struct Footer {
  ThriftValue metadata;  // a FileMetaData of parquet.thrift, as it was read
  std::uint64_t begin = 0;
  std::vector<Leaf> leaves;
  std::vector<GroupPlace> groups;
  std::uint64_t rows = 0;

  const std::vector<ThriftValue>& schema() const;
  const ThriftValue& group(std::size_t number) const;
};

// Errors give the reason, not the file.
Result<Footer> read_footer(const File& file);

// The leaf that `column` names, as in ScanOptions::columns; nothing if it names another part of the
// schema, nothing at all, or a leaf with repeated values.
std::optional<std::size_t> find_leaf(const Footer& footer, std::string_view column);

// The schema of the footer without the name of its root, which is arbitrary, and with the orders of
// its columns. Equal for files whose row groups may be combined in one file.
std::string schema_bytes(const Footer& footer);

inline constexpr std::string_view kParquetMagic = "PAR1";

}  // namespace kin::data
