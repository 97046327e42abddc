#include "data/pages/page_maker.h"

#include "base/bytes.h"

namespace kin::data {
namespace {

// A page without its header: uncompressed levels, and the rest as it is stored.
struct Stored {
  std::string_view levels;
  std::string_view packed;
  std::size_t unpacked = 0;  // bytes of both
};

// Appends a header with the sizes of the page, and the page.
void append_page(ThriftValue header, bool with_crc, const Stored& page, FilteredPages& out) {
  const std::size_t bytes = page.levels.size() + page.packed.size();
  header.put_number(ids::page::kBytes, ThriftType::kInt32,
                    static_cast<std::int64_t>(page.unpacked));
  header.put_number(ids::page::kPackedBytes, ThriftType::kInt32, static_cast<std::int64_t>(bytes));
  if (with_crc) {
    header.put_number(ids::page::kCrc, ThriftType::kInt32,
                      static_cast<std::int32_t>(page_crc(page.levels, page.packed)));
  }
  std::string head;
  encode_thrift(head, header);
  const std::size_t header_bytes = head.size();
  std::string& whole = out.stored.emplace_back();
  whole.reserve(header_bytes + bytes);
  whole.append(head).append(page.levels).append(page.packed);
  out.bytes += whole.size();
  out.pages.back().bytes = static_cast<std::uint32_t>(header_bytes + bytes);
  out.pages.back().unpacked_bytes = static_cast<std::uint32_t>(header_bytes + page.unpacked);
}

Status check_size(std::size_t bytes) {
  if (bytes <= INT32_MAX) return Done{};
  return Error{Code::kInvalidArgument, "a page would be larger than 2 GB, which no reader takes"};
}

void set_truth(ThriftValue& value, int id, bool truth) {
  ThriftValue field;
  field.type = truth ? ThriftType::kTrue : ThriftType::kFalse;
  value.put(id, field);
}

}  // namespace

PageMaker::PageMaker(const Options& options, PageCodec& codecs)
    : options_(options),
      codecs_(codecs),
      definition_(level_bits(options.leaf.max_definition)),
      repetition_(level_bits(options.leaf.max_repetition)),
      values_(make_value_writer(options.leaf.type, options.encoding, options.index_bits)) {}

void PageMaker::put_levels(std::uint32_t definition, std::uint32_t repetition) {
  const auto most = static_cast<std::uint32_t>(options_.leaf.max_definition);
  if (most > 0) definition_.put(definition);
  if (options_.leaf.max_repetition > 0) repetition_.put(repetition);
  nulls_ += definition < most ? 1 : 0;
  ++levels_;
}

// Encodes levels as in a page of version 1 or 2, and sets the bytes of each kind.
void PageMaker::take_levels(bool old, std::size_t (&lengths)[2]) {
  levels_bytes_.clear();
  HybridEncoder* const encoders[2] = {&repetition_, &definition_};
  const int most[2] = {options_.leaf.max_repetition, options_.leaf.max_definition};
  for (int i = 0; i < 2; ++i) {
    if (most[i] == 0) continue;
    const std::size_t before = levels_bytes_.size();
    if (old) append_le(levels_bytes_, std::uint32_t{0});
    encoders[i]->take(levels_bytes_);
    lengths[i] = levels_bytes_.size() - before;
    if (old) store_le(levels_bytes_.data() + before, static_cast<std::uint32_t>(lengths[i] - 4));
  }
}

Status PageMaker::emit(FilteredPages& out) {
  const bool old = options_.like.kind == PageKind::kData;
  ThriftValue header = options_.like.stored;
  ThriftValue* const about = header.field(old ? ids::page::kData : ids::page::kDataV2);
  KIN_CHECK(about != nullptr, "a header without a page");
  std::size_t lengths[2] = {};
  take_levels(old, lengths);
  body_.clear();
  values_->take(body_);
  const auto put = [&](int id, std::size_t value) {
    about->put_number(id, ThriftType::kInt32, static_cast<std::int64_t>(value));
  };
  const auto encoding = static_cast<std::size_t>(options_.encoding);
  Codec codec = options_.packing.codec;
  if (old) {
    body_.insert(0, levels_bytes_);
    levels_bytes_.clear();
    put(ids::data_page::kValues, levels_);
    put(ids::data_page::kEncoding, encoding);
    put(ids::data_page::kDefinition, static_cast<std::size_t>(Encoding::kRle));
    put(ids::data_page::kRepetition, static_cast<std::size_t>(Encoding::kRle));
    about->erase(ids::data_page::kStatistics);
  } else {
    if (!options_.like.compressed) codec = Codec::kNone;
    put(ids::data_page_v2::kValues, levels_);
    put(ids::data_page_v2::kNulls, nulls_);
    put(ids::data_page_v2::kRows, rows_);
    put(ids::data_page_v2::kEncoding, encoding);
    put(ids::data_page_v2::kRepetitionBytes, lengths[0]);
    put(ids::data_page_v2::kDefinitionBytes, lengths[1]);
    set_truth(*about, ids::data_page_v2::kIsCompressed, codec != Codec::kNone);
    about->erase(ids::data_page_v2::kStatistics);
  }
  KIN_RETURN_IF_ERROR(check_size(levels_bytes_.size() + body_.size()));
  Stored page{levels_bytes_, body_, levels_bytes_.size() + body_.size()};
  if (codec != Codec::kNone) {
    KIN_RETURN_IF_ERROR(codecs_.pack(codec, options_.packing.level, body_, packed_));
    page.packed = packed_.view();
  }
  KIN_RETURN_IF_ERROR(check_size(page.levels.size() + page.packed.size()));
  out.pages.push_back({options_.like.kind, options_.encoding, 0, 0, levels_, rows_});
  append_page(std::move(header), options_.like.crc.has_value(), page, out);
  levels_ = nulls_ = rows_ = 0;
  return Done{};
}

Status repack_page(const PagePlace& page, std::string_view stored, Codec from, const Packing& to,
                   PageCodec& codecs, PageBuffer& unpacked, PageBuffer& packed,
                   FilteredPages& out) {
  const PageHeader& about = page.header;
  const bool newer = about.kind == PageKind::kDataV2;
  const std::size_t levels = newer ? about.repetition_bytes + about.definition_bytes : 0;
  std::string_view rest = stored.substr(page.header_bytes);
  Stored made{rest.substr(0, levels), rest.substr(levels), 0};
  if (about.compressed && from != Codec::kNone && !made.packed.empty()) {
    KIN_RETURN_IF_ERROR(codecs.unpack(from, made.packed, about.bytes - levels, unpacked));
    made.packed = unpacked.view();
  }
  made.unpacked = levels + made.packed.size();
  if (to.codec != Codec::kNone) {
    KIN_RETURN_IF_ERROR(codecs.pack(to.codec, to.level, made.packed, packed));
    made.packed = packed.view();
  }
  KIN_RETURN_IF_ERROR(check_size(levels + made.packed.size()));
  ThriftValue header = about.stored;
  if (newer) {
    set_truth(*header.field(ids::page::kDataV2), ids::data_page_v2::kIsCompressed,
              to.codec != Codec::kNone);
  }
  out.pages.push_back({about.kind, about.encoding, 0, 0, about.values, about.rows});
  append_page(std::move(header), about.crc.has_value(), made, out);
  return Done{};
}

}  // namespace kin::data
