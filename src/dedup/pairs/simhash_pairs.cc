#include "dedup/pairs/simhash_pairs.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/workers.h"
#include "sketch/simhash.h"

namespace kin::dedup {
namespace {

constexpr std::size_t kMostAnchors = 64;

struct Hashed {
  std::uint64_t hash;
  RecordId record;
};

// The block of bits [begin, end) of a 64-bit hash.
struct Block {
  int begin;
  int end;
  std::uint64_t of(std::uint64_t hash) const {
    const int width = end - begin;
    return (hash >> begin) & (width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1);
  }
};

std::vector<Block> blocks_for(int distance) {
  std::vector<Block> blocks;
  const int count = distance + 1;
  for (int i = 0; i < count; ++i) blocks.push_back({64 * i / count, 64 * (i + 1) / count});
  return blocks;
}

Edge edge_between(RecordId a, RecordId b) {
  return {std::min(a, b), std::max(a, b), Method::kSimHash};
}

// The records with one hash, best first.
struct Group {
  std::uint64_t hash;
  std::span<const RecordId> records;
};

// All distinct hashes. Their records are in `records`.
std::vector<Group> group_by_hash(const Scan& scan, const Classes& classes,
                                 std::vector<RecordId>& records) {
  std::vector<Hashed> all;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const RecordId id = record_id(i);
    const std::uint64_t hash = scan.simhashes.get(id);
    if (hash != 0 && classes.representative(id) == id) all.push_back({hash, id});
  }
  std::sort(all.begin(), all.end(), [&](const Hashed& a, const Hashed& b) {
    if (a.hash != b.hash) return a.hash < b.hash;
    return a.record != b.record && scan.order.better(a.record, b.record);
  });
  records.reserve(all.size());
  for (const Hashed& one : all) records.push_back(one.record);
  std::vector<Group> groups;
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    while (end < all.size() && all[end].hash == all[begin].hash) ++end;
    groups.push_back({all[begin].hash, std::span(records).subspan(begin, end - begin)});
    begin = end;
  }
  return groups;
}

// Gathers pairs and hands them on, many at a time. One thread only.
class PairBuffer {
 public:
  explicit PairBuffer(const EdgeVisitor& visit) : visit_(visit) {}

  Status within(const Group& group) {
    const std::size_t anchors = std::min(kMostAnchors, group.records.size());
    for (std::size_t i = 0; i < anchors; ++i) {
      for (std::size_t j = i + 1; j < group.records.size(); ++j) {
        KIN_RETURN_IF_ERROR(add(group.records[i], group.records[j]));
      }
    }
    return Done{};
  }

  // The best of each group with all of the other: any other pair of the two is no closer to being
  // a duplicate than those.
  Status between(const Group& a, const Group& b) {
    for (const RecordId record : a.records) KIN_RETURN_IF_ERROR(add(record, b.records.front()));
    for (std::size_t i = 1; i < b.records.size(); ++i)
      KIN_RETURN_IF_ERROR(add(a.records.front(), b.records[i]));
    return Done{};
  }

  Status flush() {
    Status done = edges_.empty() ? Status(Done{}) : visit_(edges_);
    edges_.clear();
    return done;
  }

 private:
  static constexpr std::size_t kAtOnce = 4'096;

  Status add(RecordId a, RecordId b) {
    edges_.push_back(edge_between(a, b));
    return edges_.size() < kAtOnce ? Status(Done{}) : flush();
  }

  const EdgeVisitor& visit_;
  std::vector<Edge> edges_;
};

// Calls work(i, buffer) for every i below `count`, many of them on one thread and then another.
Status for_each_of(std::size_t count, int threads, const EdgeVisitor& visit,
                   const std::function<Status(std::size_t, PairBuffer&)>& work) {
  constexpr std::size_t kAtOnce = 1'024;
  return parallel_for(threads, (count + kAtOnce - 1) / kAtOnce, [&](std::size_t part) -> Status {
    PairBuffer buffer(visit);
    const std::size_t end = std::min(count, (part + 1) * kAtOnce);
    for (std::size_t i = part * kAtOnce; i < end; ++i) KIN_RETURN_IF_ERROR(work(i, buffer));
    return buffer.flush();
  });
}

// The pairs of groups that share a block of bits, and none of the blocks before it.
class BlockPairs {
 public:
  BlockPairs(std::span<const Group> groups, std::span<const Block> blocks, std::size_t number,
             int distance)
      : groups_(groups),
        earlier_(blocks.first(number)),
        block_(blocks[number]),
        distance_(distance),
        order_(groups.size()) {
    std::iota(order_.begin(), order_.end(), 0U);
    std::sort(order_.begin(), order_.end(), [&](std::uint32_t x, std::uint32_t y) {
      return std::pair(block_.of(groups[x].hash), x) < std::pair(block_.of(groups[y].hash), y);
    });
  }

  // Those of the group at place `i` with groups behind it. Thread-safe.
  Status visit(std::size_t i, PairBuffer& buffer) const {
    const Group& a = groups_[order_[i]];
    for (std::size_t j = i + 1; j < order_.size(); ++j) {
      const Group& b = groups_[order_[j]];
      if (block_.of(a.hash) != block_.of(b.hash)) break;
      if (sketch::hamming(a.hash, b.hash) > distance_ || met_before(a.hash ^ b.hash)) continue;
      KIN_RETURN_IF_ERROR(buffer.between(a, b));
    }
    return Done{};
  }

 private:
  // A pair is met once for every block it shares: the first one counts.
  bool met_before(std::uint64_t difference) const {
    return std::any_of(earlier_.begin(), earlier_.end(),
                       [&](const Block& earlier) { return earlier.of(difference) == 0; });
  }

  std::span<const Group> groups_;
  std::span<const Block> earlier_;
  Block block_;
  int distance_;
  std::vector<std::uint32_t> order_;
};

}  // namespace

Status find_simhash_pairs(const Scan& scan, const Classes& classes, const DedupOptions& options,
                          const EdgeVisitor& visit) {
  std::vector<RecordId> records;
  const std::vector<Group> groups = group_by_hash(scan, classes, records);
  KIN_RETURN_IF_ERROR(
      for_each_of(groups.size(), options.threads, visit,
                  [&](std::size_t i, PairBuffer& buffer) { return buffer.within(groups[i]); }));
  const std::vector<Block> blocks = blocks_for(options.hamming);
  for (std::size_t number = 0; number < blocks.size(); ++number) {
    const BlockPairs pairs(groups, blocks, number, options.hamming);
    KIN_RETURN_IF_ERROR(
        for_each_of(groups.size(), options.threads, visit,
                    [&](std::size_t i, PairBuffer& buffer) { return pairs.visit(i, buffer); }));
  }
  return Done{};
}

}  // namespace kin::dedup
