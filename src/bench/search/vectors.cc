#include "bench/search/vectors.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <numeric>

#include "base/file.h"
#include "base/json_writer.h"
#include "base/random.h"
#include "bench/measure.h"
#include "bench/search/vectors_peer.h"
#include "index/vector_index.h"

namespace kin::bench {
namespace {

using index::VectorIndex;
using index::VectorSearch;
using Figures = VectorsFigures;

constexpr std::size_t kQueries = 1000;
constexpr std::size_t kNeighbours = 10;

struct Vectors {
  std::size_t dimension = 0;
  std::vector<float> base;
  std::vector<float> queries;
  std::vector<std::vector<std::uint32_t>> truth;

  std::size_t size() const { return base.size() / dimension; }
  std::span<const float> row(std::size_t i) const {
    return {base.data() + i * dimension, dimension};
  }
  std::span<const float> query(std::size_t i) const {
    return {queries.data() + i * dimension, dimension};
  }
};

double seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

double allocated() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks) + static_cast<double>(info.hblkhd);
}

Result<std::string> read_set(const VectorsBench& bench, const char* name) {
  Result<std::string> bytes = read_file(bench.folder / name);
  if (bytes) return bytes;
  return with_context("run scripts/setup --bench first", bytes.error());
}

// In random order, so that any prefix is a sample of the whole.
Result<Vectors> read_glove(const VectorsBench& bench, std::size_t most) {
  KIN_TRY(const std::string bytes, read_set(bench, "glove100.f32"));
  Vectors set{.dimension = 100, .base = {}, .queries = {}, .truth = {}};
  std::vector<std::uint32_t> order(bytes.size() / sizeof(float) / set.dimension);
  if (order.size() <= 2 * kQueries) return Error{Code::kDataLoss, "glove100.f32 is too short"};
  std::iota(order.begin(), order.end(), 0U);
  Random random(1);
  shuffle(order, random);
  order.resize(std::min(order.size(), most + kQueries));
  std::vector<float> row(set.dimension);
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::memcpy(row.data(), bytes.data() + order[i] * set.dimension * sizeof(float),
                set.dimension * sizeof(float));
    // Not 0, so that a vector of zeros can be divided by it.
    double square = 1e-30;
    for (const float value : row) square += static_cast<double>(value) * value;
    for (float& value : row) value = static_cast<float>(value / std::sqrt(square));
    auto& target = i < kQueries ? set.queries : set.base;
    target.insert(target.end(), row.begin(), row.end());
  }
  return set;
}

Result<Vectors> read_mnist(const VectorsBench& bench) {
  Vectors set{.dimension = 784, .base = {}, .queries = {}, .truth = {}};
  KIN_TRY(const std::string train, read_set(bench, "mnist-train.idx"));
  KIN_TRY(const std::string test, read_set(bench, "mnist-test.idx"));
  // Four numbers of 32 bits: the kind, the count, and the height and width of an image.
  constexpr std::size_t kHeader = 16;
  if (train.size() <= kHeader || test.size() < kHeader + kQueries * set.dimension)
    return Error{Code::kDataLoss, "the files of MNIST are too short"};
  for (std::size_t i = kHeader; i < train.size(); ++i)
    set.base.push_back(static_cast<float>(static_cast<unsigned char>(train[i])));
  for (std::size_t i = 0; i < kQueries * set.dimension; ++i)
    set.queries.push_back(static_cast<float>(static_cast<unsigned char>(test[kHeader + i])));
  return set;
}

using Allowed = std::function<bool(std::uint32_t)>;

std::vector<std::vector<std::uint32_t>> neighbours(const Vectors& set, std::size_t queries,
                                                   const Allowed& allowed) {
  std::vector<std::vector<std::uint32_t>> result;
  for (std::size_t q = 0; q < queries; ++q) {
    std::vector<std::pair<float, std::uint32_t>> nearest;
    for (std::uint32_t i = 0; i < set.size(); ++i) {
      if (!allowed(i)) continue;
      const float distance = index::exact_distance(index::Distance::kL2, set.query(q), set.row(i));
      // The top of the heap is the farthest of the nearest.
      if (nearest.size() == kNeighbours && distance >= nearest.front().first) continue;
      nearest.emplace_back(distance, i);
      std::push_heap(nearest.begin(), nearest.end());
      if (nearest.size() <= kNeighbours) continue;
      std::pop_heap(nearest.begin(), nearest.end());
      nearest.pop_back();
    }
    std::vector<std::uint32_t> ids;
    for (const auto& [distance, id] : nearest) ids.push_back(id);
    result.push_back(std::move(ids));
  }
  return result;
}

