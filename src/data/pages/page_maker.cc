#include "data/pages/page_maker.h"

#include "base/bytes.h"

namespace kin::data {
namespace {

// Appends a header with these sizes, and the page itself.
void append_page(ThriftValue header, bool with_crc, std::size_t unpacked, std::string_view packed,
                 FilteredPages& out) {
  header.put_number(ids::page::kBytes, ThriftType::kInt32, static_cast<std::int64_t>(unpacked));
  header.put_number(ids::page::kPackedBytes, ThriftType::kInt32,
                    static_cast<std::int64_t>(packed.size()));
  if (with_crc) {
    header.put_number(ids::page::kCrc, ThriftType::kInt32,
                      static_cast<std::int32_t>(page_crc(packed)));
  }
  const std::size_t before = out.bytes.size();
  encode_thrift(out.bytes, header);
  const std::size_t header_bytes = out.bytes.size() - before;
  out.bytes += packed;
  out.pages.back().bytes = static_cast<std::uint32_t>(header_bytes + packed.size());
  out.pages.back().unpacked_bytes = static_cast<std::uint32_t>(header_bytes + unpacked);
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

Status PageMaker::emit(FilteredPages& out) {
  const bool old = options_.like.kind == PageKind::kData;
  ThriftValue header = options_.like.stored;
  ThriftValue* const about = header.field(old ? ids::page::kData : ids::page::kDataV2);
  KIN_CHECK(about != nullptr, "a header without a page");
  body_.clear();
  packed_.clear();
  std::size_t lengths[2] = {};
  HybridEncoder* const encoders[2] = {&repetition_, &definition_};
  const int most[2] = {options_.leaf.max_repetition, options_.leaf.max_definition};
  for (int i = 0; i < 2; ++i) {
    if (most[i] == 0) continue;
    const std::size_t before = body_.size();
    if (old) append_le(body_, std::uint32_t{0});
    encoders[i]->take(body_);
    lengths[i] = body_.size() - before;
    if (old) store_le(body_.data() + before, static_cast<std::uint32_t>(lengths[i] - 4));
  }
  const std::size_t levels = body_.size();
  values_->take(body_);
  KIN_RETURN_IF_ERROR(check_size(body_.size()));
  const auto put = [&](int id, std::size_t value) {
    about->put_number(id, ThriftType::kInt32, static_cast<std::int64_t>(value));
  };
  const auto encoding = static_cast<std::size_t>(options_.encoding);
  if (old) {
    put(ids::data_page::kValues, levels_);
    put(ids::data_page::kEncoding, encoding);
    put(ids::data_page::kDefinition, static_cast<std::size_t>(Encoding::kRle));
    put(ids::data_page::kRepetition, static_cast<std::size_t>(Encoding::kRle));
    about->erase(ids::data_page::kStatistics);
    KIN_RETURN_IF_ERROR(
        codecs_.pack(options_.packing.codec, options_.packing.level, body_, packed_));
  } else {
    const bool compressed = options_.like.compressed && options_.packing.codec != Codec::kNone;
    put(ids::data_page_v2::kValues, levels_);
    put(ids::data_page_v2::kNulls, nulls_);
    put(ids::data_page_v2::kRows, rows_);
    put(ids::data_page_v2::kEncoding, encoding);
    put(ids::data_page_v2::kRepetitionBytes, lengths[0]);
    put(ids::data_page_v2::kDefinitionBytes, lengths[1]);
    set_truth(*about, ids::data_page_v2::kIsCompressed, compressed);
    about->erase(ids::data_page_v2::kStatistics);
    packed_.assign(body_, 0, levels);
    KIN_RETURN_IF_ERROR(codecs_.pack(compressed ? options_.packing.codec : Codec::kNone,
                                     options_.packing.level, std::string_view(body_).substr(levels),
                                     packed_));
  }
  KIN_RETURN_IF_ERROR(check_size(packed_.size()));
  out.pages.push_back({options_.like.kind, options_.encoding, 0, 0, levels_, rows_});
  append_page(std::move(header), options_.like.crc.has_value(), body_.size(), packed_, out);
  levels_ = nulls_ = rows_ = 0;
  return Done{};
}

Status repack_page(const PagePlace& page, std::string_view stored, Codec from, const Packing& to,
                   PageCodec& codecs, PageBuffer& unpacked, FilteredPages& out) {
  const PageHeader& about = page.header;
  const bool newer = about.kind == PageKind::kDataV2;
  std::string_view packed = stored.substr(page.header_bytes);
  const std::size_t levels = newer ? about.repetition_bytes + about.definition_bytes : 0;
  std::string again(packed.substr(0, levels));
  packed.remove_prefix(levels);
  std::string_view plain = packed;
  if (about.compressed && from != Codec::kNone && !packed.empty()) {
    KIN_RETURN_IF_ERROR(codecs.unpack(from, packed, about.bytes - levels, unpacked));
    plain = unpacked.view();
  }
  KIN_RETURN_IF_ERROR(codecs.pack(to.codec, to.level, plain, again));
  KIN_RETURN_IF_ERROR(check_size(again.size()));
  ThriftValue header = about.stored;
  if (newer) {
    set_truth(*header.field(ids::page::kDataV2), ids::data_page_v2::kIsCompressed,
              to.codec != Codec::kNone);
  }
  out.pages.push_back({about.kind, about.encoding, 0, 0, about.values, about.rows});
  append_page(std::move(header), about.crc.has_value(), levels + plain.size(), again, out);
  return Done{};
}

}  // namespace kin::data
