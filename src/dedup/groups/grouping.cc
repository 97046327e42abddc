#include "dedup/groups/grouping.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>

#include "base/bytes.h"
#include "base/workers.h"
#include "dedup/groups/component.h"
#include "dedup/groups/strangers.h"
#include "dedup/pairs/similarity.h"
#include "dedup/spill/budget.h"
#include "dedup/spill/shared_keys.h"
#include "sketch/minhash.h"
#include "sketch/simhash.h"

namespace kin::dedup {
namespace {

// Components are solved together until they hold this many records, so that texts are read in
// batches.
constexpr std::size_t kBatchRecords = 4'096;

// Pairs of a component that are re-sorted at a time.
constexpr std::size_t kPairsAtOnce = std::size_t{1} << 20;

// Solves components, on one thread.
class Solver {
 public:
  Solver(const GroupingInput& input, const DedupOptions& options, std::uint64_t memory,
         GroupCounts& counts)
      : input_(input),
        options_(options),
        similarity_(input.texts, input.classes, options.shingles, memory),
        counts_(counts) {}

  Status solve(std::span<const Component> components, std::vector<Removal>& removals) {
    if (needs_texts()) prefetch(components);
    for (const Component& component : components) {
      KIN_RETURN_IF_ERROR(options_.grouping == Grouping::kComponents
                              ? solve_transitively(component, removals)
                              : solve_star(component, removals));
    }
    similarity_.forget();
    return Done{};
  }

 private:
  bool needs_texts() const { return options_.verification != Verification::kEstimate; }

  void prefetch(std::span<const Component> components) {
    std::vector<RecordId> ids;
    for (const Component& component : components) {
      ids.insert(ids.end(), component.records.begin(), component.records.end());
    }
    similarity_.prefetch(std::move(ids));
  }

  // The similarity of two records, as `method` measures it.
  Result<double> measure(Method method, RecordId a, RecordId b) {
    if (decides_by_distance(method, options_)) {
      const int distance =
          sketch::hamming(input_.scan.simhashes.get(a), input_.scan.simhashes.get(b));
      return 1.0 - distance / 64.0;
    }
    if (options_.verification == Verification::kEstimate) return estimate(a, b);
    return similarity_.between(a, b);
  }

  Result<double> estimate(RecordId a, RecordId b) const {
    const auto [first, second] = std::minmax(a, b);
    const std::array<RecordId, 2> ids{first, second};
    std::array<std::uint8_t, 2> found{};
    std::vector<std::uint8_t> signatures(2 * std::size_t{options_.hashes});
    KIN_RETURN_IF_ERROR(input_.scan.signatures->get_batch(ids, signatures, found));
    if (found[0] == 0 || found[1] == 0) return 0.0;  // counted by the store
    const std::span<const std::uint8_t> both(signatures);
    return sketch::estimate_jaccard(
        sketch::equal_slots(both.first(options_.hashes), both.last(options_.hashes)),
        options_.hashes);
  }

  bool passes(Method method, double similarity) const {
    return options_.verification == Verification::kNone ||
           similarity >= threshold_of(method, options_);
  }

  // The similarity of a pair that reaches the threshold; otherwise nothing.
  Result<std::optional<double>> check(Method method, RecordId a, RecordId b) {
    KIN_TRY(const double similarity, measure(method, a, b));
    const bool holds = passes(method, similarity);
    ++(holds ? counts_.verified : counts_.below_threshold);
    return holds ? std::optional(similarity) : std::nullopt;
  }

  // Best record first: if it has not been removed, it stays for good, and all its verified
  // duplicates are removed.
  Status solve_star(const Component& component, std::vector<Removal>& removals) {
    std::vector<State> states(component.records.size(), State::kOpen);
    Strangers strangers(component, input_.scan);
    for (const Edge& link : component.links) {
      const std::uint32_t better = better_of(link);
      const std::uint32_t worse = worse_of(link);
      const bool references = input_.scan.order.is_reference(component.records[worse]);
      if (references || states[better] == State::kRemoved || states[worse] == State::kRemoved ||
          strangers.skips(link)) {
        ++counts_.not_needed;
        continue;
      }
      KIN_RETURN_IF_ERROR(try_pair(component, better, worse, link.method, states, removals));
      if (states[worse] != State::kRemoved) strangers.met(link);
    }
    counts_.capped += strangers.skipped() ? 1 : 0;
    return component.records.size() < 3 ? Status(Done{}) : look_again(component, states, removals);
  }

  enum class State : std::uint8_t { kOpen, kAnchor, kRemoved };

