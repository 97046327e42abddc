#include "data/pages/page_filter.h"

#include <algorithm>

namespace kin::data {
namespace {

constexpr std::size_t kBatch = 1024;

Error damaged(const char* what) {
  return {Code::kDataLoss, what};
}

// Gives values one at a time.
class ValueFeed {
 public:
  explicit ValueFeed(std::unique_ptr<ValueReader> reader) : reader_(std::move(reader)) {}
  // `left` values are still wanted: what follows them may be padding that would decode as values.
  // Valid until the next call.
  Result<std::string_view> next(std::size_t left) {
    if (at_ == values_.size()) {
      values_.clear();
      at_ = 0;
      KIN_RETURN_IF_ERROR(reader_->read(left, values_));
    }
    return values_[at_++];
  }

 private:
  std::unique_ptr<ValueReader> reader_;
  std::vector<std::string_view> values_;
  std::size_t at_ = 0;
};

// Definition and repetition levels, a batch at a time.
struct LevelBatch {
  std::uint32_t definition[kBatch];
  std::uint32_t repetition[kBatch];
  std::size_t count = 0;
};

class LevelFeed {
 public:
  LevelFeed(const Leaf& leaf, const PageHeader& header, const PageBody& body)
      : definition_(body.definition, header.definition, leaf.max_definition),
        repetition_(body.repetition, header.repetition, leaf.max_repetition),
        left_(header.values) {}

  // False at the end.
  Result<bool> next(LevelBatch& batch) {
    batch.count = std::min<std::size_t>(left_, kBatch);
    left_ -= static_cast<std::uint32_t>(batch.count);
    if (batch.count == 0) return false;
    if (!definition_.read(batch.definition, batch.count) ||
        !repetition_.read(batch.repetition, batch.count)) {
      return damaged("the levels of a page are damaged");
    }
    return true;
  }

