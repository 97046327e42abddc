#include "data/pages/page_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>

#include "base/workers.h"
#include "data/pages/column_reader.h"
#include "data/pages/page_sizes.h"

namespace kin::data {
namespace {

// Rows of one row group that one worker visits, as rows of the file.
struct Range {
  std::size_t group = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t bytes = 0;  // of its largest column, unpacked
};

bool is_wanted(const PageScanRequest& request, std::uint64_t begin, std::uint64_t end) {
  if (request.only == nullptr) return begin < end;
  const std::uint64_t known = request.only->size();
  return request.only->count_between(std::min(request.first_row + begin, known),
                                     std::min(request.first_row + end, known)) > 0;
}

// Hands out ranges. Large row groups are cut between pages of their largest column, and among
// several row groups the largest ranges come first, so that no thread is idle while another has
// much to do. Thread-safe.
class RangeQueue {
 public:
  explicit RangeQueue(const PageScanRequest& request) : request_(request) {}

  // Nothing when there is no more.
  Result<std::optional<Range>> next() {
    const std::scoped_lock lock(mutex_);
    while (ready_.empty() && group_ < request_.footer.groups.size())
      KIN_RETURN_IF_ERROR(cut_some());
    if (ready_.empty()) return std::optional<Range>();
    const Range range = ready_.front();
    ready_.pop_front();
    return std::optional(range);
  }

  // Drops the ranges after a row of the file.
  void stop_at(std::uint64_t row) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(ready_, [&](const Range& range) { return range.begin > row; });
    group_ = request_.footer.groups.size();
  }

 private:
  static constexpr std::uint64_t kRangeBytes = 16 << 20;

  // Fills the queue with the next row groups.
  Status cut_some() {
    constexpr std::size_t kGroups = 8;
    const std::size_t end = std::min(group_ + kGroups, request_.footer.groups.size());
    for (; group_ < end; ++group_) {
      const GroupPlace& group = request_.footer.groups[group_];
      const Range range{group_, std::max(request_.begin, group.first_row),
                        std::min(request_.end, group.first_row + group.rows)};
      if (range.begin >= range.end || !is_wanted(request_, range.begin, range.end)) continue;
      KIN_RETURN_IF_ERROR(cut(range, group));
    }
    // Otherwise ranges stay in the order of the file.
    std::stable_sort(ready_.begin(), ready_.end(), [](const Range& a, const Range& b) {
      return a.bytes / (2 * kRangeBytes) > b.bytes / (2 * kRangeBytes);
    });
    return Done{};
  }

  Status cut(Range range, const GroupPlace& group) {
    const ChunkPlace* largest = nullptr;
    for (const ScannedColumn& column : request_.columns) {
      if (!column.leaf) continue;
      const ChunkPlace& chunk = group.chunks[*column.leaf];
      if (largest == nullptr || chunk.unpacked_bytes > largest->unpacked_bytes) largest = &chunk;
    }
    if (request_.threads < 2 || largest == nullptr || largest->unpacked_bytes < 2 * kRangeBytes) {
      ready_.push_back(range);
      return Done{};
    }
    PageWalk walk(request_.file, *largest);
    for (;;) {
      // The worker that reads the pages finds the error again, and locates it.
      auto page = walk.next();
      if (!page || !*page) break;
      const std::uint64_t first = group.first_row + (*page)->first_value;
      if (range.bytes >= kRangeBytes && first > range.begin && first < range.end) {
        ready_.push_back({range.group, range.begin, first, range.bytes});
        range.begin = first;
        range.bytes = 0;
      }
      range.bytes += (*page)->header.bytes;
    }
    ready_.push_back(range);
    return Done{};
  }

  const PageScanRequest& request_;
  std::mutex mutex_;  // guards the following
  std::size_t group_ = 0;
  std::deque<Range> ready_;
};

// Visits ranges. One thread only.
class RangeVisitor {
 public:
  RangeVisitor(const PageScanRequest& request, const Visitor& visitor, int worker)
      : request_(request), visitor_(visitor), worker_(worker), readers_(request.columns.size()) {
    content_.shown_as = request.shown_as;
    content_.has_lines = false;
    content_.file = request.file_number;
    content_.values.resize(request.columns.size());
    bytes_per_row_ = static_cast<double>(request.file_bytes) /
                     static_cast<double>(std::max<std::uint64_t>(request.footer.rows, 1));
  }