  Status try_pair(const Component& component, std::uint32_t better, std::uint32_t worse,
                  Method method, std::vector<State>& states, std::vector<Removal>& removals) {
    KIN_TRY(const std::optional<double> similarity,
            check(method, component.records[better], component.records[worse]));
    if (!similarity) return Done{};
    states[better] = State::kAnchor;
    states[worse] = State::kRemoved;
    removals.push_back({component.records[worse], component.records[better],
                        static_cast<float>(*similarity), method});
    return Done{};
  }

  // Whether a pair that was not found by its keys may be one of `method`. Without verification,
  // only a shared band makes a pair.
  bool may_pair(Method method, RecordId a, RecordId b) const {
    if (input_.scan.order.is_reference(b)) return false;  // the better is one too: both stay
    if (method != Method::kSimHash) return options_.verification != Verification::kNone;
    return sketch::hamming(input_.scan.simhashes.get(a), input_.scan.simhashes.get(b)) <=
           options_.hamming;
  }

  // A record that is still there and was paired with a removed one, and the method of the pair.
  using Survivor = std::pair<std::uint32_t, Method>;

  // In a large bucket a record is paired with a few others only. If those were removed, records
  // that were paired with the same one may be duplicates of each other: the best of them is
  // compared with the rest, and so on. A record for which others were removed stays in any case.
  Status look_again(const Component& component, std::vector<State>& states,
                    std::vector<Removal>& removals) {
    const std::vector<State> before = states;
    const std::vector<std::uint32_t> counts = count_survivors(component, before);
    for (std::size_t begin = 0; begin < counts.size();) {
      std::size_t end = begin;
      std::size_t held = 0;
      while (end < counts.size() && (held == 0 || held + counts[end] <= kPairsAtOnce))
        held += counts[end++];
      auto around = survivors_around(component, before, begin, end);
      for (std::vector<Survivor>& survivors : around) {
        KIN_RETURN_IF_ERROR(compare_survivors(component, survivors, states, removals));
      }
      begin = end;
    }
    return Done{};
  }

  // Calls visit(removed, survivor, method) for every pair of which one was removed and one was not.
  template <typename Visit>
  static void for_each_survivor(const Component& component, const std::vector<State>& states,
                                const Visit& visit) {
    for (const Edge& link : component.links) {
      const std::uint32_t better = better_of(link);
      const std::uint32_t worse = worse_of(link);
      const bool better_went = states[better] == State::kRemoved;
      if (better_went == (states[worse] == State::kRemoved)) continue;
      visit(better_went ? better : worse, better_went ? worse : better, link.method);
    }
  }

  static std::vector<std::uint32_t> count_survivors(const Component& component,
                                                    const std::vector<State>& states) {
    std::vector<std::uint32_t> counts(component.records.size());
    for_each_survivor(component, states,
                      [&](std::uint32_t removed, std::uint32_t, Method) { ++counts[removed]; });
    return counts;
  }

  // The survivors by removed record, for ranks from `begin` to `end`.
  static std::vector<std::vector<Survivor>> survivors_around(const Component& component,
                                                             const std::vector<State>& states,
                                                             std::size_t begin, std::size_t end) {
    std::vector<std::vector<Survivor>> around(end - begin);
    for_each_survivor(component, states,
                      [&](std::uint32_t removed, std::uint32_t survivor, Method method) {
                        if (removed < begin || removed >= end) return;
                        around[removed - begin].emplace_back(survivor, method);
                      });
    return around;
  }

  Status compare_survivors(const Component& component, std::vector<Survivor>& survivors,
                           std::vector<State>& states, std::vector<Removal>& removals) {
    constexpr std::size_t kMostAnchors = 64;
    const auto linked = [&](std::uint32_t better, std::uint32_t worse) {
      const Edge wanted{record_id(better), record_id(worse), Method::kExact};
      const auto at =
          std::lower_bound(component.links.begin(), component.links.end(), wanted, by_rank);
      return at != component.links.end() && better_of(*at) == better && worse_of(*at) == worse;
    };
    std::sort(survivors.begin(), survivors.end());
    const std::size_t anchors = std::min(kMostAnchors, survivors.size());
    for (std::size_t i = 0; i < anchors; ++i) {
      const std::uint32_t better = survivors[i].first;
      if (states[better] == State::kRemoved) continue;
      for (std::size_t j = i + 1; j < survivors.size(); ++j) {
        const auto [worse, method] = survivors[j];
        if (better == worse || states[worse] != State::kOpen || linked(better, worse) ||
            !may_pair(method, component.records[better], component.records[worse])) {
          continue;
        }
        ++counts_.added;
        KIN_RETURN_IF_ERROR(try_pair(component, better, worse, method, states, removals));
      }
    }
    return Done{};
  }

