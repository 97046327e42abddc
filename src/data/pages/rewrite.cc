#include "data/pages/rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>

#include "base/bytes.h"
#include "base/workers.h"
#include "data/pages/footer_writer.h"
#include "data/pages/ordered_output.h"
#include "data/pages/output_plan.h"
#include "data/pages/page_filter.h"
#include "data/pages/page_sizes.h"

namespace kin::data {
namespace {

// The work of one worker at a time: some pages of a chunk, or all of it.
struct Task {
  std::size_t sequence = 0;
  OutputGroup* group = nullptr;
  std::size_t chunk = 0;
  std::size_t segment = 0;
  std::vector<PagePlace> pages;  // nothing: the whole chunk
};

// Hands out tasks in the order of the output. Thread-safe.
class TaskQueue {
 public:
  TaskQueue(const RewriteRequest& request, std::deque<OutputGroup>& groups)
      : request_(request), groups_(groups) {}

  // Nothing when there is no more. After an error too.
  Result<std::optional<Task>> next() {
    const std::scoped_lock lock(mutex_);
    for (;;) {
      if (group_ == groups_.size()) return std::optional<Task>();
      OutputGroup& group = groups_[group_];
      tell(group);
      if (chunk_ == group.chunks.size()) {
        told_ = 0;
        ++group_;
        chunk_ = 0;
        continue;
      }
      if (segment_ == group.segments.size()) {
        ++chunk_;
        segment_ = 0;
        continue;
      }
      Task task{sequence_, &group, chunk_, segment_, {}};
      if (is_divided(group)) {
        auto found = take_pages(task);
        if (!found) {
          // No task is handed out after an error.
          group_ = groups_.size();
          return locate(request_, task, found.error());
        }
        if (!*found) continue;
      } else {
        ++segment_;
      }
      ++sequence_;
      return std::optional(std::move(task));
    }
  }

  // `error` with the file and the column.
  static Error locate(const RewriteRequest& request, const Task& task, Error error) {
    const Segment& segment = task.group->segments[task.segment];
    const SourceFile& file = request.files[segment.file];
    if (task.chunk >= file.footer.leaves.size()) return error;
    const std::string column = file.footer.leaves[task.chunk].name();
    if (error.code == Code::kDataLoss) {
      error.message = fmt::format(
          "{}: column `{}` cannot be read, the file seems to be damaged: row group {}: {}",
          file.shown_as, column, segment.group, error.message);
      return error;
    }
    return with_context(fmt::format("{}: column `{}`", file.shown_as, column), std::move(error));
  }

 private:
  // Reports how much of the group was handed out since the last time, in records.
  void tell(const OutputGroup& group) {
    const std::uint64_t so_far = group.rows * chunk_ / group.chunks.size();
    if (request_.written && so_far > told_) request_.written(so_far - told_);
    told_ = so_far;
  }

  // Pages of flat columns can be rewritten independently.
  bool is_divided(const OutputGroup& group) const {
    const std::vector<Leaf>& leaves = request_.files.front().footer.leaves;
    return chunk_ < leaves.size() && leaves[chunk_].max_repetition == 0 &&
           group.segments.size() == 1 && !edited_column(request_, chunk_);
  }

  // Takes the next pages of the chunk. False at its end.
  Result<bool> take_pages(Task& task) {
    constexpr std::uint64_t kTaskBytes = 512 << 10;
    const Segment& segment = task.group->segments[segment_];
    const SourceFile& source = request_.files[segment.file];
    if (!walk_) walk_.emplace(source.file, source.footer.groups[segment.group].chunks[chunk_]);
    for (std::uint64_t bytes = 0; bytes < kTaskBytes;) {
      KIN_TRY(std::optional<PagePlace> page, walk_->next());
      if (!page) {
        walk_.reset();
        ++segment_;
        break;
      }
      bytes += page->header.bytes;
      task.pages.push_back(std::move(*page));
    }
    return !task.pages.empty();
  }

  const RewriteRequest& request_;
  std::deque<OutputGroup>& groups_;
  std::mutex mutex_;  // guards the following
  std::size_t group_ = 0;
  std::size_t chunk_ = 0;
  std::size_t segment_ = 0;
  std::size_t sequence_ = 0;
  std::uint64_t told_ = 0;  // records of the group
  std::optional<PageWalk> walk_;
};

// A value of an added column as PLAIN has it.
class AddedValues {
 public:
  AddedValues(const RecordEdits& edits, std::size_t column) : edits_(edits), column_(column) {}
  std::string_view operator()(RecordId record) {
    value_ = edits_.added_value(column_, record);
    if (!value_) return {};
    if (const auto* number = std::get_if<std::int64_t>(&*value_)) return view(*number);
    if (const auto* number = std::get_if<double>(&*value_)) return view(*number);
    if (const auto* truth = std::get_if<bool>(&*value_)) return {*truth ? "\1" : "\0", 1};
    const std::string& text = std::get<std::string>(*value_);
    return {text.data(), text.size()};
  }

