#include "data/pages/footer_writer.h"

#include <algorithm>

#include "base/bytes.h"

namespace kin::data {
namespace {

ThriftValue number(ThriftType type, std::uint64_t value) {
  ThriftValue made;
  made.type = type;
  made.number = static_cast<std::int64_t>(value);
  return made;
}

ThriftValue text(std::string_view bytes) {
  ThriftValue made;
  made.type = ThriftType::kBinary;
  made.bytes = bytes;
  return made;
}

ThriftValue list(ThriftType element, std::vector<ThriftValue> items) {
  ThriftValue made;
  made.type = ThriftType::kList;
  made.element = element;
  made.items = std::move(items);
  return made;
}

// Keeps the statistics of a chunk that are still true without the removed rows: bounds still hold.
void keep_true_statistics(ThriftValue& metadata, const OutputChunk& chunk) {
  ThriftValue* const about = metadata.field(ids::metadata::kStatistics);
  if (about == nullptr) return;
  about->erase(ids::statistics::kOldMax);
  about->erase(ids::statistics::kOldMin);
  about->erase(ids::statistics::kDistinct);
  for (const int id : {ids::statistics::kMaxExact, ids::statistics::kMinExact}) {
    const bool has_bound =
        about->field(id == ids::statistics::kMaxExact ? ids::statistics::kMax
                                                      : ids::statistics::kMin) != nullptr;
    about->erase(id);
    ThriftValue inexact;
    inexact.type = ThriftType::kFalse;
    if (has_bound) about->put(id, inexact);
  }
  ThriftValue* const nulls = about->field(ids::statistics::kNulls);
  if (nulls != nullptr && nulls->number != 0) {
    const auto before = static_cast<std::uint64_t>(nulls->number);
    const bool known = !chunk.nulls_unknown && before >= chunk.removed_nulls &&
                       before - chunk.removed_nulls <= chunk.values;
    if (known) {
      nulls->number = static_cast<std::int64_t>(before - chunk.removed_nulls);
    } else {
      about->erase(ids::statistics::kNulls);
    }
  }
  if (about->fields.empty()) metadata.erase(ids::metadata::kStatistics);
}

void put_encodings(ThriftValue& metadata, const OutputChunk& chunk, bool levels) {
  std::vector<std::int64_t> used;
  const auto use = [&](Encoding encoding) {
    const auto one = static_cast<std::int64_t>(encoding);
    if (std::find(used.begin(), used.end(), one) == used.end()) used.push_back(one);
  };
  if (levels) use(Encoding::kRle);
  std::vector<ThriftValue> stats;
  for (const auto& [page, count] : chunk.pages) {
    use(page.second);
    ThriftValue one;
    one.put(1, number(ThriftType::kInt32, static_cast<std::uint64_t>(page.first)));
    one.put(2, number(ThriftType::kInt32, static_cast<std::uint64_t>(page.second)));
    one.put(3, number(ThriftType::kInt32, count));
    stats.push_back(std::move(one));
  }
  std::sort(used.begin(), used.end());
  std::vector<ThriftValue> items;
  for (const std::int64_t one : used)
    items.push_back(number(ThriftType::kInt32, static_cast<std::uint64_t>(one)));
  metadata.put(ids::metadata::kEncodings, list(ThriftType::kInt32, std::move(items)));
  if (metadata.field(ids::metadata::kEncodingStats) != nullptr)
    metadata.put(ids::metadata::kEncodingStats, list(ThriftType::kStruct, std::move(stats)));
}

// Sets the new position and sizes of the chunk.
void put_places(ThriftValue& chunk_value, const OutputChunk& chunk) {
  ThriftValue& about = *chunk_value.field(ids::chunk::kMetadata);
  const auto put = [&](int id, std::uint64_t value) {
    about.put(id, number(ThriftType::kInt64, value));
  };
  put(ids::metadata::kValues, chunk.values);
  put(ids::metadata::kBytes, chunk.unpacked_bytes);
  put(ids::metadata::kPackedBytes, chunk.bytes);
  put(ids::metadata::kDataOffset, chunk.data_begin.value_or(0));
  about.erase(ids::metadata::kIndexOffset);
  if (chunk.has_dictionary) {
    put(ids::metadata::kDictionaryOffset, chunk.begin.value_or(0));
  } else {
    about.erase(ids::metadata::kDictionaryOffset);
  }
  // Writers put 0 here, since its meaning was never clear; older ones put the first page.
  const bool used = chunk_value.number_of(ids::chunk::kFileOffset) != 0;
  chunk_value.put(ids::chunk::kFileOffset,
                  number(ThriftType::kInt64, used ? chunk.begin.value_or(0) : 0));
}

// Writes the footer and what belongs to it.
class FooterWriter {
 public:
  FooterWriter(const RewriteRequest& request, std::deque<OutputGroup>& groups,
               OrderedOutput& output)
      : request_(request), groups_(groups), output_(output) {}