 private:
  LevelReader definition_;
  LevelReader repetition_;
  std::uint32_t left_;
};

std::uint64_t nulls_in_header(const PageHeader& header) {
  const ThriftValue* const about = header.stored.field(ids::page::kDataV2);
  return about == nullptr ? 0
                          : static_cast<std::uint64_t>(about->number_of(ids::data_page_v2::kNulls));
}

void leave_out(const ChunkJob& job, const PageHeader& header, FilteredPages& out) {
  out.changed = true;
  // A required column has no nulls to count.
  if (job.leaf.max_definition == 0) return;
  if (header.kind == PageKind::kDataV2) {
    out.removed_nulls += nulls_in_header(header);
  } else {
    // Headers of version 1 do not count nulls.
    out.nulls_unknown = true;
  }
}

}  // namespace

// The rows that have values on a page.
struct PageFilter::RowsOfPage {
  std::uint64_t first = 0;
  std::uint64_t behind = 0;  // the row behind the last one
  std::uint32_t begun = 0;   // rows that begin on the page
};

std::uint64_t ChunkJob::kept_between(std::uint64_t from, std::uint64_t to) const {
  from = std::max(from, begin);
  to = std::min(to, end);
  return from < to ? mask.count(from, to) : 0;
}

Status PageFilter::copy(const ChunkJob& job, const PagePlace& page, std::uint64_t rows,
                        FilteredPages& out) {
  PageBuffer& stored = loader_.stored();
  KIN_RETURN_IF_ERROR(read_page(job.file, page, stored));
  if (job.repacks()) {
    KIN_RETURN_IF_ERROR(repack_page(page, stored.view(), job.place.codec, job.packing,
                                    loader_.codecs(), loader_.unpacked(), packed_, out));
  } else {
    out.stored.emplace_back(stored.view());
    out.bytes += stored.view().size();
    out.pages.push_back({page.header.kind, page.header.encoding,
                         static_cast<std::uint32_t>(stored.view().size()),
                         page.header_bytes + page.header.bytes, page.header.values, 0});
  }
  out.pages.back().rows = static_cast<std::uint32_t>(rows);
  return Done{};
}

Status PageFilter::load_dictionary(const ChunkJob& job, const PagePlace& page) {
  KIN_RETURN_IF_ERROR(read_page(job.file, page, loader_.stored()));
  const std::string_view packed = loader_.stored().view().substr(page.header_bytes);
  KIN_RETURN_IF_ERROR(
      loader_.codecs().unpack(job.place.codec, packed, page.header.bytes, dictionary_bytes_));
  KIN_TRY(dictionary_,
          read_dictionary(job.leaf.type, dictionary_bytes_.view(), page.header.values));
  return Done{};
}

Status PageFilter::dictionary_page(const ChunkJob& job, const PagePlace& page, FilteredPages& out) {
  if (job.expand_dictionary || job.edits != nullptr) return load_dictionary(job, page);
  return copy(job, page, 0, out);
}

Result<PageBody> PageFilter::unpack(const ChunkJob& job, const PagePlace& page) {
  return loader_.load({job.file, job.leaf, job.place.codec, job.kept}, page,
                      PageLoader::Use::kLast);
}

Status PageFilter::flat_page(const ChunkJob& job, const PagePlace& page, FilteredPages& out,
                             const Flush& flush) {
  const PageHeader& header = page.header;
  if (header.kind == PageKind::kDictionary) return dictionary_page(job, page, out);
  if (header.kind == PageKind::kDataV2 && header.rows != header.values)
    return damaged("a page has another number of rows than of values");
  const std::uint64_t first = job.first_row + page.first_value;
  const std::uint64_t kept = job.kept_between(first, first + header.values);
  if (kept == 0) {
    leave_out(job, header, out);
    return Done{};
  }
  const bool as_it_is =
      job.edits == nullptr && !(job.expand_dictionary && is_dictionary(header.encoding));
  if (kept == header.values && as_it_is) {
    KIN_RETURN_IF_ERROR(copy(job, page, kept, out));
    return flush(out);
  }
  KIN_TRY(const PageBody body, unpack(job, page));
  next_row_ = first;
  return rewrite(job, page, body, out, flush);
}

// Pages of version 1 may begin in the middle of a row, and do not say how many rows they have.
Result<PageFilter::RowsOfPage> PageFilter::rows_of(const ChunkJob& job, const PagePlace& page,
                                                   const PageBody& body) const {
  RowsOfPage rows{next_row_, next_row_, 0};
  LevelFeed feed(job.leaf, page.header, body);
  LevelBatch levels;
  for (bool at_start = true;; at_start = false) {
    KIN_TRY(const bool more, feed.next(levels));
    if (!more) break;
    if (at_start && levels.repetition[0] != 0) {
      if (next_row_ == job.first_row) return damaged("a column begins in the middle of a row");
      --rows.first;
    }
    rows.begun += static_cast<std::uint32_t>(
        std::count(levels.repetition, levels.repetition + levels.count, 0U));
  }
  rows.behind += rows.begun;
  if (rows.behind > job.first_row + job.rows)
    return damaged("a column has more rows than its row group");
  return rows;
}

Status PageFilter::repeated_page(const ChunkJob& job, const PagePlace& page, FilteredPages& out,
                                 const Flush& flush) {
  KIN_TRY(const PageBody body, unpack(job, page));
  KIN_TRY(const RowsOfPage rows, rows_of(job, page, body));
  const std::uint64_t kept = job.kept_between(rows.first, rows.behind);
  const bool as_it_is =
      job.edits == nullptr && !(job.expand_dictionary && is_dictionary(page.header.encoding));
  if (kept == 0) {
    leave_out(job, page.header, out);
    next_row_ = rows.behind;
    return Done{};
  }
  if (kept == rows.behind - rows.first && as_it_is) {
    next_row_ = rows.behind;
    KIN_RETURN_IF_ERROR(copy(job, page, rows.begun, out));
    return flush(out);
  }
  return rewrite(job, page, body, out, flush);
}

// Copies the kept rows of one page to new ones.
class PageFilter::RowCopy {
 public:
  RowCopy(const ChunkJob& job, ValueFeed values, PageMaker maker, FilteredPages& out,
          const Flush& flush)
      : job_(job), values_(std::move(values)), maker_(std::move(maker)), out_(out), flush_(flush) {}

  // `next_row` is the next row to begin, and is advanced.
  Status copy(LevelFeed feed, std::uint64_t& next_row) {
    LevelBatch levels;
    // A page may begin in the middle of a row.
    kept_ = next_row > job_.first_row && job_.is_kept(next_row - 1);
    for (;;) {
      KIN_TRY(const bool more, feed.next(levels));
      if (!more) break;
      std::size_t left = static_cast<std::size_t>(
          std::count(levels.definition, levels.definition + levels.count, present_));
      for (std::size_t i = 0; i < levels.count; ++i) {
        if (levels.repetition[i] == 0) KIN_RETURN_IF_ERROR(begin_row(next_row++));
        std::string_view value;
        if (levels.definition[i] == present_) {
          KIN_TRY(value, values_.next(left--));
          // An empty value is not null: it has to point somewhere.
          if (value.data() == nullptr) value = std::string_view("", 0);
        }
        KIN_RETURN_IF_ERROR(put(levels.definition[i], levels.repetition[i], value, next_row - 1));
      }
    }
    if (maker_.is_empty()) return Done{};
    KIN_RETURN_IF_ERROR(maker_.emit(out_));
    return flush_(out_);
  }

