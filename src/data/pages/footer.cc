#include "data/pages/footer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/bytes.h"

namespace kin::data {
namespace {

constexpr std::size_t kTailBytes = 8;  // the footer's length and the magic
constexpr std::uint64_t kMostRows = std::uint64_t{1} << 48;
constexpr std::size_t kMostDepth = 64;

Error damaged(std::string_view what) {
  return {Code::kDataLoss, fmt::format("the file is damaged: {}", what)};
}

// The number in a field, which must not be negative.
bool take_number(const ThriftValue& value, int id, std::uint64_t& number) {
  const std::int64_t found = value.number_of(id, -1);
  number = static_cast<std::uint64_t>(found);
  return found >= 0;
}

// Walks the flattened schema and collects its leaves.
class SchemaWalk {
 public:
  SchemaWalk(const std::vector<ThriftValue>& elements, std::vector<Leaf>& leaves)
      : elements_(elements), leaves_(leaves) {}

  Status root() {
    if (elements_.empty()) return damaged("it has no schema");
    const std::int64_t children = elements_[at_++].number_of(ids::element::kChildren);
    for (std::int64_t i = 0; i < children; ++i) KIN_RETURN_IF_ERROR(element(Leaf{}));
    if (at_ != elements_.size()) return damaged("its schema has unused parts");
    return Done{};
  }

 private:
  // The element at_ and its descendants. `above` has the path and the levels so far.
  Status element(Leaf above) {
    if (at_ == elements_.size()) return damaged("its schema is cut off");
    if (above.path.size() == kMostDepth) return damaged("its schema is nested too deeply");
    const std::size_t mine = at_++;
    const ThriftValue& about = elements_[mine];
    const ThriftValue* const name = about.field(ids::element::kName);
    above.path.push_back(name == nullptr ? "" : name->bytes);
    enum { kRequired, kOptional, kRepeated };
    const std::int64_t repetition = about.number_of(ids::element::kRepetition, kRequired);
    if (repetition < kRequired || repetition > kRepeated) return damaged("its schema is wrong");
    above.max_definition += repetition == kRequired ? 0 : 1;
    above.max_repetition += repetition == kRepeated ? 1 : 0;
    const std::int64_t children = about.number_of(ids::element::kChildren);
    if (about.field(ids::element::kType) != nullptr && children <= 0)
      return leaf(std::move(above), mine);
    for (std::int64_t i = 0; i < children; ++i) KIN_RETURN_IF_ERROR(element(above));
    return Done{};
  }

  Status leaf(Leaf leaf, std::size_t mine) {
    const ThriftValue& about = elements_[mine];
    const std::int64_t type = about.number_of(ids::element::kType);
    if (type < 0 || type > static_cast<int>(Physical::kFixed))
      return damaged("its schema has a type that does not exist");
    leaf.type.physical = static_cast<Physical>(type);
    const std::int64_t length = about.number_of(ids::element::kTypeLength);
    if (leaf.type.physical == Physical::kFixed) {
      if (length < 0 || length > INT32_MAX) return damaged("its schema is wrong");
      leaf.type.fixed_bytes = static_cast<std::uint32_t>(length);
    }
    leaf.element = mine;
    leaves_.push_back(std::move(leaf));
    return Done{};
  }

