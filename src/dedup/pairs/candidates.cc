#include "dedup/pairs/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "base/bytes.h"
#include "base/record_set.h"
#include "base/workers.h"
#include "dedup/pairs/simhash_pairs.h"
#include "dedup/spill/shared_keys.h"
#include "sketch/minhash.h"

namespace kin::dedup {
namespace {

// A band shared by at most this many records gives every pair of them.
constexpr std::size_t kSmallBucket = 16;
// In a larger one, records are compared with at most this many others.
constexpr std::size_t kMostAnchors = 64;
// A record that has found this many possible partners looks for no more.
constexpr std::uint32_t kEnoughPartners = 4;
// Signatures of a large bucket are fetched for this many members at a time.
constexpr std::size_t kBucketSlice = 65'536;
// Without verification pairs are cheap: up to this many records of a bucket are all paired with
// each other; in a larger bucket, the best of them with all others.
constexpr std::size_t kAllUnverified = 64;
constexpr std::size_t kMostCentres = 16;

#pragma pack(push, 1)
struct PairRecord {
  RecordId a;
  RecordId b;
  friend auto operator<=>(const PairRecord&, const PairRecord&) = default;
};
#pragma pack(pop)

std::uint64_t key_bits(const PairRecord& pair) {
  return mix64((std::uint64_t{static_cast<std::uint32_t>(pair.a)} << 32) |
               static_cast<std::uint32_t>(pair.b));
}

Error lost_signature(RecordId id) {
  return {Code::kDataLoss, fmt::format("the signature of row {} is not in the signature store (was "
                                       "it changed? run again without --resume)",
                                       row_number(id))};
}

void raise_to(std::atomic<std::uint64_t>& most, std::uint64_t value) {
  for (std::uint64_t seen = most; seen < value && !most.compare_exchange_weak(seen, value);) {
  }
}

// Turns buckets (records that share a band) into pairs.
class BucketPairs {
 public:
  BucketPairs(const Scan& scan, const Classes& classes, const DedupOptions& options, Spill& pairs,
              CandidateCounts& counts)
      : scan_(scan), classes_(classes), options_(options), pairs_(pairs), counts_(counts) {}

  // Thread-safe.
  Status add(std::span<const BandRecord> bucket) {
    std::vector<RecordId> members;
    members.reserve(bucket.size());
    for (const BandRecord& record : bucket)
      members.push_back(classes_.representative(record.record));
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
    if (members.size() < 2) return Done{};
    raise_to(counts_.largest_bucket, members.size());
    if (options_.verification == Verification::kNone) return add_unverified(members);
    return members.size() <= kSmallBucket ? add_all(members) : add_large(members);
  }

 private:
  Status add_all(std::span<const RecordId> members) {
    std::string block;
    for (std::size_t i = 0; i < members.size(); ++i) {
      block.clear();
      for (std::size_t j = i + 1; j < members.size(); ++j) {
        if (scan_.order.is_reference(members[j])) continue;  // so is the one before it
        append_le(block, PairRecord{members[i], members[j]});
      }
      if (!block.empty()) KIN_RETURN_IF_ERROR(pairs_.append(bin(members[i]), block));
    }
    return Done{};
  }

  // Without verification all records of a bucket are alike. For components a star around the best
  // one is enough; otherwise the best may be removed, and the next ones are needed.
  Status add_unverified(std::vector<RecordId>& members) {
    std::sort(members.begin(), members.end(),
              [&](RecordId a, RecordId b) { return a != b && scan_.order.better(a, b); });
    const bool transitive = options_.grouping == Grouping::kComponents;
    const std::size_t centres = transitive                         ? 1
                                : members.size() <= kAllUnverified ? members.size()
                                                                   : kMostCentres;
    for (std::size_t i = 0; i < centres; ++i) {
      for (std::size_t j = i + 1; j < members.size(); ++j) {
        if (scan_.order.is_reference(members[j])) continue;  // so is the one before it
        KIN_RETURN_IF_ERROR(add_pair(members[i], members[j]));
      }
    }
    return transitive ? add_references(members) : Status(Done{});
  }

  // References are not paired with each other: they are joined through an input.
  Status add_references(std::span<const RecordId> members) {
    const auto input = std::find_if(members.begin(), members.end(), [&](RecordId member) {
      return !scan_.order.is_reference(member);
    });
    for (auto other = members.begin() + 1; input != members.end() && other < input; ++other)
      KIN_RETURN_IF_ERROR(add_pair(*other, *input));
    return Done{};
  }