// Runs all queries; best time of the runs.
using Find = std::function<Status(std::span<const float> query, std::vector<std::uint32_t>& found)>;
Result<Figures::Point> measure(const Vectors& set,
                               const std::vector<std::vector<std::uint32_t>>& truth, int runs,
                               const Find& find) {
  Figures::Point point;
  double best = 1e30;
  std::vector<std::uint32_t> found;
  for (int run = 0; run < runs; ++run) {
    std::size_t hits = 0;
    std::size_t wanted = 0;
    const double start = seconds();
    for (std::size_t q = 0; q < truth.size(); ++q) {
      KIN_RETURN_IF_ERROR(find(set.query(q), found));
      for (const std::uint32_t id : truth[q]) hits += std::ranges::count(found, id) != 0 ? 1 : 0;
      wanted += truth[q].size();
    }
    // Slower runs were disturbed.
    best = std::min(best, seconds() - start);
    point.recall = static_cast<double>(hits) / static_cast<double>(wanted);
  }
  point.queries = static_cast<double>(truth.size()) / best;
  return point;
}

// Queries per second at a recall between two measured ones; the logarithm is nearly linear.
double at_recall(const std::vector<Figures::Point>& points, double aim) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].recall < aim) continue;
    if (i == 0) return points[0].queries;
    const Figures::Point& a = points[i - 1];
    const Figures::Point& b = points[i];
    const double part = (aim - a.recall) / (b.recall - a.recall);
    return std::exp((1 - part) * std::log(a.queries) + part * std::log(b.queries));
  }
  return 0;
}

// Lends the vectors of the set, as a shard lends those of its store.
class Lender : public index::RawVectors {
 public:
  explicit Lender(const Vectors& set) : set_(set) {}
  Result<bool> read(std::uint32_t id, std::span<float> out) const override {
    if (id >= set_.size()) return false;
    std::ranges::copy(set_.row(id), out.begin());
    return true;
  }

 private:
  const Vectors& set_;
};

Find finder(const VectorIndex& index, const VectorSearch& how) {
  return [&index, how](std::span<const float> query, std::vector<std::uint32_t>& found) -> Status {
    KIN_TRY(const auto hits, index.search(query, how));
    found.clear();
    for (const auto& hit : hits) found.push_back(hit.id);
    return Done{};
  };
}

Result<std::unique_ptr<VectorIndex>> build(const Vectors& set, const Lender& lender,
                                           const VectorsBench& bench, Figures::Set& figures) {
  const double before = allocated();
  const double start = seconds();
  KIN_TRY(std::unique_ptr<VectorIndex> index,
          VectorIndex::create({.space = {.dimension = figures.dimension,
                                         .distance = index::Distance::kL2,
                                         .storage = index::RawStorage::kElsewhere,
                                         .bits = static_cast<std::uint8_t>(figures.bits)},
                               .raw = &lender,
                               .cell_size = bench.cell_size}));
  for (std::uint32_t i = 0; i < set.size(); ++i) KIN_RETURN_IF_ERROR(index->insert(i, set.row(i)));
  // Nothing is inserted any more, so waiting for a quiet moment would only cost time.
  for (std::optional<SteadyTime> now = SteadyTime{}; now;) {
    KIN_TRY(const StepOutcome outcome, index->step(*now));
    now = outcome.next(*now);
  }
  figures.ours.build_seconds = seconds() - start;
  // Memory that was freed before and reused does not show in the difference.
  const double bytes = std::max(allocated() - before, static_cast<double>(index->stats().bytes));
  figures.ours.bytes = bytes / static_cast<double>(set.size());
  return index;
}

Status sweep_ours(const Vectors& set, const VectorIndex& index, int runs, Figures::Set& figures) {
  const std::uint32_t cells = index.stats().cells;
  for (double share = 0.004; share < 0.6; share *= 1.3) {
    const auto probes = static_cast<std::uint32_t>(std::ceil(share * cells));
    VectorSearch how;
    how.probes = probes;
    KIN_TRY(Figures::Point point, measure(set, set.truth, runs, finder(index, how)));
    point.effort = probes;
    figures.ours.points.push_back(point);
    if (point.recall > figures.aim + 0.01) break;
  }
  figures.ours.queries = at_recall(figures.ours.points, figures.aim);
  KIN_TRY(figures.by_default, measure(set, set.truth, runs, finder(index, {})));
  return Done{};
}

Status sweep_filters(const Vectors& set, const VectorIndex& index, Figures::Set& figures) {
  for (const double share : {0.5, 0.1, 0.01, 0.001}) {
    Random random(7);
    std::vector<std::uint32_t> ids;
    for (std::uint32_t i = 0; i < set.size(); ++i)
      if (random.unit() < share) ids.push_back(i);
    const index::IdFilter filter = index::IdFilter::of(ids);
    const auto truth = neighbours(set, 200, [&](std::uint32_t id) { return filter.contains(id); });
    VectorSearch how;
    how.filter = &filter;
    KIN_TRY(const Figures::Point point, measure(set, truth, 1, finder(index, how)));
    figures.filtered.push_back({share, point.recall, point.queries});
  }
  return Done{};
}

