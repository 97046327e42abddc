#include "store/segments/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/workers.h"
#include "store/segments/merge_cursor.h"
#include "store/segments/upkeep.h"

namespace kin::store {
namespace {

// A segment up to this size is created in one request; a larger one is uploaded in parts.
constexpr std::size_t kOneRequestBytes = 8 << 20;
constexpr int kFetchedAtOnce = 8;  // segments

}  // namespace

Joined join_newest(std::string_view, std::vector<std::string> values) {
  return {.value = std::move(values.back())};
}

SegmentTable::SegmentTable(std::unique_ptr<cloud::ObjectStore> bucket, const TableOptions& options)
    : bucket_(std::move(bucket)),
      options_(options),
      cache_(options.disk == nullptr ? system_disk() : *options.disk, options.cache_folder,
             options.cache_bytes),
      random_(options.seed) {}

Result<std::unique_ptr<SegmentTable>> SegmentTable::open(
    std::unique_ptr<cloud::ObjectStore> bucket, const TableOptions& options,
    const std::optional<std::string>& description) {
  std::unique_ptr<SegmentTable> table(new SegmentTable(std::move(bucket), options));
  KIN_TRY(ViewPtr view, table->refresh());
  if (!view) {
    if (!description)
      return Error{Code::kNotFound, "there is no such store (its first run makes it)"};
    KIN_RETURN_IF_ERROR(table->make(*description));
    KIN_TRY(view, table->refresh());
  }
  if (!view) return Error{Code::kDataLoss, "the bucket does not list what was written to it"};
  return table;
}

Status SegmentTable::make(const std::string& description) {
  TableManifest first{.number = 1, .description = description};
  first.cleaned_at = options_.clock->now();
  const std::string bytes = encode(first);
  // The protocol relies on this condition, and some stores ignore it silently.
  for (int i = 0; i < 2; ++i) {
    KIN_TRY(const bool made, bucket_->create(manifest_name(1), bytes));
    if (!made) return Done{};  // by us, or by another worker at the same time
  }
  // No table must be found here the next time.
  const std::string name = manifest_name(1);
  KIN_RETURN_IF_ERROR(bucket_->remove(std::span(&name, 1)));
  return Error{Code::kFailedPrecondition,
               "the server ignores \"If-None-Match: *\", so workers would overwrite each other's "
               "changes (use a store that honours it, or backend: dynamodb)"};
}

std::uint64_t SegmentTable::random() {
  const std::scoped_lock lock(mutex_);
  return random_.next();
}

ViewPtr SegmentTable::current() const {
  const std::scoped_lock lock(mutex_);
  return view_;
}

Result<std::optional<std::uint64_t>> SegmentTable::newest_number() {
  std::string next;
  do {
    KIN_TRY(const auto names, bucket_->list(std::string(kManifests), 1, next));
    for (const std::string& name : names) {
      if (const auto number = manifest_number(name)) return number;
    }
  } while (!next.empty());
  return std::optional<std::uint64_t>();
}

Result<ViewPtr> SegmentTable::refresh() {
  constexpr int kTries = 10;
  for (int i = 0; i < kTries; ++i) {
    KIN_TRY(const auto number, newest_number());
    const ViewPtr known = current();
    if (!number || (known && *number <= known->manifest.number)) return known;
    KIN_TRY(const auto bytes, bucket_->get(manifest_name(*number)));
    if (!bytes) continue;  // many manifests and a clean-up have followed since
    auto manifest = decode_table_manifest(*bytes);
    if (!manifest) return with_context(manifest_name(*number), manifest.error());
    if (manifest->number != *number)
      return Error{Code::kDataLoss, manifest_name(*number) + " is another manifest"};
    return adopt(std::move(*manifest));
  }
  return Error{Code::kUnavailable, "the bucket lists manifests that it does not have"};
}

ViewPtr SegmentTable::adopt(TableManifest manifest) {
  const std::scoped_lock lock(mutex_);
  if (view_ && view_->manifest.number >= manifest.number) return view_;
  std::unordered_map<std::string, std::shared_ptr<Segment>> known;
  if (view_) {
    for (const auto& segment : view_->segments) known.emplace(segment->info().name, segment);
  }
  auto view = std::make_shared<TableView>();
  for (const SegmentInfo& info : manifest.segments) {
    const auto there = known.find(info.name);
    view->segments.push_back(
        there != known.end() ? there->second : std::make_shared<Segment>(*bucket_, cache_, info));
  }
  view->manifest = std::move(manifest);
  view_ = std::move(view);
  return view_;
}

Result<bool> SegmentTable::publish(const TableView& view, TableManifest next) {
  next.number = view.manifest.number + 1;
  KIN_TRY(const bool created, bucket_->create(manifest_name(next.number), encode(next)));
  if (!created) return false;
  const std::uint64_t number = next.number;
  // A worker that slept for very long may have filled a gap that a clean-up left far below the
  // newest manifest. A clean-up removes manifests only after a manifest says that they do not
  // count.
  KIN_TRY(const auto newest, newest_number());
  if (newest && *newest > number) {
    KIN_TRY(const ViewPtr later, refresh());
    if (number >= later->manifest.first) return true;
    const std::string name = manifest_name(number);
    KIN_RETURN_IF_ERROR(bucket_->remove(std::span(&name, 1)));
    return false;
  }
  adopt(std::move(next));
  return true;
}

Result<SegmentTable::Values> SegmentTable::get(const TableView& view,
                                               std::span<const std::string> keys,
                                               const std::set<std::string>& skip) {
  std::vector<Segment*> asked;
  std::vector<Segment*> fresh;
  for (const auto& segment : view.segments) {
    if (skip.contains(segment->info().name)) continue;
    asked.push_back(segment.get());
    if (!segment->has_tail()) fresh.push_back(segment.get());
  }
  // Segments written by others since the last look-up are fetched in parallel.
  if (fresh.size() > 1) {
    KIN_RETURN_IF_ERROR(parallel_for(kFetchedAtOnce, fresh.size(), [&](std::size_t i) -> Status {
      const auto tail = fresh[i]->tail();
      return tail ? Status(Done{}) : tail.error();
    }));
  }
  Values values(keys.size());
  for (Segment* const segment : asked) {
    KIN_RETURN_IF_ERROR(segment->get(
        keys, [&](std::size_t key, std::string_view value) { values[key].emplace_back(value); }));
  }
  return values;
}

Status SegmentTable::scan(const TableView& view, std::string_view from, const Visit& visit) const {
  MergeCursor cursor(view.segments);
  KIN_RETURN_IF_ERROR(cursor.seek(from));
  while (cursor.valid()) {
    const Joined joined = options_.join(cursor.key(), std::move(cursor.values()));
    KIN_TRY(const bool more, visit(cursor.key(), joined.value));
    if (!more) break;
    KIN_RETURN_IF_ERROR(cursor.next());
  }
  return Done{};
}

void SegmentTable::keep_up(const std::string& written) {
  Upkeep upkeep(*this);
  if (!upkeep.merge(written).ok()) ++keep_up_failures_;
  if (!upkeep.clean_if_due().ok()) ++keep_up_failures_;
}

void SegmentTable::wait_after_conflict(int tries) {
  const std::uint64_t most = std::uint64_t{10'000} << std::min(tries, 6);
  options_.clock->sleep_for(std::chrono::microseconds(random() % most));
}

void TableChange::set(std::vector<SegmentEntry> entries) {
  if (uploaded_ && entries == entries_) return;
  entries_ = std::move(entries);
  uploaded_.reset();
}

Status TableChange::upload(const TableView& view) {
  std::string bytes;
  SegmentWriter writer(
      [&](std::string_view part) -> Status {
        bytes += part;
        return Done{};
      },
      entries_.size());
  for (const SegmentEntry& entry : entries_)
    KIN_RETURN_IF_ERROR(writer.add(entry.key, entry.value));
  KIN_TRY(SegmentInfo info, writer.finish());
  bool created = false;
  while (!created) {
    info.name = segment_name(table_.options_.clock->now(), table_.random());
    if (bytes.size() > kOneRequestBytes) {
      KIN_RETURN_IF_ERROR(table_.bucket_->upload(info.name, cloud::source_of(bytes)));
      created = true;
    } else {
      KIN_TRY(created, table_.bucket_->create(info.name, bytes));
    }
  }
  // The writer will probably read it soon. The cache counts failures.
  if (table_.cache_.takes(bytes.size()))
    (void)table_.cache_.add(info.name, [&](DiskFile& file) { return file.append(bytes); });
  uploaded_ = std::move(info);
  uploaded_after_cleaning_ = view.manifest.cleaned;
  return Done{};
}

Result<bool> TableChange::commit(const TableView& view, std::uint64_t new_records) {
  // A clean-up since the upload may have removed the segment as a leftover.
  if (uploaded_ && uploaded_after_cleaning_ != view.manifest.cleaned) uploaded_.reset();
  if (!uploaded_) KIN_RETURN_IF_ERROR(upload(view));
  TableManifest next = view.manifest;
  next.segments.push_back(*uploaded_);
  next.records += new_records;
  return table_.publish(view, std::move(next));
}

}  // namespace kin::store