  const std::vector<ThriftValue>& elements_;
  std::vector<Leaf>& leaves_;
  std::size_t at_ = 0;
};

Result<ChunkPlace> read_chunk(const ThriftValue& chunk, const Leaf& leaf, std::uint64_t end) {
  if (chunk.field(ids::chunk::kFilePath) != nullptr) {
    return Error{Code::kInvalidArgument,
                 "it refers to data in other files, which cannot be read (merge them first)"};
  }
  const ThriftValue* const about = chunk.field(ids::chunk::kMetadata);
  if (chunk.field(ids::chunk::kCrypto) != nullptr || about == nullptr)
    return Error{Code::kInvalidArgument, "it is encrypted, and cannot be read (decrypt it first)"};
  ChunkPlace place;
  std::uint64_t type = 0;
  std::uint64_t codec = 0;
  if (!take_number(*about, ids::metadata::kType, type) ||
      !take_number(*about, ids::metadata::kCodec, codec) ||
      !take_number(*about, ids::metadata::kValues, place.values) ||
      !take_number(*about, ids::metadata::kBytes, place.unpacked_bytes) ||
      !take_number(*about, ids::metadata::kPackedBytes, place.bytes) ||
      !take_number(*about, ids::metadata::kDataOffset, place.begin)) {
    return damaged(fmt::format("its footer lacks numbers about column `{}`", leaf.name()));
  }
  // Writers put 0 where there is no dictionary.
  const std::int64_t dictionary = about->number_of(ids::metadata::kDictionaryOffset);
  if (dictionary > 0) place.begin = std::min(place.begin, static_cast<std::uint64_t>(dictionary));
  if (type != static_cast<std::uint64_t>(leaf.type.physical) ||
      codec > static_cast<std::uint64_t>(Codec::kLz4Raw) || place.values > kMostRows ||
      place.begin < kParquetMagic.size() || place.begin > end || place.bytes > end - place.begin) {
    return damaged(fmt::format("its footer has wrong numbers about column `{}`", leaf.name()));
  }
  place.codec = static_cast<Codec>(codec);
  return place;
}

Status read_groups(Footer& footer) {
  const ThriftValue* const groups = footer.metadata.field(ids::file::kGroups);
  std::uint64_t rows = 0;
  if (!take_number(footer.metadata, ids::file::kRows, footer.rows) || footer.rows > kMostRows ||
      groups == nullptr) {
    return damaged("its footer is incomplete");
  }
  for (const ThriftValue& group : groups->items) {
    GroupPlace place;
    place.first_row = rows;
    const ThriftValue* const chunks = group.field(ids::group::kColumns);
    if (!take_number(group, ids::group::kRows, place.rows) || place.rows > kMostRows - rows ||
        chunks == nullptr || chunks->items.size() != footer.leaves.size()) {
      return damaged("its footer has a row group that does not fit its schema");
    }
    for (std::size_t i = 0; i < chunks->items.size(); ++i) {
      KIN_TRY(place.chunks.emplace_back(),
              read_chunk(chunks->items[i], footer.leaves[i], footer.begin));
      if (footer.leaves[i].max_repetition == 0 && place.chunks.back().values != place.rows)
        return damaged("a column has another number of values than its row group has rows");
    }
    rows += place.rows;
    footer.groups.push_back(std::move(place));
  }
  if (rows == footer.rows) return Done{};
  return damaged(fmt::format("it should have {} rows, but its row groups have {} together",
                             footer.rows, rows));
}

}  // namespace

std::string Leaf::name() const {
  return fmt::format("{}", fmt::join(path, "."));
}

const std::vector<ThriftValue>& Footer::schema() const {
  return metadata.field(ids::file::kSchema)->items;
}

const ThriftValue& Footer::group(std::size_t number) const {
  return metadata.field(ids::file::kGroups)->items[number];
}

Result<Footer> read_footer(const File& file) {
  KIN_TRY(const std::uint64_t size, file.size());
  if (size < kParquetMagic.size() + kTailBytes)
    return Error{Code::kDataLoss, "it is not a Parquet file, or is cut off"};
  char tail[kTailBytes];
  KIN_RETURN_IF_ERROR(file.read_at(size - kTailBytes, tail, kTailBytes));
  const auto length = load_le<std::uint32_t>(tail);
  const std::string_view magic(tail + 4, 4);
  if (magic == "PARE")
    return Error{Code::kInvalidArgument, "it is encrypted, and cannot be read (decrypt it first)"};
  if (magic != kParquetMagic || length > size - kParquetMagic.size() - kTailBytes)
    return Error{Code::kDataLoss, "it is not a Parquet file, or is cut off"};
  Footer footer;
  footer.begin = size - kTailBytes - length;
  std::string bytes(length, '\0');
  KIN_RETURN_IF_ERROR(file.read_at(footer.begin, bytes.data(), length));
  auto decoded = decode_thrift(bytes);
  if (!decoded) return damaged("its footer cannot be read");
  footer.metadata = std::move(*decoded);
  const ThriftValue* const schema = footer.metadata.field(ids::file::kSchema);
  if (schema == nullptr) return damaged("it has no schema");
  KIN_RETURN_IF_ERROR(SchemaWalk(schema->items, footer.leaves).root());
  KIN_RETURN_IF_ERROR(read_groups(footer));
  return footer;
}

std::optional<std::size_t> find_leaf(const Footer& footer, std::string_view column) {
  for (std::size_t length = column.size();; length = column.rfind('.', length - 1)) {
    const std::string_view name = column.substr(0, length);
    bool is_column = false;
    for (std::size_t i = 0; i < footer.leaves.size(); ++i) {
      const Leaf& leaf = footer.leaves[i];
      if (leaf.path.front() != name) continue;
      is_column = true;
      if (leaf.max_repetition == 0 && leaf.name() == column) return i;
    }
    // A longer name of a column counts, even if it has no such part.
    if (is_column || length == 0) return {};
    if (column.rfind('.', length - 1) == std::string_view::npos) return {};
  }
}

std::string schema_bytes(const Footer& footer) {
  std::string bytes;
  const std::vector<ThriftValue>& elements = footer.schema();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    ThriftValue element = elements[i];
    if (i == 0) element.erase(ids::element::kName);
    encode_thrift(bytes, element);
  }
  if (const ThriftValue* const orders = footer.metadata.field(ids::file::kColumnOrders)) {
    for (const ThriftValue& order : orders->items) encode_thrift(bytes, order);
  }
  return bytes;
}

}  // namespace kin::data
