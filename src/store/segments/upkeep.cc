#include "store/segments/upkeep.h"

#include <algorithm>
#include <bit>
#include <set>

#include "store/segments/merge_cursor.h"

namespace kin::store {
namespace {

constexpr std::size_t kMergeAt = 8;
constexpr std::size_t kMostTries = 20;        // of publishing a merge
constexpr std::size_t kMostRemoved = 10'000;  // manifests, in one clean-up
constexpr std::size_t kRemovedAtOnce = 500;
constexpr std::size_t kReadBytes = 1 << 20;

// Segments of one size class become one of the next when there are eight.
int size_class(std::uint64_t bytes) {
  return std::bit_width(bytes) / 3;
}

// The position of the segments `names` in the manifest, in this order; nothing if they are not in
// it.
std::optional<std::size_t> place_of(const std::vector<std::string>& names,
                                    const std::vector<SegmentInfo>& segments) {
  const auto at =
      std::search(segments.begin(), segments.end(), names.begin(), names.end(),
                  [](const SegmentInfo& a, const std::string& b) { return a.name == b; });
  if (at == segments.end()) return std::nullopt;
  return static_cast<std::size_t>(at - segments.begin());
}

}  // namespace

std::optional<MergeRange> merge_range(const std::vector<SegmentInfo>& segments,
                                      const std::string& written) {
  // From the newest back, as long as sizes do not shrink.
  std::size_t first = segments.size();
  int largest = -1;
  std::size_t of_largest = 0;
  bool mine = false;  // `written` is of the largest size
  while (first > 0) {
    const int size = size_class(segments[first - 1].bytes);
    if (size > largest) {
      if (of_largest >= kMergeAt) break;
      largest = size;
      of_largest = 0;
      mine = false;
    }
    if (size == largest) ++of_largest;
    mine = mine || (size == largest && segments[first - 1].name == written);
    --first;
  }
  const bool due = (of_largest == kMergeAt && mine) || of_largest >= 2 * kMergeAt;
  if (!due) return std::nullopt;
  return MergeRange{first, segments.size()};
}

Status Upkeep::merge(std::string written) {
  for (;;) {
    const ViewPtr view = table_.current();
    const auto range = merge_range(view->manifest.segments, written);
    if (!range) return Done{};
    KIN_TRY(const auto merged, merge(*view, *range));
    if (!merged) return Done{};
    written = *merged;
  }
}

Result<SegmentInfo> Upkeep::write_merged(const std::vector<std::shared_ptr<Segment>>& inputs,
                                         std::uint64_t& left_out) {
  std::uint64_t entries = 0;
  for (const auto& input : inputs) entries += input->info().entries;
  SegmentInfo info;
  const std::string name = segment_name(table_.options_.clock->now(), table_.random());
  const auto fill = [&](DiskFile& file) -> Status {
    std::string waiting;  // the disk gets a megabyte at a time
    const auto flush = [&]() -> Status {
      KIN_RETURN_IF_ERROR(file.append(waiting));
      waiting.clear();
      return Done{};
    };
    SegmentWriter writer(
        [&](std::string_view bytes) -> Status {
          waiting += bytes;
          return waiting.size() < kReadBytes ? Status(Done{}) : flush();
        },
        entries);
    MergeCursor cursor(inputs);
    KIN_RETURN_IF_ERROR(cursor.seek(""));
    while (cursor.valid()) {
      Joined joined = table_.options_.join(cursor.key(), std::move(cursor.values()));
      left_out += joined.left_out;
      KIN_RETURN_IF_ERROR(writer.add(cursor.key(), joined.value));
      KIN_RETURN_IF_ERROR(cursor.next());
    }
    KIN_TRY(info, writer.finish());
    return flush();
  };
  KIN_TRY(const auto file, table_.cache_.add(name, fill));
  info.name = name;
  std::uint64_t at = 0;
  KIN_RETURN_IF_ERROR(
      table_.bucket_->upload(name, [&](std::span<char> into) -> Result<std::size_t> {
        const auto count = static_cast<std::size_t>(
            std::min<std::uint64_t>({into.size(), info.bytes - at, kReadBytes}));
        if (count > 0) KIN_RETURN_IF_ERROR(file->read_at(at, into.data(), count));
        at += count;
        return count;
      }));
  return info;
}

Result<std::optional<std::string>> Upkeep::merge(const TableView& view, MergeRange range) {
  const std::vector<std::shared_ptr<Segment>> inputs(
      view.segments.begin() + static_cast<std::ptrdiff_t>(range.first),
      view.segments.begin() + static_cast<std::ptrdiff_t>(range.last));
  std::vector<std::string> names;
  for (const auto& input : inputs) names.push_back(input->info().name);
  std::uint64_t left_out = 0;
  KIN_TRY(const SegmentInfo merged, write_merged(inputs, left_out));
  ViewPtr newest = table_.current();
  for (std::size_t tries = 0; tries < kMostTries; ++tries) {
    const auto place = place_of(names, newest->manifest.segments);
    // A clean-up since then may have removed the new segment as a leftover.
    if (!place || newest->manifest.cleaned != view.manifest.cleaned)
      return std::optional<std::string>();
    TableManifest next = newest->manifest;
    const auto begin = next.segments.begin() + static_cast<std::ptrdiff_t>(*place);
    next.segments.erase(begin + 1, begin + static_cast<std::ptrdiff_t>(names.size()));
    *begin = merged;
    next.capped += left_out;
    for (const std::string& name : names)
      next.retired.push_back({name, table_.options_.clock->now()});
    KIN_TRY(const bool done, table_.publish(*newest, std::move(next)));
    if (done) return std::optional(merged.name);
    table_.wait_after_conflict(static_cast<int>(tries));
    KIN_TRY(newest, table_.refresh());
  }
  return std::optional<std::string>();
}

Result<std::vector<std::string>> Upkeep::old_segments(WallTime before) {
  std::vector<std::string> old;
  std::string next;
  do {
    KIN_TRY(const auto names, table_.bucket_->list(std::string(kSegments), 1000, next));
    for (const std::string& name : names) {
      const auto begun = segment_begun(name);
      if (begun && *begun <= before) old.push_back(name);
    }
  } while (!next.empty());
  return old;
}

Status Upkeep::clean_if_due() {
  const WallTime now = table_.options_.clock->now();
  if (now - table_.current()->manifest.cleaned_at < table_.options_.grace) return Done{};
  return clean(now);
}

Status Upkeep::clean(WallTime now) {
  const WallTime before = now - table_.options_.grace;
  // The order matters: segments listed here were uploaded before the next manifest, and a worker
  // that commits after that manifest uploads its segment again.
  KIN_TRY(std::vector<std::string> gone, old_segments(before));
  KIN_TRY(const ViewPtr view, table_.refresh());
  TableManifest next = view->manifest;
  if (now - next.cleaned_at < table_.options_.grace) return Done{};  // another worker did it
  std::erase_if(next.retired, [&](const RetiredSegment& one) { return one.at <= before; });
  std::set<std::string> needed;
  for (const SegmentInfo& segment : next.segments) needed.insert(segment.name);
  for (const RetiredSegment& retired : next.retired) needed.insert(retired.name);
  std::erase_if(gone, [&](const std::string& name) { return needed.contains(name); });
  // The last clean-up declared that these do not count. Manifests below that clean-up's own are
  // older than the grace, and the next clean-up may remove them.
  KIN_RETURN_IF_ERROR(remove_manifests(next));
  next.first = next.cleaned;
  next.cleaned = view->manifest.number + 1;
  next.cleaned_at = now;
  KIN_TRY(const bool published, table_.publish(*view, std::move(next)));
  if (!published) return Done{};  // the next change tries again
  return remove(gone);
}

Status Upkeep::remove(std::span<const std::string> names) {
  for (std::size_t at = 0; at < names.size(); at += kRemovedAtOnce) {
    const std::size_t count = std::min(kRemovedAtOnce, names.size() - at);
    KIN_RETURN_IF_ERROR(table_.bucket_->remove(names.subspan(at, count)));
  }
  return Done{};
}

Status Upkeep::remove_manifests(TableManifest& next) {
  const std::uint64_t end = std::min(next.first, next.removed + kMostRemoved);
  std::vector<std::string> names;
  for (; next.removed < end; ++next.removed) names.push_back(manifest_name(next.removed));
  return remove(names);
}

}  // namespace kin::store
