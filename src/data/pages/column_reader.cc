#include "data/pages/column_reader.h"

#include <algorithm>

namespace kin::data {
namespace {

Error damaged(const char* what) {
  return {Code::kDataLoss, what};
}

}  // namespace

Status ColumnReader::open(const File& file, const Leaf& leaf, const ChunkPlace& chunk,
                          TextForm form, KeptPages* kept) {
  file_ = &file;
  leaf_ = &leaf;
  chunk_ = chunk;
  form_ = form;
  kept_ = kept;
  walk_.emplace(file, chunk_);
  row_ = 0;
  page_end_ = 0;
  dictionary_.clear();
  reader_.reset();
  reader_encoding_.reset();
  level_at_ = level_count_ = 0;
  values_.clear();
  at_ = 0;
  return Done{};
}

Status ColumnReader::load_dictionary(const PagePlace& page) {
  KIN_RETURN_IF_ERROR(read_page(*file_, page, loader_.stored()));
  const std::string_view packed = loader_.stored().view().substr(page.header_bytes);
  KIN_RETURN_IF_ERROR(
      loader_.codecs().unpack(chunk_.codec, packed, page.header.bytes, dictionary_bytes_));
  KIN_TRY(dictionary_, read_dictionary(leaf_->type, dictionary_bytes_.view(), page.header.values));
  return Done{};
}

Status ColumnReader::open_page(const PagePlace& page) {
  const PageHeader& header = page.header;
  KIN_TRY(const PageBody body,
          loader_.load({*file_, *leaf_, chunk_.codec, kept_}, page, PageLoader::Use::kAgain));
  definition_.emplace(body.definition, header.definition, leaf_->max_definition);
  if (reader_encoding_ != header.encoding) {
    KIN_TRY(reader_, make_value_reader(leaf_->type, header.encoding, &dictionary_));
    reader_encoding_ = header.encoding;
  }
  return reader_->open(body.values);
}

// Opens the page that contains the current row.
Status ColumnReader::next_page() {
  for (;;) {
    KIN_TRY(const std::optional<PagePlace> page, walk_->next());
    if (!page) return damaged("a column has fewer rows than its row group");
    if (page->header.kind == PageKind::kDictionary) {
      KIN_RETURN_IF_ERROR(load_dictionary(*page));
      continue;
    }
    page_end_ = page->first_value + page->header.values;
    if (page_end_ <= row_) continue;
    KIN_RETURN_IF_ERROR(open_page(*page));
    const std::uint64_t wanted = row_;
    row_ = page->first_value;
    level_at_ = level_count_ = 0;
    return seek(wanted);
  }
}

Status ColumnReader::seek(std::uint64_t row) {
  advance(static_cast<std::size_t>(std::min<std::uint64_t>(row - row_, values_.size() - at_)));
  if (row >= page_end_) {
    // The rest of the page is not needed.
    row_ = row;
    page_end_ = std::min(page_end_, row);
    level_at_ = level_count_ = 0;
    return Done{};
  }
  while (row_ < row) {
    KIN_RETURN_IF_ERROR(load_values());
    advance(static_cast<std::size_t>(std::min<std::uint64_t>(row - row_, values_.size() - at_)));
  }
  return Done{};
}

void ColumnReader::advance(std::size_t count) {
  at_ += count;
  row_ += count;
}

Result<std::size_t> ColumnReader::load() {
  if (at_ < values_.size()) return values_.size() - at_;
  if (row_ >= page_end_) KIN_RETURN_IF_ERROR(next_page());
  if (at_ == values_.size()) KIN_RETURN_IF_ERROR(load_values());
  return values_.size() - at_;
}

Status ColumnReader::load_levels() {
  // Rows before level_at_ have values already.
  level_count_ = static_cast<std::size_t>(std::min<std::uint64_t>(page_end_ - row_, kBatch));
  level_at_ = 0;
  if (!definition_->read(levels_, level_count_)) return damaged("the levels of a page are damaged");
  return Done{};
}

// Replaces the loaded values, all of which have been consumed, by the next ones.
Status ColumnReader::load_values() {
  if (level_at_ == level_count_) KIN_RETURN_IF_ERROR(load_levels());
  const auto present = static_cast<std::uint32_t>(leaf_->max_definition);
  const auto* const begin = levels_ + level_at_;
  const auto* const end = levels_ + level_count_;
  const auto wanted = static_cast<std::size_t>(std::count(begin, end, present));
  raw_.clear();
  if (wanted > 0) KIN_RETURN_IF_ERROR(reader_->read(wanted, raw_));
  values_.clear();
  bad_.clear();
  made_.clear();
  made_places_.clear();
  at_ = 0;
  std::size_t used = 0;
  for (; level_at_ < level_count_; ++level_at_) {
    if (levels_[level_at_] != present) {
      values_.emplace_back();
      continue;
    }
    if (used == raw_.size()) break;
    keep_text(raw_[used++]);
  }
  finish_texts();
  return Done{};
}

void ColumnReader::keep_text(std::string_view raw) {
  // An empty value is not null: it has to point somewhere.
  if (raw.data() == nullptr) raw = std::string_view("", 0);
  values_.push_back(raw);
  if (form_ == TextForm::kText) {
    if (is_utf8(raw)) return;
    bad_.resize(values_.size());
    bad_.back() = true;
    return;
  }
  if (form_ == TextForm::kBinary && is_plain_text(raw)) return;
  made_places_.push_back({values_.size() - 1, made_.size()});
  if (form_ == TextForm::kBinary) {
    made_ += text_of_bytes(raw);
  } else {
    append_text(form_, raw, made_);
  }
}

// Views are set last, because the texts move while they are made.
void ColumnReader::finish_texts() {
  if (!bad_.empty()) bad_.resize(values_.size());
  for (std::size_t i = 0; i < made_places_.size(); ++i) {
    const std::size_t end = i + 1 < made_places_.size() ? made_places_[i + 1].begin : made_.size();
    values_[made_places_[i].value] =
        std::string_view(made_.data() + made_places_[i].begin, end - made_places_[i].begin);
  }
}

}  // namespace kin::data