  // A large bucket is a much-copied text or a template. Its best record is compared with all the
  // others, by signature; records that are clearly like it, or have enough partners, are done. Then
  // the best of the rest follows, and so on. (If the partner of a record is removed itself, the
  // grouping looks at the record again.)
  Status add_large(const std::vector<RecordId>& members) {
    if (!first_meeting(members)) return Done{};
    ++counts_.large_buckets;
    Anchors anchors;
    bool capped = false;
    for (std::size_t begin = 0; begin < members.size(); begin += kBucketSlice) {
      const std::size_t end = std::min(members.size(), begin + kBucketSlice);
      KIN_TRY(const bool all_paired,
              add_slice(std::span(members).subspan(begin, end - begin), anchors));
      capped = capped || !all_paired;
    }
    if (capped) ++counts_.capped_buckets;
    return Done{};
  }

  // Copies share all their bands, so the same bucket recurs once per band. Once is enough.
  bool first_meeting(std::span<const RecordId> members) {
    const std::uint64_t hash = hash64(as_bytes_view(members));
    const std::lock_guard lock(mutex_);
    return met_.insert(hash).second;
  }

  // Records of a bucket that others were compared with, and their signatures.
  struct Anchors {
    std::vector<RecordId> records;
    std::vector<std::uint8_t> signatures;
  };
  // A member that still needs a partner.
  struct Open {
    std::uint32_t position;
    std::uint32_t partners;
  };

  // Compares the members of a slice with the anchors of earlier slices, then with new ones. False
  // if some members were not compared with all.
  Result<bool> add_slice(std::span<const RecordId> members, Anchors& anchors) {
    const std::size_t slots = options_.hashes;
    std::vector<std::uint8_t> signatures(members.size() * slots);
    std::vector<std::uint8_t> found(members.size());
    KIN_RETURN_IF_ERROR(scan_.signatures->get_batch(members, signatures, found));
    std::vector<Open> open;  // best first
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (found[i] != 0) open.push_back({static_cast<std::uint32_t>(i), 0});
    }
    std::sort(open.begin(), open.end(), [&](const Open& x, const Open& y) {
      return x.position != y.position &&
             scan_.order.better(members[x.position], members[y.position]);
    });
    for (std::size_t i = 0; i < anchors.records.size(); ++i) {
      KIN_RETURN_IF_ERROR(pair_with(anchors, i, members, signatures, open));
    }
    while (anchors.records.size() < kMostAnchors && open.size() > 1) {
      const std::uint32_t best = open.front().position;
      open.erase(open.begin());
      anchors.records.push_back(members[best]);
      const auto signature = std::span(signatures).subspan(best * slots, slots);
      anchors.signatures.insert(anchors.signatures.end(), signature.begin(), signature.end());
      KIN_RETURN_IF_ERROR(
          pair_with(anchors, anchors.records.size() - 1, members, signatures, open));
    }
    return open.size() <= 1;
  }

  // Pairs open members that may be like the anchor with it, and closes those that need no more.
  Status pair_with(const Anchors& anchors, std::size_t anchor, std::span<const RecordId> members,
                   std::span<const std::uint8_t> signatures, std::vector<Open>& open) {
    const std::size_t slots = options_.hashes;
    const double floor = estimate_floor(options_);
    const double clear = std::min(1.0, 2 * options_.threshold - floor);
    const auto of_anchor = std::span(anchors.signatures).subspan(anchor * slots, slots);
    std::vector<Open> rest;
    for (Open member : open) {
      // References are compared with inputs, not with each other.
      if (scan_.order.is_reference(members[member.position])) {
        rest.push_back(member);
        continue;
      }
      const auto of_member = signatures.subspan(member.position * slots, slots);
      const double estimate = sketch::estimate_jaccard(sketch::equal_slots(of_anchor, of_member),
                                                       static_cast<std::uint32_t>(slots));
      if (estimate >= floor) {
        KIN_RETURN_IF_ERROR(add_pair(anchors.records[anchor], members[member.position]));
        ++member.partners;
      }
      if (estimate < clear && member.partners < kEnoughPartners) rest.push_back(member);
    }
    open = std::move(rest);
    return Done{};
  }

  Status add_pair(RecordId x, RecordId y) {
    const auto [a, b] = std::minmax(x, y);
    std::string bytes;
    append_le(bytes, PairRecord{a, b});
    return pairs_.append(bin(a), bytes);
  }

  std::size_t bin(RecordId id) const { return row_number(id) * Spill::kBins / classes_.size(); }

  const Scan& scan_;
  const Classes& classes_;
  const DedupOptions& options_;
  Spill& pairs_;
  CandidateCounts& counts_;
  std::mutex mutex_;
  std::unordered_set<std::uint64_t> met_;
};

// Checks distinct pairs by their signatures and passes on the plausible ones.
class PairFilter {
 public:
  PairFilter(const Scan& scan, const DedupOptions& options, Candidates& found, Spill& survivors)
      : scan_(scan),
        options_(options),
        found_(found),
        survivors_(survivors),
        floor_(options.verification == Verification::kEstimate ? options.threshold
                                                               : estimate_floor(options)) {}

