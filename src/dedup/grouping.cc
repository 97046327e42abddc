#include "dedup/grouping.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "base/bytes.h"
#include "base/workers.h"
#include "dedup/shared_keys.h"
#include "dedup/similarity.h"

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
    float similarity;
    Method method;
  };
  std::vector<RecordId> records;  // by rank
  std::vector<Link> links;        // by better, worse, method
};

Component rank(std::span<const Edge> edges, const KeepOrder& order) {
  Component component;
  std::vector<RecordId> sorted;
  for (const Edge& edge : edges) {
    sorted.push_back(edge.a);
    sorted.push_back(edge.b);
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
    component.links.push_back({better, worse, edge.similarity, edge.method});
  }
  std::sort(component.links.begin(), component.links.end(), [](const auto& x, const auto& y) {
    return std::tie(x.better, x.worse, x.method) < std::tie(y.better, y.worse, y.method);
  });
  return component;
}

// Solves components, on one thread.
class Solver {
 public:
  Solver(const GroupingInput& input, const DedupOptions& options, std::uint64_t memory,
         GroupCounts& counts)
      : options_(options),
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

  // The similarity of a pair that holds; nothing if it does not.
  Result<std::optional<float>> check(const Component& component, const Component::Link& link) {
    if (link.method == Method::kSimHash || options_.verification == Verification::kEstimate) {
      ++counts_.verified;
      return std::optional(link.similarity);
    }
    KIN_TRY(const double exact,
            similarity_.between(component.records[link.better], component.records[link.worse]));
    const bool holds = options_.verification == Verification::kNone || exact >= options_.threshold;
    ++(holds ? counts_.verified : counts_.below_threshold);
    if (!holds) return std::optional<float>();
    return std::optional(static_cast<float>(exact));
  }

  // Best record first: if it still stays, it stays for good, and takes with it all those that are
  // verified duplicates of it.
  Status solve_star(const Component& component, std::vector<Removal>& removals) {
    std::vector<bool> removed(component.records.size());
    for (const Component::Link& link : component.links) {
      if (removed[link.better] || removed[link.worse]) {
        ++counts_.not_needed;
        continue;
      }
      KIN_TRY(const std::optional<float> similarity, check(component, link));
      if (!similarity) continue;
      removed[link.worse] = true;
      removals.push_back({component.records[link.worse], component.records[link.better],
                          *similarity, link.method});
    }
    return Done{};
  }

  Status solve_transitively(const Component& component, std::vector<Removal>& removals) {
    UnionFind joined(component.records.size());
    const auto rank_of = [](std::uint32_t rank) { return RecordId(rank); };
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<float, Method>> direct;
    std::vector<Method> methods(component.records.size(), Method::kMinHash);
    for (const Component::Link& link : component.links) {
      if (joined.find(rank_of(link.better)) == joined.find(rank_of(link.worse))) {
        ++counts_.not_needed;
        continue;
      }
      KIN_TRY(const std::optional<float> similarity, check(component, link));
      if (!similarity) continue;
      joined.join(rank_of(link.better), rank_of(link.worse));
      methods[link.worse] = link.method;
      direct.emplace(std::pair(link.better, link.worse), std::pair(*similarity, link.method));
    }
    for (std::uint32_t i = 0; i < component.records.size(); ++i) {
      const auto best = static_cast<std::uint32_t>(index(joined.find(rank_of(i))));
      if (best == i) continue;
      Removal removal{component.records[i], component.records[best], 0, methods[i]};
      const auto known = direct.find({best, i});
      if (known != direct.end()) {
        std::tie(removal.similarity, removal.method) = known->second;
      } else if (needs_texts()) {
        KIN_TRY(const double exact, similarity_.between(removal.kept, removal.record));
        removal.similarity = static_cast<float>(exact);
      }
      removals.push_back(removal);
    }
    return Done{};
  }

  const DedupOptions& options_;
  ExactSimilarity similarity_;
  GroupCounts& counts_;
};

std::vector<Edge> decode_edges(std::string_view bytes) {
  std::vector<Edge> edges(bytes.size() / sizeof(Edge));
  for (std::size_t i = 0; i < edges.size(); ++i)
    edges[i] = load_le<Edge>(bytes.data() + i * sizeof(Edge));
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
    batch.push_back(rank(std::span(edges).subspan(begin, end - begin), input.order));
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
        KIN_TRY(const std::string bytes, input.candidates.edges->read(partition));
        if (bytes.empty()) return Done{};
        Solver solver(input, options, each, counts);
        std::vector<Removal> removals;
        KIN_RETURN_IF_ERROR(solve_partition(decode_edges(bytes), input, solver, removals));
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
  std::vector<Removal> all;
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