  Status write() {
    const Footer& first = request_.files.front().footer;
    ThriftValue metadata = first.metadata;
    std::vector<ThriftValue> trees;
    std::uint64_t rows = 0;
    for (OutputGroup& group : groups_) {
      KIN_TRY(trees.emplace_back(), group_tree(group, trees.size()));
      rows += group.rows;
    }
    metadata.put(ids::file::kRows, number(ThriftType::kInt64, rows));
    metadata.put(ids::file::kGroups, list(ThriftType::kStruct, std::move(trees)));
    if (request_.key_values) {
      metadata.erase(ids::file::kKeyValues);
      if (!request_.key_values->empty())
        metadata.put(ids::file::kKeyValues, list(ThriftType::kStruct, *request_.key_values));
    }
    add_columns(metadata);
    std::string bytes;
    encode_thrift(bytes, metadata);
    append_le(bytes, static_cast<std::uint32_t>(bytes.size()));
    bytes += kParquetMagic;
    return output_.write(bytes);
  }

 private:
  // True if the chunk is the stored one, page by page.
  bool is_whole(const OutputGroup& group, const OutputChunk& chunk) const {
    const Segment& only = group.segments.front();
    const GroupPlace& source = request_.files[only.file].footer.groups[only.group];
    return group.segments.size() == 1 && group.rows == source.rows && !chunk.changed &&
           !request_.codec;
  }

  Result<ThriftValue> group_tree(OutputGroup& group, std::size_t ordinal) {
    const Segment& from = group.segments.front();
    const Footer& footer = request_.files[from.file].footer;
    ThriftValue tree = footer.group(from.group);
    std::vector<ThriftValue>& chunks = tree.field(ids::group::kColumns)->items;
    std::uint64_t packed = 0;
    std::uint64_t unpacked = 0;
    for (std::size_t i = 0; i < group.chunks.size(); ++i) {
      const OutputChunk& chunk = group.chunks[i];
      if (i < chunks.size()) {
        KIN_RETURN_IF_ERROR(edit_chunk(group, i, chunks[i]));
      } else {
        chunks.push_back(added_chunk(group, i));
      }
      packed += chunk.bytes;
      unpacked += chunk.unpacked_bytes;
    }
    const auto put = [&](int id, ThriftType type, std::uint64_t value, bool always) {
      if (always || tree.field(id) != nullptr) tree.put(id, number(type, value));
    };
    put(ids::group::kBytes, ThriftType::kInt64, unpacked, true);
    put(ids::group::kRows, ThriftType::kInt64, group.rows, true);
    put(ids::group::kFileOffset, ThriftType::kInt64, group.chunks.front().begin.value_or(0), false);
    put(ids::group::kPackedBytes, ThriftType::kInt64, packed, false);
    // The format has sixteen bits for it; files with more row groups leave it out.
    if (groups_.size() > std::size_t{INT16_MAX}) tree.erase(ids::group::kOrdinal);
    put(ids::group::kOrdinal, ThriftType::kInt16, ordinal, false);
    if (group.segments.size() > 1) tree.erase(ids::group::kSorting);
    return tree;
  }