  // The pairs of one bin, or of a slice of it.
  Status check(std::size_t bin, std::vector<PairRecord>& pairs) {
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    found_.counts.candidates += pairs.size();
    for (std::size_t begin = 0; begin < pairs.size(); begin += kPairs) {
      const std::size_t count = std::min(kPairs, pairs.size() - begin);
      KIN_RETURN_IF_ERROR(check_slice(bin, std::span(pairs).subspan(begin, count)));
    }
    return Done{};
  }

 private:
  static constexpr std::size_t kPairs = 131'072;

  Status check_slice(std::size_t bin, std::span<const PairRecord> pairs) {
    std::vector<Edge> passed;
    if (options_.verification == Verification::kNone) {
      for (const PairRecord& pair : pairs) passed.push_back({pair.a, pair.b, Method::kMinHash});
    } else {
      KIN_RETURN_IF_ERROR(estimate(pairs, passed));
      found_.counts.below_estimate += pairs.size() - passed.size();
    }
    {
      const std::lock_guard lock(mutex_);
      for (const Edge& edge : passed) found_.components.join(edge.a, edge.b);
    }
    for (const Edge& edge : passed) {
      std::string bytes;
      append_le(bytes, edge);
      KIN_RETURN_IF_ERROR(survivors_.append(bin, bytes));
    }
    return Done{};
  }

  Status estimate(std::span<const PairRecord> pairs, std::vector<Edge>& passed) {
    std::vector<RecordId> ids;
    ids.reserve(pairs.size() * 2);
    for (const PairRecord& pair : pairs) {
      ids.push_back(pair.a);
      ids.push_back(pair.b);
    }
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    const std::size_t slots = options_.hashes;
    std::vector<std::uint8_t> signatures(ids.size() * slots);
    std::vector<std::uint8_t> readable(ids.size());
    KIN_RETURN_IF_ERROR(scan_.signatures->get_batch(ids, signatures, readable));
    const auto position = [&](RecordId id) {
      return static_cast<std::size_t>(std::lower_bound(ids.begin(), ids.end(), id) - ids.begin());
    };
    for (const PairRecord& pair : pairs) {
      const std::size_t a = position(pair.a);
      const std::size_t b = position(pair.b);
      if (readable[a] == 0 || readable[b] == 0) {
        for (const RecordId id : {pair.a, pair.b}) {
          if (!scan_.signatures->contains(id)) return lost_signature(id);
        }
        continue;  // unreadable: counted by the store, and limited by the run
      }
      const std::uint32_t equal =
          sketch::equal_slots(std::span(signatures).subspan(a * slots, slots),
                              std::span(signatures).subspan(b * slots, slots));
      const double similarity = sketch::estimate_jaccard(equal, static_cast<std::uint32_t>(slots));
      if (similarity >= floor_) passed.push_back({pair.a, pair.b, Method::kMinHash});
    }
    return Done{};
  }

  const Scan& scan_;
  const DedupOptions& options_;
  Candidates& found_;
  Spill& survivors_;
  const double floor_;
  std::mutex mutex_;
};

Status filter_pairs(const Spill& pairs, PairFilter& filter, int threads, std::uint64_t memory,
                    StageWork* work) {
  return parallel_for(threads, Spill::kBins, [&](std::size_t bin) -> Status {
    const std::size_t slices = slices_of(pairs.bytes(bin), threads, memory);
    for (std::size_t slice = 0; slice < slices; ++slice) {
      KIN_TRY(std::vector<PairRecord> distinct, read_slice<PairRecord>(pairs, bin, slice, slices));
      KIN_RETURN_IF_ERROR(filter.check(bin, distinct));
    }
    count_work(work, 1);
    return Done{};
  });
}

// Moves edges to the bin of their component.
Status gather_by_component(const Spill& from, Candidates& found, int threads) {
  const std::size_t records = found.components.size();
  return parallel_for(threads, Spill::kBins, [&](std::size_t bin) -> Status {
    Spill::Writer writer(*found.edges);
    KIN_RETURN_IF_ERROR(from.visit(bin, [&](std::string_view block) {
      for (std::size_t at = 0; at < block.size(); at += sizeof(Edge)) {
        const auto edge = load_le<Edge>(block.data() + at);
        const std::size_t root = row_number(found.components.root(edge.a));
        writer.append(root * Spill::kBins / records, edge);
      }
    }));
    return writer.flush();
  });
}

}  // namespace