  Status visit(const Range& range) {
    const GroupPlace& group = request_.footer.groups[range.group];
    for (std::size_t i = 0; i < readers_.size(); ++i) {
      const ScannedColumn& column = request_.columns[i];
      if (!column.leaf) continue;
      KIN_RETURN_IF_ERROR(readers_[i].open(request_.file, request_.footer.leaves[*column.leaf],
                                           group.chunks[*column.leaf], column.form, request_.kept));
    }
    std::uint64_t counted = range.begin;  // for progress
    for (std::uint64_t row = range.begin; row < range.end;) {
      row = next_wanted(row, range.end);
      if (row == range.end) break;
      KIN_TRY(const std::size_t rows, load(range, group, row));
      content_.bytes =
          static_cast<std::uint64_t>(bytes_per_row_ * static_cast<double>(row + rows - counted));
      counted = row + rows;
      KIN_RETURN_IF_ERROR(fill(row, rows));
      if (!content_.rows.empty()) KIN_RETURN_IF_ERROR(visitor_(Batch(content_), worker_));
      for (std::size_t i = 0; i < readers_.size(); ++i)
        if (request_.columns[i].leaf) readers_[i].advance(rows);
      row += rows;
    }
    return Done{};
  }

 private:
  static constexpr std::size_t kBatch = 2048;

  std::uint64_t next_wanted(std::uint64_t row, std::uint64_t end) const {
    if (request_.only == nullptr) return row;
    while (row < end && !request_.only->contains(record(row))) ++row;
    return row;
  }

  RecordId record(std::uint64_t row) const { return record_at(request_.first_row + row); }

  // Loads values from `row` on in all columns, and returns the number of rows.
  Result<std::size_t> load(const Range& range, const GroupPlace& group, std::uint64_t row) {
    auto rows = static_cast<std::size_t>(std::min<std::uint64_t>(range.end - row, kBatch));
    for (std::size_t i = 0; i < readers_.size(); ++i) {
      if (!request_.columns[i].leaf) continue;
      const auto loaded = [&]() -> Result<std::size_t> {
        KIN_RETURN_IF_ERROR(readers_[i].seek(row - group.first_row));
        return readers_[i].load();
      }();
      if (!loaded) return locate(i, range.group, loaded.error());
      rows = std::min(rows, *loaded);
    }
    return rows;
  }

  Error locate(std::size_t column, std::size_t group, Error error) const {
    const std::string& name = request_.names[column];
    if (error.code != Code::kDataLoss) {
      return with_context(fmt::format("{}: column `{}`", request_.shown_as, name),
                          std::move(error));
    }
    error.message = fmt::format(
        "{}: column `{}` cannot be read, the file seems to be damaged: row group {}: {}",
        request_.shown_as, name, group, error.message);
    return error;
  }

  Status fill(std::uint64_t first, std::size_t rows) {
    content_.rows.clear();
    content_.places.clear();
    for (auto& column : content_.values) column.clear();
    for (std::size_t i = 0; i < rows; ++i) {
      const RecordId id = record(first + i);
      if (request_.only != nullptr && !request_.only->contains(id)) continue;
      KIN_TRY(const bool good, check_texts(first + i, i));
      if (!good) continue;
      content_.rows.push_back(id);
      content_.places.push_back(first + i);
      for (std::size_t column = 0; column < readers_.size(); ++column) {
        content_.values[column].push_back(request_.columns[column].leaf ? readers_[column].value(i)
                                                                        : std::string_view());
      }
    }
    return Done{};
  }