  Status edit_chunk(const OutputGroup& group, std::size_t leaf, ThriftValue& tree) {
    const OutputChunk& chunk = group.chunks[leaf];
    const SourceFile& source = request_.files[group.segments.front().file];
    ThriftValue& about = *tree.field(ids::chunk::kMetadata);
    const bool whole = is_whole(group, chunk);
    const bool bounds = group.segments.size() == 1 && !edited_column(request_, leaf);
    const auto had_index = about.field(ids::metadata::kType) != nullptr &&
                           tree.field(ids::chunk::kOffsetIndex) != nullptr;
    put_places(tree, chunk);
    if (request_.codec) {
      about.put(ids::metadata::kCodec,
                number(ThriftType::kInt32, static_cast<std::uint64_t>(*request_.codec)));
    }
    if (!whole) {
      const Leaf& column = source.footer.leaves[leaf];
      put_encodings(about, chunk, column.max_definition > 0 || column.max_repetition > 0);
      about.erase(ids::metadata::kSizeStatistics);
      about.erase(ids::metadata::kGeoStatistics);
      if (!bounds) about.erase(ids::metadata::kStatistics);
      if (chunk.changed || !bounds) keep_true_statistics(about, chunk);
      if (ThriftValue* const statistics = about.field(ids::metadata::kStatistics);
          statistics != nullptr && column.max_repetition > 0 && chunk.changed) {
        statistics->erase(ids::statistics::kNulls);
      }
    }
    KIN_RETURN_IF_ERROR(copy_bloom(source, about, bounds));
    return put_indexes(source, chunk, tree, {.had_offsets = had_index, .whole = whole});
  }

  // A Bloom filter of more values is still valid for fewer.
  Status copy_bloom(const SourceFile& source, ThriftValue& about, bool may) {
    const std::int64_t at = about.number_of(ids::metadata::kBloomOffset);
    std::int64_t length = about.number_of(ids::metadata::kBloomLength);
    about.erase(ids::metadata::kBloomOffset);
    about.erase(ids::metadata::kBloomLength);
    constexpr std::int64_t kMost = 128 << 20;
    constexpr std::int64_t kHeader = 64;
    const auto end = static_cast<std::int64_t>(source.footer.begin);
    if (!may || at <= 0 || at >= end) return Done{};
    std::string bytes;
    if (length <= 0) {
      bytes.resize(static_cast<std::size_t>(std::min(kHeader, end - at)));
      KIN_RETURN_IF_ERROR(
          source.file.read_at(static_cast<std::uint64_t>(at), bytes.data(), bytes.size()));
      std::size_t used = 0;
      const auto header = decode_thrift_prefix(bytes, used);
      if (!header) return Done{};
      length = static_cast<std::int64_t>(used) + std::max<std::int64_t>(header->number_of(1), 0);
    }
    if (length > kMost || length > end - at) return Done{};
    bytes.resize(static_cast<std::size_t>(length));
    KIN_RETURN_IF_ERROR(
        source.file.read_at(static_cast<std::uint64_t>(at), bytes.data(), bytes.size()));
    about.put(ids::metadata::kBloomOffset, number(ThriftType::kInt64, output_.bytes()));
    about.put(ids::metadata::kBloomLength,
              number(ThriftType::kInt32, static_cast<std::uint64_t>(length)));
    return output_.write(bytes);
  }

  struct IndexFate {
    bool had_offsets = false;
    bool whole = false;
  };