 private:
  template <typename T>
  static std::string_view view(const T& number) {
    return {reinterpret_cast<const char*>(&number), sizeof number};
  }
  const RecordEdits& edits_;
  std::size_t column_;
  std::optional<RecordEdits::Value> value_;
};

// Does tasks. One thread only.
class Worker {
 public:
  Worker(const RewriteRequest& request, OrderedOutput& output)
      : request_(request), output_(output) {}

  Status work(const Task& task) {
    OutputPiece piece{task.sequence, &task.group->chunks[task.chunk], {}};
    std::optional<Error> unwritten;
    const PageFilter::Flush flush = [&](FilteredPages& so_far) -> Status {
      if (so_far.bytes < kFlushBytes) return Done{};
      Status given = output_.give(piece, false);
      if (!given) unwritten = given.error();
      return given;
    };
    const Status done = filter(task, piece.content, flush);
    if (unwritten) return *unwritten;
    if (!done) return TaskQueue::locate(request_, task, done.error());
    return output_.give(piece, true);
  }

 private:
  static constexpr std::size_t kFlushBytes = 1 << 20;

  Status filter(const Task& task, FilteredPages& out, const PageFilter::Flush& flush) {
    const Segment& segment = task.group->segments[task.segment];
    const SourceFile& source = request_.files[segment.file];
    const GroupPlace& group = source.footer.groups[segment.group];
    const std::size_t leaves = source.footer.leaves.size();
    const bool added = task.chunk >= leaves;
    const Leaf leaf = added ? added_leaf(request_.edits->added()[task.chunk - leaves])
                            : source.footer.leaves[task.chunk];
    const auto edited = edited_column(request_, task.chunk);
    const ChunkJob job{.file = source.file,
                       .leaf = leaf,
                       .place = added ? ChunkPlace{} : group.chunks[task.chunk],
                       .mask = RowMask(request_.keep, source.first_row),
                       .first_row = group.first_row,
                       .rows = group.rows,
                       .begin = segment.begin,
                       .end = segment.end,
                       .packing = packing_of(request_, *task.group, task.chunk),
                       // Row groups that are joined have dictionaries of their own.
                       .expand_dictionary = task.group->segments.size() > 1,
                       .edits = edited ? request_.edits : nullptr,
                       .edited_column = edited.value_or(0),
                       .kept = request_.kept};
    if (added) {
      AddedValues values(*request_.edits, task.chunk - leaves);
      return filter_.added_chunk(job, std::ref(values), out, flush);
    }
    if (task.pages.empty()) return filter_.whole_chunk(job, out, flush);
    for (const PagePlace& page : task.pages)
      KIN_RETURN_IF_ERROR(filter_.flat_page(job, page, out, flush));
    return Done{};
  }

  const RewriteRequest& request_;
  OrderedOutput& output_;
  PageFilter filter_;
};

}  // namespace

Result<std::uint64_t> rewrite_memory(const File& file, const Footer& footer) {
  // A page being made, before and after it is compressed, and output that waits to be written.
  constexpr std::uint64_t kMaking = 8 << 20;
  // The assumed ratio of the largest value of a page to the average.
  constexpr std::uint64_t kSkew = 8;
  std::uint64_t most = 0;
  for (std::size_t leaf = 0; leaf < footer.leaves.size(); ++leaf) {
    KIN_TRY(const PageSizes sizes, largest_pages(file, footer, leaf));
    const std::uint64_t page = std::max(sizes.unpacked, sizes.stored);
    const std::uint64_t value = std::min(page, kSkew * sizes.average_value);
    most = std::max(most, sizes.stored + sizes.unpacked + sizes.dictionary + 3 * value);
  }
  return most + kMaking;
}

Result<Rewritten> rewrite_parquet(const RewriteRequest& request) {
  std::deque<OutputGroup> groups = plan_groups(request);
  KIN_TRY(File file, File::create(request.path));
  const int writing =
      std::max(request.writing_threads > 0 ? request.writing_threads : request.threads, 1);
  const auto workers = static_cast<std::uint64_t>(writing);
  OrderedOutput output(std::move(file), request.waiting_bytes / (workers + 1));
  KIN_RETURN_IF_ERROR(output.write(kParquetMagic));
  TaskQueue queue(request, groups);
  std::mutex mutex;
  std::optional<Error> first;  // the others were told to stop
  const Status done =
      run_workers(request.beside ? std::max(request.threads, writing) : writing, [&](int number) {
        const auto work = [&]() -> Status {
          Worker worker(request, output);
          for (;;) {
            KIN_TRY(const std::optional<Task> task, queue.next());
            if (!task) return Done{};
            KIN_RETURN_IF_ERROR(worker.work(*task));
          }
        };
        Status status = number < writing ? work() : Status(Done{});
        if (status && request.beside) status = request.beside();
        if (!status) {
          const std::scoped_lock lock(mutex);
          if (!first) first = status.error();
          output.fail();
        }
        return status;
      });
  if (first) return *first;
  KIN_RETURN_IF_ERROR(done);
  KIN_RETURN_IF_ERROR(write_footer(request, groups, output));
  Rewritten report;
  for (const OutputGroup& group : groups) report.records += group.rows;
  report.bytes = output.bytes();
  KIN_RETURN_IF_ERROR(output.close());
  return report;
}

}  // namespace kin::data