  Status solve_transitively(const Component& component, std::vector<Removal>& removals) {
    UnionFind joined(component.records.size());
    const auto rank_of = [](std::uint32_t rank) { return record_id(rank); };
    std::vector<Method> methods(component.records.size(), Method::kMinHash);
    Strangers strangers(component, input_.scan);
    for (const Edge& link : component.links) {
      const std::uint32_t better = better_of(link);
      const std::uint32_t worse = worse_of(link);
      const bool references = input_.scan.order.is_reference(component.records[worse]);
      if (references || joined.find(rank_of(better)) == joined.find(rank_of(worse)) ||
          strangers.skips(link)) {
        ++counts_.not_needed;
        continue;
      }
      KIN_TRY(const std::optional<double> similarity,
              check(link.method, component.records[better], component.records[worse]));
      if (!similarity) {
        strangers.met(link);
        continue;
      }
      joined.join(rank_of(better), rank_of(worse));
      methods[better] = link.method;
      methods[worse] = link.method;
    }
    counts_.capped += strangers.skipped() ? 1 : 0;
    for (std::uint32_t i = 0; i < component.records.size(); ++i) {
      const std::size_t best = row_number(joined.find(rank_of(i)));
      if (best == i) continue;
      const RecordId record = component.records[i];
      const RecordId kept = component.records[best];
      KIN_TRY(const double similarity, measure(methods[i], record, kept));
      removals.push_back({record, kept, static_cast<float>(similarity), methods[i]});
    }
    return Done{};
  }