  // False if a text of the row is not valid and the record is left out.
  Result<bool> check_texts(std::uint64_t row, std::size_t i) {
    for (std::size_t column = 0; column < readers_.size(); ++column) {
      if (!request_.columns[column].leaf || !readers_[column].is_bad_text(i)) continue;
      constexpr std::size_t kShown = 32;
      constexpr std::size_t kMark = 6;  // "bytes:"
      const std::string begins =
          text_of_bytes(readers_[column].value(i).substr(0, kShown)).substr(kMark);
      const Error why{
          Code::kInvalidArgument,
          fmt::format("{}: row {}: column `{}` has text that is not valid UTF-8 (it begins with "
                      "\"{}\") (use --on-error skip, re-encode it, or store it as binary)",
                      request_.shown_as, row, request_.names[column], begins)};
      KIN_RETURN_IF_ERROR(request_.on_bad_record(record(row), why));
      return false;
    }
    return true;
  }

  const PageScanRequest& request_;
  const Visitor& visitor_;
  int worker_;
  std::vector<ColumnReader> readers_;
  BatchContent content_;
  double bytes_per_row_ = 0;
};

// Whether the name, or a part of it up to a dot, is that of a top-level column.
bool may_exist(const Footer& footer, std::string_view name) {
  return std::any_of(footer.leaves.begin(), footer.leaves.end(), [&](const Leaf& leaf) {
    const std::string& top = leaf.path.front();
    const bool goes_on = name.size() > top.size() && name.starts_with(top);
    return name == top || (goes_on && (name[top.size()] == '.' || name[top.size()] == '['));
  });
}

}  // namespace

std::optional<std::vector<ScannedColumn>> scanned_columns(const Footer& footer,
                                                          const std::vector<std::string>& names,
                                                          std::size_t optional) {
  std::vector<ScannedColumn> columns;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto leaf = find_leaf(footer, names[i]);
    if (!leaf && i + optional >= names.size() && !may_exist(footer, names[i])) {
      columns.push_back({});
      continue;
    }
    if (!leaf) return {};
    const auto form =
        text_form(footer.leaves[*leaf], footer.schema()[footer.leaves[*leaf].element]);
    if (!form) return {};
    columns.push_back({leaf, *form});
  }
  return columns;
}

Status scan_pages(const PageScanRequest& request, const Visitor& visitor) {
  RangeQueue queue(request);
  std::mutex mutex;
  std::optional<std::pair<std::uint64_t, Error>> first;  // by row
  const Status done = run_workers(std::max(request.threads, 1), [&](int worker) -> Status {
    RangeVisitor visit(request, visitor, worker);
    for (;;) {
      KIN_TRY(const std::optional<Range> range, queue.next());
      if (!range) return Done{};
      const Status visited = visit.visit(*range);
      if (visited) continue;
      const std::scoped_lock lock(mutex);
      if (!first || range->begin < first->first) first = {range->begin, visited.error()};
      queue.stop_at(range->begin);  // an earlier range may have an error too
    }
  });
  if (first) return first->second;
  return done;
}

Result<PageScanMemory> page_scan_memory(const File& file, const Footer& footer,
                                        const std::vector<ScannedColumn>& columns) {
  PageScanMemory total;
  for (const ScannedColumn& column : columns) {
    if (!column.leaf) continue;
    KIN_TRY(const PageSizes sizes, largest_pages(file, footer, *column.leaf));
    constexpr std::uint64_t kViews = 256 << 10;  // of a batch
    const std::uint64_t beside =
        sizes.held + sizes.dictionary + sizes.dictionary_values * 16 + kViews;
    total.thread += beside + sizes.unpacked;
    total.thread_beside_kept += beside;
  }
  return total;
}

std::uint64_t kept_scan_bytes(const Footer& footer, const std::vector<ScannedColumn>& columns) {
  std::uint64_t total = 0;
  for (const ScannedColumn& column : columns) {
    if (!column.leaf) continue;
    for (const GroupPlace& group : footer.groups) {
      const ChunkPlace& chunk = group.chunks[*column.leaf];
      if (chunk.codec != Codec::kNone) total += chunk.unpacked_bytes;
    }
  }
  return total;
}

}  // namespace kin::data
