#include "dedup/pairs/simhash_pairs.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>
#include <vector>

#include "base/workers.h"
#include "sketch/simhash.h"

namespace kin::dedup {
namespace {

constexpr std::size_t kMostAnchors = 16;
// A record with more near ones than this belongs to a template. It is paired with so many better
// ones. If all of these are removed, the grouping looks at it again.
constexpr std::uint8_t kMostPartners = 32;

struct Hashed {
  std::uint64_t hash;
  RecordId record;
};

Edge edge_between(RecordId a, RecordId b) {
  return {std::min(a, b), std::max(a, b), Method::kSimHash};
}

// The records with one hash, best first.
struct Group {
  std::uint64_t hash;
  std::span<const RecordId> records;
  std::size_t first;  // place of its records among those of all groups
};

// All distinct hashes, the one with the best record first. Their records are in `records`.
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
    groups.push_back({all[begin].hash, std::span(records).subspan(begin, end - begin), begin});
    begin = end;
  }
  std::sort(groups.begin(), groups.end(), [&](const Group& a, const Group& b) {
    const RecordId x = a.records.front();
    const RecordId y = b.records.front();
    return x != y && scan.order.better(x, y);
  });
  return groups;
}

// How many better records each record was paired with, by its place in the groups. A group is in
// one bucket at a time, so threads that work on different buckets change different counts.
class Partners {
 public:
  explicit Partners(std::size_t records)
      : counts_(records), most_(records <= kFewHashed ? std::uint8_t{kFewHashed} : kMostPartners) {}

  // Whether there are so few records that all pairs are taken.
  bool all() const { return most_ == kFewHashed; }
  // Among records with one hash, this many are paired with all the others.
  std::size_t anchors() const { return all() ? kFewHashed : kMostAnchors; }

  bool enough(const Group& group, std::size_t i) const { return counts_[group.first + i] >= most_; }
  void add(const Group& group, std::size_t i) { ++counts_[group.first + i]; }

 private:
  std::vector<std::uint8_t> counts_;
  std::uint8_t most_;
};

// Collects pairs and passes them on, many at a time. One thread only.
class PairBuffer {
 public:
  PairBuffer(const KeepOrder& order, Partners& partners, const EdgeVisitor& visit)
      : order_(order), partners_(partners), visit_(visit) {}

  Status within(const Group& group) {
    for (std::size_t i = 1; i < group.records.size(); ++i) {
      for (std::size_t j = 0; j < std::min(i, partners_.anchors()); ++j)
        KIN_RETURN_IF_ERROR(add(group.records[j], group, i));
    }
    return Done{};
  }

  // Pairs the best of each group with those of the other, or all if there are few: no other pair of
  // the two groups is closer. The best of `a` is better than that of `b`.
  Status between(const Group& a, const Group& b) {
    // Records after the first few have enough partners within their group.
    const std::size_t from_a = std::min(partners_.anchors(), a.records.size());
    const std::size_t from_b = std::min(partners_.anchors(), b.records.size());
    for (std::size_t i = 0; i < from_a; ++i) {
      const std::size_t others = i == 0 || partners_.all() ? from_b : 1;
      for (std::size_t j = 0; j < others; ++j) {
        KIN_RETURN_IF_ERROR(order_.better(a.records[i], b.records[j])
                                ? add_if_needed(a.records[i], b, j)
                                : add_if_needed(b.records[j], a, i));
      }
    }
    return Done{};
  }

  Status flush() {
    Status done = edges_.empty() ? Status(Done{}) : visit_(edges_);
    edges_.clear();
    return done;
  }

 private:
  static constexpr std::size_t kAtOnce = 4'096;

  Status add_if_needed(RecordId better, const Group& group, std::size_t i) {
    return partners_.enough(group, i) ? Status(Done{}) : add(better, group, i);
  }

  Status add(RecordId better, const Group& group, std::size_t i) {
    partners_.add(group, i);
    edges_.push_back(edge_between(better, group.records[i]));
    return edges_.size() < kAtOnce ? Status(Done{}) : flush();
  }

  const KeepOrder& order_;
  Partners& partners_;
  const EdgeVisitor& visit_;
  std::vector<Edge> edges_;
};

// Divides the bits of `free` into `count` masks of about equal size.
std::vector<std::uint64_t> cut_bits(std::uint64_t free, int count) {
  std::vector<std::uint64_t> parts(static_cast<std::size_t>(count));
  const int bits = std::popcount(free);
  for (int taken = 0; free != 0; ++taken) {
    const std::uint64_t lowest = free & (~free + 1);
    parts[static_cast<std::size_t>(taken * count / bits)] |= lowest;
    free ^= lowest;
  }
  return parts;
}

// Groups, by their rank. The ranks within a bucket ascend.
using Bucket = std::span<const std::uint32_t>;

// Sorts `places` into buckets of hashes that agree in the bits of `part`.
std::vector<Bucket> buckets_by(std::uint64_t part, std::span<const Group> ranked,
                               std::vector<std::uint32_t>& places) {
  const auto key = [&](std::uint32_t place) { return ranked[place].hash & part; };
  std::sort(places.begin(), places.end(), [&](std::uint32_t x, std::uint32_t y) {
    return std::pair(key(x), x) < std::pair(key(y), y);
  });
  std::vector<Bucket> buckets;
  for (std::size_t begin = 0; begin < places.size();) {
    std::size_t end = begin + 1;
    while (end < places.size() && key(places[end]) == key(places[begin])) ++end;
    if (end - begin > 1) buckets.push_back(Bucket(places).subspan(begin, end - begin));
    begin = end;
  }
  return buckets;
}

