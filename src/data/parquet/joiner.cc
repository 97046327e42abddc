#include "data/parquet/joiner.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/bytes.h"

namespace kin::data {
namespace {

constexpr std::string_view kMagic = "PAR1";
constexpr std::size_t kTailBytes = 8;  // the footer's length and the magic
constexpr std::int64_t kMostRows = std::int64_t{1} << 48;

// Fields by the ids of parquet.thrift.
constexpr int kFileSchema = 2;
constexpr int kFileRows = 3;
constexpr int kFileRowGroups = 4;
constexpr int kFileKeyValues = 5;
constexpr int kPairKey = 1;
constexpr int kGroupColumns = 1;
constexpr int kGroupFileOffset = 5;
constexpr int kGroupOrdinal = 7;
constexpr int kChunkMetadata = 3;
constexpr int kChunkOffsets[] = {2, 4, 6};  // the chunk, its offset index, its column index
constexpr int kMetadataOffsets[] = {9, 10, 11,
                                    14};  // data, index and dictionary pages, Bloom filter

Error not_parquet(const std::filesystem::path& path) {
  return Error{Code::kInternal,
               fmt::format("{} is not the Parquet file that was written", path.string())};
}

// Moves file offsets by `by`. False for an offset that is not before `end`, the end of the file.
class Shift {
 public:
  Shift(std::int64_t by, std::int64_t end) : by_(by), end_(end) {}

  bool group(ThriftValue& group) const {
    bool good = place(group, kGroupFileOffset);
    ThriftValue* const columns = group.field(kGroupColumns);
    if (columns == nullptr) return good;
    for (ThriftValue& chunk : columns->items) {
      for (const int id : kChunkOffsets) good = place(chunk, id) && good;
      ThriftValue* const metadata = chunk.field(kChunkMetadata);
      if (metadata == nullptr) continue;
      for (const int id : kMetadataOffsets) good = place(*metadata, id) && good;
    }
    return good;
  }

 private:
  bool place(ThriftValue& value, int id) const {
    ThriftValue* const offset = value.field(id);
    // Writers put 0 where there is nothing.
    if (offset == nullptr || offset->number == 0) return true;
    if (offset->number < 0 || offset->number >= end_) return false;
    offset->number += by_;
    return true;
  }