double estimate_floor(const DedupOptions& options) {
  return options.threshold - 4 * sketch::estimate_deviation(options.threshold, options.hashes);
}

Status share_sketches(Scan& scan, const Classes& classes) {
  for (std::size_t row = 0; row < classes.size(); ++row) {
    const RecordId id = record_id(row);
    if (!classes.has_twin(id)) continue;
    if (const std::uint64_t hash = scan.simhashes.get(id); hash != 0) {
      scan.simhashes.set(classes.representative(id), hash);
    }
  }
  if (!scan.signatures) return Done{};
  constexpr std::size_t kBatch = 65'536;
  const std::size_t slots = scan.signatures->signature_bytes();
  std::vector<RecordId> from;
  std::vector<RecordId> to;
  RecordSet served(classes.size());
  const auto copy = [&]() -> Status {
    std::vector<std::uint8_t> signatures(from.size() * slots);
    std::vector<std::uint8_t> found(from.size());
    KIN_RETURN_IF_ERROR(scan.signatures->get_batch(from, signatures, found));
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (found[i] == 0) continue;  // counted by the store, and limited by the run
      KIN_RETURN_IF_ERROR(
          scan.signatures->insert(to[i], std::span(signatures).subspan(i * slots, slots)));
    }
    from.clear();
    to.clear();
    return Done{};
  };
  for (std::size_t row = 0; row < classes.size(); ++row) {
    const RecordId id = record_id(row);
    if (!classes.has_twin(id)) continue;
    const RecordId representative = classes.representative(id);
    if (served.contains(representative) || !scan.signatures->contains(id)) continue;
    served.insert(representative);
    if (scan.signatures->contains(representative)) continue;
    from.push_back(id);
    to.push_back(representative);
    if (from.size() == kBatch) KIN_RETURN_IF_ERROR(copy());
  }
  return copy();
}

Result<std::unique_ptr<Candidates>> find_candidates(const Scan& scan, const Classes& classes,
                                                    const DedupOptions& options,
                                                    std::uint64_t memory,
                                                    const std::filesystem::path& folder) {
  auto found = std::make_unique<Candidates>();
  found->components = UnionFind(classes.size());
  found->edges = std::make_unique<Spill>(Spill::Options{
      .file = folder / "edges.spill", .record_bytes = sizeof(Edge), .memory_bytes = memory / 8});
  Spill survivors({.file = folder / "survivors.spill",
                   .record_bytes = sizeof(Edge),
                   .memory_bytes = memory / 8});
  if (scan.work != nullptr) {
    const std::uint32_t minhash = options.detectors.minhash ? 1 : 0;
    scan.work->plan({10 * minhash, 9 * minhash, options.detectors.simhash ? 20U : 0U, 1});
  }
  if (options.detectors.minhash) {
    Spill pairs({.file = folder / "pairs.spill",
                 .record_bytes = sizeof(PairRecord),
                 .memory_bytes = memory / 4});
    BucketPairs buckets(scan, classes, options, pairs, found->counts);
    next_phase(scan.work, Spill::kBins);
    KIN_RETURN_IF_ERROR(for_each_shared_key<BandRecord>(
        scan.bands, options.threads, memory / 4,
        [&](std::span<const BandRecord> bucket) { return buckets.add(bucket); }, scan.work));
    PairFilter filter(scan, options, *found, survivors);
    next_phase(scan.work, Spill::kBins);
    KIN_RETURN_IF_ERROR(filter_pairs(pairs, filter, options.threads, memory / 4, scan.work));
  } else {
    next_phase(scan.work, 1);
    next_phase(scan.work, 1);
  }
  next_phase(scan.work, kSimHashWork);
  if (options.detectors.simhash) {
    std::mutex mutex;
    const auto add = [&](std::span<const Edge> all) -> Status {
      std::vector<Edge> edges(all.begin(), all.end());
      std::erase_if(edges, [&](const Edge& edge) { return scan.order.is_reference(edge.b); });
      {
        const std::lock_guard lock(mutex);
        found->counts.candidates += edges.size();
        for (const Edge& edge : edges) found->components.join(edge.a, edge.b);
      }
      Spill::Writer writer(survivors);
      for (const Edge& edge : edges)
        writer.append(row_number(edge.a) * Spill::kBins / classes.size(), edge);
      return writer.flush();
    };
    KIN_RETURN_IF_ERROR(find_simhash_pairs(scan, classes, options, found->counts, add));
  }
  found->components.flatten();
  next_phase(scan.work, 1);
  KIN_RETURN_IF_ERROR(gather_by_component(survivors, *found, options.threads));
  count_work(scan.work, 1);
  return found;
}

}  // namespace kin::dedup
