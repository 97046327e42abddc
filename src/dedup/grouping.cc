#include "dedup/grouping.h"

#include <algorithm>
#include <array>
#include <mutex>

#include "base/bytes.h"
#include "base/workers.h"
#include "dedup/shared_keys.h"
#include "dedup/similarity.h"
#include "sketch/minhash.h"
#include "sketch/simhash.h"

namespace kin::dedup {
namespace {

// Components are solved together until they hold this many records, so that texts are read in
// batches.
constexpr std::size_t kBatchRecords = 4'096;

// One connected component of candidate pairs, its records ranked best first.
struct Component {
  struct Link {
    std::uint32_t better;  // ranks
    std::uint32_t worse;
    Method method;
  };
  std::vector<RecordId> records;  // by rank
  std::vector<Link> links;        // by better, worse, method
};

bool by_rank(const Component::Link& x, const Component::Link& y) {
  return std::tie(x.better, x.worse, x.method) < std::tie(y.better, y.worse, y.method);
}

Component rank(std::span<const Edge> edges, const KeepOrder& order) {
  Component component;
  std::vector<RecordId> sorted;
  for (const Edge& edge : edges) {
    // As copies: a packed member cannot be bound to a reference.
    for (const RecordId record : {edge.a, edge.b}) sorted.push_back(record);
  }
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  component.records = sorted;
  std::sort(component.records.begin(), component.records.end(),
            [&](RecordId a, RecordId b) { return a != b && order.better(a, b); });
  std::vector<std::uint32_t> ranks(sorted.size());
  const auto position = [&](RecordId id) {
    return static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), id) -
                                    sorted.begin());
  };
  for (std::uint32_t i = 0; i < component.records.size(); ++i)
    ranks[position(component.records[i])] = i;
  for (const Edge& edge : edges) {
    const auto [better, worse] = std::minmax(ranks[position(edge.a)], ranks[position(edge.b)]);
    component.links.push_back({better, worse, edge.method});
  }
  std::sort(component.links.begin(), component.links.end(), by_rank);
  return component;
}

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
  bool needs_texts() const {
    return options_.detectors.minhash && options_.verification != Verification::kEstimate;
  }

  void prefetch(std::span<const Component> components) {
    std::vector<RecordId> ids;
    for (const Component& component : components) {
      ids.insert(ids.end(), component.records.begin(), component.records.end());
    }
    similarity_.prefetch(std::move(ids));
  }

  // How alike two records are, in the measure of a method.
  Result<double> measure(Method method, RecordId a, RecordId b) {
    if (method == Method::kSimHash) {
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
    if (method == Method::kSimHash) return similarity >= 1.0 - options_.hamming / 64.0;
    return options_.verification == Verification::kNone || similarity >= options_.threshold;
  }

  // The similarity of a pair that holds; nothing if it does not.
  Result<std::optional<double>> check(Method method, RecordId a, RecordId b) {
    KIN_TRY(const double similarity, measure(method, a, b));
    const bool holds = passes(method, similarity);
    ++(holds ? counts_.verified : counts_.below_threshold);
    return holds ? std::optional(similarity) : std::nullopt;
  }

  // Best record first: if it still stays, it stays for good, and takes with it all those that are
  // verified duplicates of it.
  Status solve_star(const Component& component, std::vector<Removal>& removals) {
    std::vector<State> states(component.records.size(), State::kOpen);
    for (const Component::Link& link : component.links) {
      if (states[link.better] == State::kRemoved || states[link.worse] == State::kRemoved) {
        ++counts_.not_needed;
        continue;
      }
      KIN_RETURN_IF_ERROR(
          try_pair(component, link.better, link.worse, link.method, states, removals));
    }
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

  // In a large bucket a record is paired with a few others only. If those went, the records that
  // were paired with the same one may be duplicates of each other: the best of them is compared
  // with the rest, and so on. A record that others went for stays in any case.
  Status look_again(const Component& component, std::vector<State>& states,
                    std::vector<Removal>& removals) {
    constexpr std::size_t kMostAnchors = 64;
    std::vector<std::vector<std::pair<std::uint32_t, Method>>> around(component.records.size());
    for (const Component::Link& link : component.links) {
      if (states[link.better] == State::kRemoved && states[link.worse] != State::kRemoved) {
        around[link.better].emplace_back(link.worse, link.method);
      }
      if (states[link.worse] == State::kRemoved && states[link.better] != State::kRemoved) {
        around[link.worse].emplace_back(link.better, link.method);
      }
    }
    const auto linked = [&](std::uint32_t better, std::uint32_t worse) {
      const Component::Link wanted{better, worse, Method::kExact};
      const auto at =
          std::lower_bound(component.links.begin(), component.links.end(), wanted, by_rank);
      return at != component.links.end() && at->better == better && at->worse == worse;
    };
    for (auto& survivors : around) {
      std::sort(survivors.begin(), survivors.end());
      const std::size_t anchors = std::min(kMostAnchors, survivors.size());
      for (std::size_t i = 0; i < anchors; ++i) {
        if (states[survivors[i].first] == State::kRemoved) continue;
        for (std::size_t j = i + 1; j < survivors.size(); ++j) {
          const auto [worse, method] = survivors[j];
          const std::uint32_t better = survivors[i].first;
          if (better == worse || states[worse] != State::kOpen || linked(better, worse)) continue;
          KIN_RETURN_IF_ERROR(try_pair(component, better, worse, method, states, removals));
        }
      }
    }
    return Done{};
  }

  Status solve_transitively(const Component& component, std::vector<Removal>& removals) {
    UnionFind joined(component.records.size());
    const auto rank_of = [](std::uint32_t rank) { return record_id(rank); };
    std::vector<Method> methods(component.records.size(), Method::kMinHash);
    for (const Component::Link& link : component.links) {
      if (joined.find(rank_of(link.better)) == joined.find(rank_of(link.worse))) {
        ++counts_.not_needed;
        continue;
      }
      KIN_TRY(const std::optional<double> similarity,
              check(link.method, component.records[link.better], component.records[link.worse]));
      if (!similarity) continue;
      joined.join(rank_of(link.better), rank_of(link.worse));
      methods[link.better] = link.method;
      methods[link.worse] = link.method;
    }
    for (std::uint32_t i = 0; i < component.records.size(); ++i) {
      const std::size_t best = index(joined.find(rank_of(i)));
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

Result<std::vector<Edge>> read_edges(const Spill& spill, std::size_t partition) {
  std::vector<Edge> edges;
  edges.reserve(spill.bytes(partition) / sizeof(Edge));
  KIN_RETURN_IF_ERROR(spill.visit(partition, [&](std::string_view block) {
    for (std::size_t at = 0; at < block.size(); at += sizeof(Edge)) {
      edges.push_back(load_le<Edge>(block.data() + at));
    }
  }));
  return edges;
}

Status solve_partition(std::vector<Edge> edges, const GroupingInput& input, Solver& solver,
                       std::vector<Removal>& removals) {
  const UnionFind& components = input.candidates.components;
  std::sort(edges.begin(), edges.end(), [&](const Edge& x, const Edge& y) {
    return components.root(x.a) < components.root(y.a);
  });
  std::vector<Component> batch;
  std::size_t batch_records = 0;
  for (std::size_t begin = 0; begin < edges.size();) {
    std::size_t end = begin + 1;
    while (end < edges.size() && components.root(edges[end].a) == components.root(edges[begin].a))
      ++end;
    batch.push_back(rank(std::span(edges).subspan(begin, end - begin), input.scan.order));
    batch_records += batch.back().records.size();
    begin = end;
    if (batch_records < kBatchRecords && begin < edges.size()) continue;
    KIN_RETURN_IF_ERROR(solver.solve(batch, removals));
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
  KIN_RETURN_IF_ERROR(
      parallel_for(options.threads, Spill::kPartitions, [&](std::size_t partition) -> Status {
        KIN_TRY(std::vector<Edge> edges, read_edges(*input.candidates.edges, partition));
        if (edges.empty()) return Done{};
        Solver solver(input, options, each, counts);
        std::vector<Removal> removals;
        KIN_RETURN_IF_ERROR(solve_partition(std::move(edges), input, solver, removals));
        const std::lock_guard lock(mutex);
        all.insert(all.end(), removals.begin(), removals.end());
        return Done{};
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

}  // namespace kin::dedup