// Finds the pairs of a bucket whose hashes are at most `distance` bits apart. One thread only.
class BucketSearch {
 public:
  BucketSearch(std::span<const Group> ranked, int distance, const Partners& partners,
               CandidateCounts& counts, PairBuffer& buffer)
      : groups_(ranked),
        distance_(distance),
        partners_(partners),
        counts_(counts),
        buffer_(buffer) {}

  // The hashes of `bucket` agree in all bits but `free`. A pair that agrees in one of the parts
  // `met` has been found by that part.
  Status search(Bucket bucket, std::uint64_t free, std::vector<std::uint64_t> met, int depth = 1) {
    if (bucket.size() <= kSmallBucket || depth == kDeepest) return compare(bucket, met);
    // The same argument again: hashes that are near agree in one part of the remaining bits.
    std::vector<std::uint32_t> places(bucket.begin(), bucket.end());
    for (const std::uint64_t part : cut_bits(free, distance_ + 1)) {
      for (const Bucket smaller : buckets_by(part, groups_, places))
        KIN_RETURN_IF_ERROR(search(smaller, free & ~part, met, depth + 1));
      met.push_back(part);
    }
    return Done{};
  }

 private:
  static constexpr std::size_t kSmallBucket = 256;
  // Every level sorts a bucket once for each part.
  static constexpr int kDeepest = 3;
  // A bucket that is still large gives a group this many partners.
  static constexpr int kEnoughPartners = 4;

  Status compare(Bucket bucket, std::span<const std::uint64_t> met) {
    const bool large = bucket.size() > kSmallBucket;
    bool capped = false;
    for (std::size_t worse = 1; worse < bucket.size(); ++worse) {
      const Group& b = groups_[bucket[worse]];
      const std::size_t most = std::min(worse, kMostHashesCompared);
      int found = 0;
      const auto enough = [&] {
        return (large && found == kEnoughPartners) || partners_.enough(b, 0);
      };
      for (std::size_t better = 0; better < most && !enough(); ++better) {
        const Group& a = groups_[bucket[better]];
        if (sketch::hamming(a.hash, b.hash) > distance_ || agree(a.hash ^ b.hash, met)) continue;
        ++found;
        KIN_RETURN_IF_ERROR(buffer_.between(a, b));
      }
      capped = capped || (most < worse && !enough());
    }
    counts_.large_buckets += large ? 1 : 0;
    counts_.capped_buckets += capped ? 1 : 0;
    return Done{};
  }

  static bool agree(std::uint64_t difference, std::span<const std::uint64_t> met) {
    return std::any_of(met.begin(), met.end(),
                       [&](std::uint64_t part) { return (difference & part) == 0; });
  }

  std::span<const Group> groups_;
  int distance_;
  const Partners& partners_;
  CandidateCounts& counts_;
  PairBuffer& buffer_;
};

}  // namespace

Status find_simhash_pairs(const Scan& scan, const Classes& classes, const DedupOptions& options,
                          CandidateCounts& counts, const EdgeVisitor& visit) {
  std::vector<RecordId> records;
  const std::vector<Group> ranked = group_by_hash(scan, classes, records);
  Partners partners(records.size());
  // Work is handed out in slices: one group or one bucket is too little for a thread.
  constexpr std::size_t kAtOnce = 1'024;
  const auto parts = static_cast<std::uint64_t>(options.hamming) + 2;
  const auto share_out = [&](std::size_t count, const auto& work) {
    const std::size_t slices = (count + kAtOnce - 1) / kAtOnce;
    SpreadWork watched(scan.work, kSimHashWork / parts, slices);
    return parallel_for(options.threads, slices, [&](std::size_t slice) -> Status {
      PairBuffer buffer(scan.order, partners, visit);
      const std::size_t end = std::min(count, (slice + 1) * kAtOnce);
      for (std::size_t i = slice * kAtOnce; i < end; ++i) KIN_RETURN_IF_ERROR(work(i, buffer));
      watched.finished_one();
      return buffer.flush();
    });
  };
  KIN_RETURN_IF_ERROR(share_out(
      ranked.size(), [&](std::size_t i, PairBuffer& buffer) { return buffer.within(ranked[i]); }));
  std::vector<std::uint32_t> places(ranked.size());
  std::iota(places.begin(), places.end(), 0U);
  // Two hashes that differ in at most k bits agree in one of any k + 1 parts of their bits.
  std::vector<std::uint64_t> met;
  for (const std::uint64_t part : cut_bits(~std::uint64_t{0}, options.hamming + 1)) {
    const std::vector<Bucket> buckets = buckets_by(part, ranked, places);
    KIN_RETURN_IF_ERROR(share_out(buckets.size(), [&](std::size_t i, PairBuffer& buffer) {
      BucketSearch search(ranked, options.hamming, partners, counts, buffer);
      return search.search(buckets[i], ~part, met);
    }));
    met.push_back(part);
  }
  return Done{};
}

}  // namespace kin::dedup