  const GroupingInput& input_;
  const DedupOptions& options_;
  ExactSimilarity similarity_;
  GroupCounts& counts_;
};

Result<std::vector<Edge>> read_edges(const Spill& spill, std::size_t bin) {
  std::vector<Edge> edges;
  edges.reserve(spill.bytes(bin) / sizeof(Edge));
  KIN_RETURN_IF_ERROR(spill.visit(bin, [&](std::string_view block) {
    for (std::size_t at = 0; at < block.size(); at += sizeof(Edge)) {
      edges.push_back(load_le<Edge>(block.data() + at));
    }
  }));
  return edges;
}

// A limited number of bytes that threads take and give back. Thread-safe.
class BytePool {
 public:
  explicit BytePool(std::uint64_t bytes) : free_(bytes) {}
  // Waits until `bytes` are free; the pool must have that many in all.
  void take(std::uint64_t bytes) {
    std::unique_lock lock(mutex_);
    given_back_.wait(lock, [&] { return bytes <= free_; });
    free_ -= bytes;
  }
  void give_back(std::uint64_t bytes) {
    const std::scoped_lock lock(mutex_);
    free_ += bytes;
    given_back_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable given_back_;
  std::uint64_t free_;
};

// Memory for solving a bin, beside the cost of records: its pairs, and a second copy of some.
std::uint64_t solving_bytes(const Spill& edges, std::size_t bin) {
  const std::uint64_t pairs = edges.bytes(bin) / sizeof(Edge);
  constexpr std::uint64_t kSurvivorBytes = 16;  // with the room that a growing list keeps
  return edges.bytes(bin) + kSurvivorBytes * std::min<std::uint64_t>(pairs, kPairsAtOnce);
}

Result<std::uint64_t> pool_for(const Spill& edges, const PairMemory& memory,
                               std::uint64_t max_memory) {
  std::size_t largest = 0;
  for (std::size_t i = 1; i < Spill::kBins; ++i) {
    if (edges.bytes(i) > edges.bytes(largest)) largest = i;
  }
  const std::uint64_t needed = solving_bytes(edges, largest);
  // A small amount is always available, because everything else is estimated generously.
  constexpr std::uint64_t kAlways = 8 << 20;
  const std::uint64_t pool = std::max(memory.bytes(max_memory), kAlways);
  if (needed <= pool) return pool;
  return Error{Code::kResourceExhausted,
               fmt::format("very many records are alike: {} pairs of them have to be held at once "
                           "to group them (use --max-memory {}MiB or more)",
                           edges.bytes(largest) / sizeof(Edge), memory.least_mebibytes(needed))};
}

Status solve_bin(std::vector<Edge> edges, const GroupingInput& input, Solver& solver,
                 std::vector<Removal>& removals) {
  const UnionFind& components = input.candidates.components;
  std::sort(edges.begin(), edges.end(), [&](const Edge& x, const Edge& y) {
    return components.root(x.a) < components.root(y.a);
  });
  std::vector<Component> batch;
  std::size_t batch_records = 0;
  std::size_t counted = 0;
  for (std::size_t begin = 0; begin < edges.size();) {
    std::size_t end = begin + 1;
    while (end < edges.size() && components.root(edges[end].a) == components.root(edges[begin].a))
      ++end;
    batch.push_back(rank(std::span<Edge>(edges).subspan(begin, end - begin), input.scan.order));
    batch_records += batch.back().records.size();
    begin = end;
    if (batch_records < kBatchRecords && begin < edges.size()) continue;
    KIN_RETURN_IF_ERROR(solver.solve(batch, removals));
    count_work(input.scan.work, begin - counted);
    counted = begin;
    batch.clear();
    batch_records = 0;
  }
  return Done{};
}

}  // namespace

Result<std::vector<Removal>> group_candidates(const GroupingInput& input,
                                              const DedupOptions& options, std::uint64_t memory,
                                              GroupCounts& counts) {
  std::mutex mutex;
  std::vector<Removal> all;
  const std::uint64_t each = memory / static_cast<std::uint64_t>(options.threads);
  const Spill& pairs = *input.candidates.edges;
  KIN_TRY(const std::uint64_t room,
          pool_for(pairs, {options, input.classes.size(), input.fixed_memory}, options.max_memory));
  BytePool pool(room);
  next_phase(input.scan.work, pairs.total_bytes() / sizeof(Edge));
  const auto solve = [&](std::size_t bin) -> Status {
    KIN_TRY(std::vector<Edge> edges, read_edges(pairs, bin));
    Solver solver(input, options, each, counts);
    std::vector<Removal> removals;
    KIN_RETURN_IF_ERROR(solve_bin(std::move(edges), input, solver, removals));
    const std::lock_guard lock(mutex);
    all.insert(all.end(), removals.begin(), removals.end());
    return Done{};
  };
  KIN_RETURN_IF_ERROR(parallel_for(options.threads, Spill::kBins, [&](std::size_t bin) -> Status {
    if (pairs.bytes(bin) == 0) return Done{};
    const std::uint64_t bytes = solving_bytes(pairs, bin);
    pool.take(bytes);
    Status done = solve(bin);
    pool.give_back(bytes);
    return done;
  }));
  std::sort(all.begin(), all.end(),
            [](const Removal& x, const Removal& y) { return x.record < y.record; });
  return all;
}

std::vector<Removal> expand_classes(const Classes& classes,
                                    const std::vector<Removal>& representatives) {
  std::size_t most = representatives.size();
  for (std::size_t i = 0; i < classes.size(); ++i) most += classes.has_twin(record_id(i)) ? 1 : 0;
  std::vector<Removal> all;
  all.reserve(most);
  const auto removal_of = [&](RecordId id) -> const Removal* {
    const auto at = std::lower_bound(
        representatives.begin(), representatives.end(), id,
        [](const Removal& removal, RecordId wanted) { return removal.record < wanted; });
    return at != representatives.end() && at->record == id ? &*at : nullptr;
  };
  auto next = representatives.begin();
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const RecordId id = record_id(i);
    if (!classes.has_twin(id)) {
      if (next != representatives.end() && next->record == id) all.push_back(*next++);
      continue;
    }
    if (next != representatives.end() && next->record == id) ++next;
    const RecordId representative = classes.representative(id);
    if (const Removal* removal = removal_of(representative)) {
      all.push_back({id, removal->kept, removal->similarity, removal->method});
    } else if (id != representative) {
      const Method method =
          classes.same_text(id, representative) ? Method::kExact : Method::kMinHash;
      all.push_back({id, representative, 1.0F, method});
    }
  }
  return all;
}

Status add_left_out(const Scan& scan, std::size_t records, std::vector<Removal>& removals) {
  if (scan.left_out.empty()) return Done{};
  for (std::size_t row = 0; row < records; ++row) {
    const RecordId id = record_id(row);
    const std::uint8_t why = scan.left_out.get(id);
    if (why == Scan::kSeenBefore) removals.push_back({id, id, 1, Method::kSeen});
    if (why != Scan::kContainsReference) continue;
    KIN_TRY(const std::optional<std::string> bytes, scan.evidence->get(id));
    KIN_TRY(const ContainEvidence evidence, ContainEvidence::decode(bytes.value_or("")));
    removals.push_back({id, id, static_cast<float>(evidence.share), Method::kContains});
  }
  std::sort(removals.begin(), removals.end(),
            [](const Removal& a, const Removal& b) { return a.record < b.record; });
  return Done{};
}

RecordSet texts_missing(const std::vector<Removal>& removals, const Classes& classes,
                        const RecordSet& have) {
  RecordSet missing(classes.size());
  for (const Removal& removal : removals) {
    for (const RecordId id : {removal.record, removal.kept}) {
      for (const RecordId wanted : {id, classes.text_owner(id)}) {
        if (!have.contains(wanted)) missing.insert(wanted);
      }
    }
  }
  return missing;
}

void drop_references(const KeepOrder& order, std::vector<Removal>& removals) {
  std::erase_if(removals,
                [&](const Removal& removal) { return order.is_reference(removal.record); });
}

}  // namespace kin::dedup