 private:
  Status begin_row(std::uint64_t row) {
    if (maker_.is_full()) {
      KIN_RETURN_IF_ERROR(maker_.emit(out_));
      KIN_RETURN_IF_ERROR(flush_(out_));
    }
    kept_ = job_.is_kept(row);
    if (kept_) maker_.begin_row();
    return Done{};
  }

  // A value without data is null.
  Status put(std::uint32_t definition, std::uint32_t repetition, std::string_view value,
             std::uint64_t row) {
    const bool is_null = value.data() == nullptr;
    if (!kept_) {
      out_.changed = true;
      out_.removed_nulls += is_null ? 1 : 0;
      return Done{};
    }
    maker_.put_levels(definition, repetition);
    if (is_null) return Done{};
    if (job_.edits != nullptr) {
      KIN_TRY(const bool replaced,
              job_.edits->replace(job_.edited_column, job_.mask.record(row), value, text_));
      if (replaced) value = text_;
      out_.changed = out_.changed || replaced;
    }
    maker_.put_value(value);
    return Done{};
  }

  const ChunkJob& job_;
  const std::uint32_t present_ = static_cast<std::uint32_t>(job_.leaf.max_definition);
  ValueFeed values_;
  PageMaker maker_;
  FilteredPages& out_;
  const Flush& flush_;
  std::string text_;
  bool kept_ = false;
};

Status PageFilter::rewrite(const ChunkJob& job, const PagePlace& page, const PageBody& body,
                           FilteredPages& out, const Flush& flush) {
  const PageHeader& header = page.header;
  const bool looked_up =
      is_dictionary(header.encoding) && (job.expand_dictionary || job.edits != nullptr);
  const bool plain = looked_up || job.edits != nullptr;
  KIN_TRY(auto reader,
          make_value_reader(job.leaf.type, header.encoding, looked_up ? &dictionary_ : nullptr));
  KIN_RETURN_IF_ERROR(reader->open(body.values));
  PageMaker maker(
      {.leaf = job.leaf,
       .like = header,
       .encoding = plain ? Encoding::kPlain : header.encoding,
       .index_bits = body.values.empty() ? 0 : static_cast<std::uint8_t>(body.values.front()),
       .packing = job.packing},
      loader_.codecs());
  // In version 2 each page says whether it is compressed. If it was not because the chunk's codec
  // is none, it may be compressed now.
  if (job.place.codec == Codec::kNone) maker.compress();
  return RowCopy(job, ValueFeed(std::move(reader)), std::move(maker), out, flush)
      .copy(LevelFeed(job.leaf, header, body), next_row_);
}

Status PageFilter::whole_chunk(const ChunkJob& job, FilteredPages& out, const Flush& flush) {
  PageWalk walk(job.file, job.place);
  next_row_ = job.first_row;
  dictionary_.clear();
  for (;;) {
    KIN_TRY(const std::optional<PagePlace> page, walk.next());
    if (!page) break;
    if (job.leaf.max_repetition == 0 || page->header.kind == PageKind::kDictionary) {
      KIN_RETURN_IF_ERROR(flat_page(job, *page, out, flush));
    } else {
      KIN_RETURN_IF_ERROR(repeated_page(job, *page, out, flush));
    }
  }
  if (job.leaf.max_repetition > 0 && next_row_ != job.first_row + job.rows)
    return damaged("a column has fewer rows than its row group");
  return Done{};
}

Status PageFilter::added_chunk(const ChunkJob& job, const AddedValue& value, FilteredPages& out,
                               const Flush& flush) {
  PageHeader like;
  like.stored.type = ThriftType::kStruct;
  like.stored.put_number(ids::page::kKind, ThriftType::kInt32,
                         static_cast<std::int64_t>(PageKind::kData));
  like.stored.put(ids::page::kData, ThriftValue());
  PageMaker maker({.leaf = job.leaf,
                   .like = like,
                   .encoding = Encoding::kPlain,
                   .index_bits = 0,
                   .packing = job.packing},
                  loader_.codecs());
  for (std::uint64_t row = job.begin; row < job.end; ++row) {
    if (!job.is_kept(row)) continue;
    if (maker.is_full()) {
      KIN_RETURN_IF_ERROR(maker.emit(out));
      KIN_RETURN_IF_ERROR(flush(out));
    }
    const std::string_view one = value(job.mask.record(row));
    maker.begin_row();
    maker.put_levels(one.data() == nullptr ? 0 : 1, 0);
    if (one.data() != nullptr) maker.put_value(one);
  }
  if (maker.is_empty()) return Done{};
  KIN_RETURN_IF_ERROR(maker.emit(out));
  return flush(out);
}

}  // namespace kin::data