Status measure_peer(const Vectors& set, int runs, Figures::Set& figures) {
  Figures::Engine engine;
  const double before = allocated();
  const double start = seconds();
  KIN_TRY(const std::unique_ptr<HnswPeer> peer, HnswPeer::build(set.base, set.dimension));
  engine.build_seconds = seconds() - start;
  engine.bytes = (allocated() - before) / static_cast<double>(set.size());
  for (std::uint32_t ef = 10; ef < 2000; ef = ef * 5 / 4 + 1) {
    const Find find = [&](std::span<const float> query,
                          std::vector<std::uint32_t>& found) -> Status {
      peer->search(query.data(), kNeighbours, ef, found);
      return Done{};
    };
    KIN_TRY(Figures::Point point, measure(set, set.truth, runs, find));
    point.effort = ef;
    engine.points.push_back(point);
    if (point.recall > figures.aim + 0.01) break;
  }
  engine.queries = at_recall(engine.points, figures.aim);
  figures.peer = std::move(engine);
  return Done{};
}

Result<Figures::Set> measure_set(const VectorsBench& bench, const std::string& name) {
  const bool mnist = name == "mnist";
  Result<Vectors> read =
      mnist ? read_mnist(bench) : read_glove(bench, name == "glove" ? 100'000 : ~0U);
  if (!read) return read.error();
  Vectors& set = *read;
  set.truth = neighbours(set, kQueries, [](std::uint32_t) { return true; });
  Figures::Set figures{.name = name,
                       .vectors = set.size(),
                       .dimension = static_cast<std::uint32_t>(set.dimension),
                       .bits = bench.bits != 0 ? bench.bits : (mnist ? 6U : 7U),
                       .aim = mnist ? 0.97 : 0.95,
                       .ours = {},
                       .peer = {},
                       .by_default = {},
                       .filtered = {}};
  const Lender lender(set);
  KIN_TRY(const std::unique_ptr<VectorIndex> index, build(set, lender, bench, figures));
  KIN_RETURN_IF_ERROR(sweep_ours(set, *index, bench.runs, figures));
  if (name != "glove-all") KIN_RETURN_IF_ERROR(sweep_filters(set, *index, figures));
  if (bench.peer && name != "glove-all")
    KIN_RETURN_IF_ERROR(measure_peer(set, bench.runs, figures));
  return figures;
}

void add_engine(JsonWriter& json, const char* name, const Figures::Engine& engine) {
  json.key(name).begin_object().field("queries_per_second", engine.queries);
  json.field("bytes_per_vector", engine.bytes).field("build_seconds", engine.build_seconds);
  json.key("points").begin_array();
  for (const Figures::Point& point : engine.points) {
    json.begin_object().field("effort", std::uint64_t{point.effort}).field("recall", point.recall);
    json.field("queries_per_second", point.queries).end();
  }
  json.end().end();
}

std::string engine_line(const char* name, const Figures::Engine& engine) {
  return fmt::format("    {:<10}{:>10.0f} queries/s{:>9.1f} bytes a vector, built in {:.1f} s\n",
                     name, engine.queries, engine.bytes, engine.build_seconds);
}

}  // namespace

Result<VectorsFigures> bench_vectors(const VectorsBench& bench) {
  VectorsFigures figures;
  for (const std::string& name : bench.sets) {
    KIN_TRY(Figures::Set set, measure_set(bench, name));
    figures.sets.push_back(std::move(set));
  }
  return figures;
}

std::string to_json(const VectorsFigures& figures) {
  JsonWriter json(2);
  json.begin_object().field("bench", "vectors").key("sets").begin_array();
  for (const Figures::Set& set : figures.sets) {
    json.begin_object().field("name", set.name).field("vectors", set.vectors);
    json.field("dimension", std::uint64_t{set.dimension}).field("bits", std::uint64_t{set.bits});
    json.field("recall", set.aim);
    add_engine(json, "kindred", set.ours);
    if (set.peer) add_engine(json, "hnswlib", *set.peer);
    json.field("default_recall", set.by_default.recall);
    json.field("default_queries_per_second", set.by_default.queries);
    json.key("filtered").begin_array();
    for (const Figures::Filtered& filtered : set.filtered) {
      json.begin_object().field("share", filtered.share).field("recall", filtered.recall);
      json.field("queries_per_second", filtered.queries).end();
    }
    json.end().end();
  }
  return json.end().end().take();
}

std::string to_table(const VectorsFigures& figures) {
  std::string table;
  for (const Figures::Set& set : figures.sets) {
    table += fmt::format("{}: {} vectors of {} dimensions, {} bits; recall@10 of {}, one thread\n",
                         set.name, set.vectors, set.dimension, set.bits, set.aim);
    table += engine_line("kindred", set.ours);
    if (set.peer) {
      table += engine_line("hnswlib", *set.peer);
      table += fmt::format("    {:.2f} times the speed in {:.3f} of the memory\n",
                           set.ours.queries / set.peer->queries, set.ours.bytes / set.peer->bytes);
    }
    table += fmt::format("    without options: recall {:.4f}, {:.0f} queries/s\n",
                         set.by_default.recall, set.by_default.queries);
    for (const Figures::Filtered& filtered : set.filtered)
      table += fmt::format("    filter that keeps {:>5}: recall {:.4f}, {:.0f} queries/s\n",
                           fmt::format("{:g} %", 100 * filtered.share), filtered.recall,
                           filtered.queries);
    table += "\n";
  }
  return table;
}

}  // namespace kin::bench