  // The offset index is rewritten; the column index is kept if all pages are.
  Status put_indexes(const SourceFile& source, const OutputChunk& chunk, ThriftValue& tree,
                     IndexFate fate) {
    const std::int64_t bounds_at = tree.number_of(ids::chunk::kColumnIndex);
    const std::int64_t bounds_length = tree.number_of(ids::chunk::kColumnIndexLength);
    for (const int id : {ids::chunk::kColumnIndex, ids::chunk::kColumnIndexLength,
                         ids::chunk::kOffsetIndex, ids::chunk::kOffsetIndexLength}) {
      tree.erase(id);
    }
    if (!fate.had_offsets) return Done{};
    constexpr std::int64_t kMost = 256 << 20;
    const auto end = static_cast<std::int64_t>(source.footer.begin);
    if (fate.whole && bounds_at > 0 && bounds_length > 0 && bounds_length < kMost &&
        bounds_at < end && bounds_length <= end - bounds_at) {
      std::string bytes(static_cast<std::size_t>(bounds_length), '\0');
      KIN_RETURN_IF_ERROR(
          source.file.read_at(static_cast<std::uint64_t>(bounds_at), bytes.data(), bytes.size()));
      put_place(tree, ids::chunk::kColumnIndex, bytes.size());
      KIN_RETURN_IF_ERROR(output_.write(bytes));
    }
    std::vector<ThriftValue> locations;
    for (const OutputChunk::Location& page : chunk.locations) {
      ThriftValue one;
      one.put(1, number(ThriftType::kInt64, page.offset));
      one.put(2, number(ThriftType::kInt32, page.bytes));
      one.put(3, number(ThriftType::kInt64, page.first_row));
      locations.push_back(std::move(one));
    }
    ThriftValue index;
    index.put(1, list(ThriftType::kStruct, std::move(locations)));
    std::string bytes;
    encode_thrift(bytes, index);
    put_place(tree, ids::chunk::kOffsetIndex, bytes.size());
    return output_.write(bytes);
  }

  // Sets the position of the next thing written. Its length is in the next field.
  void put_place(ThriftValue& tree, int id, std::size_t length) {
    tree.put(id, number(ThriftType::kInt64, output_.bytes()));
    tree.put(id + 1, number(ThriftType::kInt32, length));
  }

  ThriftValue added_chunk(const OutputGroup& group, std::size_t number_of_chunk) const {
    const OutputChunk& chunk = group.chunks[number_of_chunk];
    const std::size_t leaves = request_.files.front().footer.leaves.size();
    const RecordEdits::Column& column = request_.edits->added()[number_of_chunk - leaves];
    const Leaf leaf = added_leaf(column);
    ThriftValue about;
    about.put(ids::metadata::kType,
              number(ThriftType::kInt32, static_cast<std::uint64_t>(leaf.type.physical)));
    about.put(ids::metadata::kPath, list(ThriftType::kBinary, {text(column.name)}));
    about.put(ids::metadata::kCodec,
              number(ThriftType::kInt32, static_cast<std::uint64_t>(
                                             packing_of(request_, group, number_of_chunk).codec)));
    put_encodings(about, chunk, true);
    ThriftValue tree;
    tree.put(ids::chunk::kMetadata, std::move(about));
    put_places(tree, chunk);
    return tree;
  }

  // After the columns of the inputs, at the top of the schema.
  void add_columns(ThriftValue& metadata) const {
    if (request_.edits == nullptr) return;
    std::vector<ThriftValue>& schema = metadata.field(ids::file::kSchema)->items;
    ThriftValue* const orders = metadata.field(ids::file::kColumnOrders);
    for (const RecordEdits::Column& column : request_.edits->added()) {
      constexpr std::uint64_t kOptional = 1;
      ThriftValue element;
      element.put(
          ids::element::kType,
          number(ThriftType::kInt32, static_cast<std::uint64_t>(added_leaf(column).type.physical)));
      element.put(ids::element::kRepetition, number(ThriftType::kInt32, kOptional));
      element.put(ids::element::kName, text(column.name));
      if (column.type == RecordEdits::Type::kText) {
        ThriftValue is_text;
        is_text.put(1, ThriftValue());
        element.put(ids::element::kConverted, number(ThriftType::kInt32, 0));
        element.put(ids::element::kLogical, std::move(is_text));
      }
      schema.push_back(std::move(element));
      ++schema.front().field(ids::element::kChildren)->number;
      if (orders == nullptr) continue;
      ThriftValue by_type;
      by_type.put(1, ThriftValue());
      orders->items.push_back(std::move(by_type));
    }
  }

  const RewriteRequest& request_;
  std::deque<OutputGroup>& groups_;
  OrderedOutput& output_;
};

}  // namespace

Status write_footer(const RewriteRequest& request, std::deque<OutputGroup>& groups,
                    OrderedOutput& output) {
  return FooterWriter(request, groups, output).write();
}

}  // namespace kin::data
