// Copies of partitions: the log as records, and exports.
//
//   KIN_TRY(const LogPage page, read_log(source.view().truth(), {.after = applied}));
//   KIN_TRY(const auto done, copy.apply(page.records));  // in any order, any number of times
//   KIN_RETURN_IF_ERROR(source.acknowledge("copy", page.up_to));
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "index/digest.h"
#include "index/record.h"
#include "index/truth/view.h"

namespace kin::index {

struct LogRequest {
  Lsn after = 0;
  // Only things in these partitions, or that left one of them. Nothing: all.
  std::optional<std::set<PartitionId>> partitions = {};
  std::size_t limit = 1'000;  // changes
  // The page ends with the change that brings its records (size_of()) to so many bytes.
  std::size_t bytes = std::numeric_limits<std::size_t>::max();
};

struct LogPage {
  std::vector<Record> records = {};
  Lsn up_to = 0;  // the page covers the log up to this LSN, also if it has no record
};

// The things that changed after an LSN, once each, in the state they have in the view. A copy that
// applies all pages, in any order, has the state of the last view. An entity that enters one of the
// partitions brings its edges and fragments. Ship only changes that were written with `sync`: a
// power cut takes others back from this shard, but not from its copies. kFailedPrecondition if the
// log is trimmed beyond `after`: export the partitions instead. Thread-safe.
Result<LogPage> read_log(const TruthView& view, const LogRequest& request);

struct ExportRequest {
  PartitionId partition{};
  std::optional<std::uint8_t> bucket = {};  // nothing: all buckets
  std::optional<std::string> after = {};    // `next` of the page before
  std::size_t limit = 1'000;                // records
  // The page ends with the record that brings it to so many bytes (size_of()).
  std::size_t bytes = std::numeric_limits<std::size_t>::max();
};

struct ExportPage {
  std::vector<Record> records = {};
  std::optional<std::string> next = {};  // opaque; nothing: this was the last page
};

// A partition as records: its entities, the edges that leave them, the fragments of both, and all
// tombstones. Edges that lead into it belong to the partition where they begin. Things whose entity
// never existed are in partition 0. All pages must be read from one view; the log after view.lsn()
// continues them. Walks over the ids of the whole shard, and reads the contents of the partition
// only. Thread-safe.
Result<ExportPage> export_partition(const TruthView& view, const ExportRequest& request);

struct PartitionIdsRequest {
  PartitionId partition{};
  std::optional<DocId> after = {};  // `next` of the page before
  std::size_t limit = 1'000;
  // Entities of other partitions that are passed over, at most.
  std::size_t most_passed = std::numeric_limits<std::size_t>::max();
};
struct PartitionIds {
  std::vector<DocId> ids = {};
  std::optional<DocId> next = {};  // nothing: this was the last page
};
// The ids of the entities that export_partition() has records of, in their order. Thread-safe.
Result<PartitionIds> partition_ids(const TruthView& view, const PartitionIdsRequest& request);

// How many entities each partition has; those without any are left out. Reads a short row of every
// entity. Thread-safe.
using PartitionSizes = std::map<PartitionId, std::uint64_t>;
Result<PartitionSizes> count_partitions(const TruthView& view);

}  // namespace kin::index