  std::int64_t by_;
  std::int64_t end_;
};

std::string encoded(const ThriftValue* value) {
  std::string bytes;
  if (value == nullptr) return bytes;
  for (const ThriftValue& item : value->items) encode_thrift(bytes, item);
  return bytes;
}

struct Footer {
  ThriftValue metadata;
  std::uint64_t begin = 0;
};

Result<Footer> read_footer(const File& file) {
  KIN_TRY(const std::uint64_t size, file.size());
  if (size < kMagic.size() + kTailBytes) return not_parquet(file.path());
  char tail[kTailBytes];
  KIN_RETURN_IF_ERROR(file.read_at(size - kTailBytes, tail, kTailBytes));
  const auto length = load_le<std::uint32_t>(tail);
  if (std::string_view(tail + 4, 4) != kMagic || length > size - kMagic.size() - kTailBytes) {
    return not_parquet(file.path());
  }
  Footer footer;
  footer.begin = size - kTailBytes - length;
  std::string bytes(length, '\0');
  KIN_RETURN_IF_ERROR(file.read_at(footer.begin, bytes.data(), length));
  KIN_TRY(footer.metadata, decode_thrift(bytes));
  for (const int id : {kFileSchema, kFileRows, kFileRowGroups}) {
    if (footer.metadata.field(id) == nullptr) return not_parquet(file.path());
  }
  const std::int64_t rows = footer.metadata.field(kFileRows)->number;
  if (rows < 0 || rows > kMostRows) return not_parquet(file.path());
  return footer;
}

// The format has sixteen bits for the number of a row group; files with more leave it out.
void number_groups(std::vector<ThriftValue>& groups) {
  const bool fits = groups.size() <= std::size_t{INT16_MAX} + 1;
  std::int64_t ordinal = 0;
  for (ThriftValue& group : groups) {
    if (!fits) std::erase_if(group.fields, [](const auto& one) { return one.id == kGroupOrdinal; });
    if (ThriftValue* const number = group.field(kGroupOrdinal)) number->number = ordinal;
    ++ordinal;
  }
}

void put_key_values(ThriftValue& footer, std::vector<ThriftValue> pairs) {
  std::erase_if(footer.fields, [](const auto& one) { return one.id == kFileKeyValues; });
  if (pairs.empty()) return;
  ThriftValue list;
  list.type = ThriftType::kList;
  list.items = std::move(pairs);
  const auto behind = std::find_if(footer.fields.begin(), footer.fields.end(),
                                   [](const auto& one) { return one.id > kFileKeyValues; });
  footer.fields.insert(behind, {kFileKeyValues, std::move(list)});
}

}  // namespace

Result<std::vector<ThriftValue>> read_key_values(const File& file) {
  KIN_TRY(Footer footer, read_footer(file));
  ThriftValue* const pairs = footer.metadata.field(kFileKeyValues);
  if (pairs == nullptr) return std::vector<ThriftValue>();
  const bool structs = std::all_of(pairs->items.begin(), pairs->items.end(),
                                   [](const auto& one) { return one.type == ThriftType::kStruct; });
  if (!structs) return not_parquet(file.path());
  return std::move(pairs->items);
}

std::string key_of(ThriftValue& pair) {
  const ThriftValue* const key = pair.field(kPairKey);
  return key == nullptr ? "" : key->bytes;
}

Result<ParquetJoiner> ParquetJoiner::create(const std::filesystem::path& path) {
  KIN_TRY(File file, File::create(path));
  KIN_RETURN_IF_ERROR(file.write(kMagic));
  ParquetJoiner joiner(std::move(file));
  joiner.end_ = kMagic.size();
  return joiner;
}

Status ParquetJoiner::copy(const File& from, std::uint64_t begin, std::uint64_t end) {
  std::vector<char> buffer(1 << 20);
  while (begin < end) {
    const std::size_t count = std::min<std::uint64_t>(buffer.size(), end - begin);
    KIN_RETURN_IF_ERROR(from.read_at(begin, buffer.data(), count));
    KIN_RETURN_IF_ERROR(file_.write({buffer.data(), count}));
    file_.begin_sync(end_, count);
    begin += count;
    end_ += count;
  }
  return Done{};
}

Status ParquetJoiner::append(const std::filesystem::path& path) {
  KIN_TRY(const File part, File::open_to_read(path));
  KIN_TRY(Footer footer, read_footer(part));
  const std::int64_t by =
      static_cast<std::int64_t>(end_) - static_cast<std::int64_t>(kMagic.size());
  std::vector<ThriftValue>& groups = footer.metadata.field(kFileRowGroups)->items;
  const Shift shift(by, static_cast<std::int64_t>(footer.begin));
  for (ThriftValue& group : groups) {
    if (!shift.group(group)) return not_parquet(path);
  }
  KIN_RETURN_IF_ERROR(copy(part, kMagic.size(), footer.begin));
  if (!footer_) {
    footer_ = std::move(footer.metadata);
    return Done{};
  }
  if (encoded(footer_->field(kFileSchema)) != encoded(footer.metadata.field(kFileSchema)))
    return not_parquet(path);
  std::vector<ThriftValue>& all = footer_->field(kFileRowGroups)->items;
  std::move(groups.begin(), groups.end(), std::back_inserter(all));
  std::int64_t& rows = footer_->field(kFileRows)->number;
  rows += footer.metadata.field(kFileRows)->number;
  if (rows > kMostRows) return not_parquet(path);
  return Done{};
}

Status ParquetJoiner::finish() {
  KIN_CHECK(footer_.has_value(), "a Parquet file needs a schema");
  number_groups(footer_->field(kFileRowGroups)->items);
  if (key_values_) put_key_values(*footer_, std::move(*key_values_));
  std::string bytes;
  encode_thrift(bytes, *footer_);
  append_le(bytes, static_cast<std::uint32_t>(bytes.size()));
  bytes += kMagic;
  KIN_RETURN_IF_ERROR(file_.write(bytes));
  end_ += bytes.size();
  return file_.close();
}

}  // namespace kin::data
