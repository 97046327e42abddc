#include "dedup/simhash_pairs.h"

#include <algorithm>
#include <span>
#include <vector>

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

class PairVisitor {
 public:
  explicit PairVisitor(const std::function<Status(const Edge&)>& visit) : visit_(visit) {}

  Status within(const Group& group) {
    const std::size_t anchors = std::min(kMostAnchors, group.records.size());
    for (std::size_t i = 0; i < anchors; ++i) {
      for (std::size_t j = i + 1; j < group.records.size(); ++j) {
        KIN_RETURN_IF_ERROR(visit_(edge_between(group.records[i], group.records[j])));
      }
    }
    return Done{};
  }

  // The best of each group with all of the other: any other pair of the two is no closer to being
  // a duplicate than those.
  Status between(const Group& a, const Group& b) {
    for (const RecordId record : a.records) {
      KIN_RETURN_IF_ERROR(visit_(edge_between(record, b.records.front())));
    }
    for (std::size_t i = 1; i < b.records.size(); ++i) {
      KIN_RETURN_IF_ERROR(visit_(edge_between(a.records.front(), b.records[i])));
    }
    return Done{};
  }

 private:
  const std::function<Status(const Edge&)>& visit_;
};

}  // namespace

Status find_simhash_pairs(const Scan& scan, const Classes& classes, const DedupOptions& options,
                          const std::function<Status(const Edge&)>& visit) {
  std::vector<RecordId> records;
  const std::vector<Group> groups = group_by_hash(scan, classes, records);
  PairVisitor pairs(visit);
  for (const Group& group : groups) KIN_RETURN_IF_ERROR(pairs.within(group));

  const std::vector<Block> blocks = blocks_for(options.hamming);
  std::vector<std::uint32_t> order(groups.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  for (std::size_t number = 0; number < blocks.size(); ++number) {
    const Block block = blocks[number];
    std::sort(order.begin(), order.end(), [&](std::uint32_t x, std::uint32_t y) {
      return std::pair(block.of(groups[x].hash), x) < std::pair(block.of(groups[y].hash), y);
    });
    // A pair is met once for every block it shares: the first one counts.
    const auto met_before = [&](std::uint64_t difference) {
      return std::any_of(blocks.begin(), blocks.begin() + static_cast<std::ptrdiff_t>(number),
                         [&](const Block& earlier) { return earlier.of(difference) == 0; });
    };
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Group& a = groups[order[i]];
      for (std::size_t j = i + 1; j < order.size(); ++j) {
        const Group& b = groups[order[j]];
        if (block.of(a.hash) != block.of(b.hash)) break;
        const int distance = sketch::hamming(a.hash, b.hash);
        if (distance > options.hamming || met_before(a.hash ^ b.hash)) continue;
        KIN_RETURN_IF_ERROR(pairs.between(a, b));
      }
    }
  }
  return Done{};
}

}  // namespace kin::dedup
