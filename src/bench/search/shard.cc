#include "bench/search/shard.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>
#include <thread>

#include "base/file.h"
#include "base/json_writer.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/workers.h"
#include "bench/measure.h"
#include "index/shard.h"

namespace kin::bench {
namespace {

using index::Shard;
using index::ShardOptions;
using Figures = ShardFigures;
namespace fs = std::filesystem;

constexpr std::uint32_t kDimension = 100;
constexpr std::size_t kSlices = 10;
constexpr std::uint64_t kVocabulary = 50'000;
// Stored bytes of one entity, its vector and its edges, without its text.
constexpr std::uint64_t kOverhead = 1'100;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

ShardOptions shard_options(const ShardBench& bench) {
  ShardOptions options;
  index::SpaceOptions space;
  space.space.dimension = kDimension;
  options.spaces = {space};
  if (bench.near_duplicates) options.near_duplicates.emplace();
  return options;
}

// Entities by number, the same every time.
class Source {
 public:
  explicit Source(const ShardBench& bench) : words_(bench.words) {
    for (std::uint64_t i = 0; i < kVocabulary; ++i) vocabulary_.push_back(word(i));
    const auto read = read_file(bench.vectors / "glove100.f32");
    if (read.ok()) vectors_ = *read;
  }

  bool has_vectors() const { return !vectors_.empty(); }

  void add(std::uint64_t number, std::vector<index::Mutation>& mutations) const {
    Random random(number);
    index::Entity entity;
    entity.key = fmt::format("{}", number);
    entity.id = doc_id_of("bench", entity.key);
    entity.source = "bench";
    entity.title = text(random, 6);
    entity.text = text(random, words_);
    entity.tags = {vocabulary_[number % 50]};
    entity.vectors = {{"main", vector(number)}};
    for (int i = 0; i < 2; ++i) {
      index::Edge edge;
      const std::uint64_t other = random.below(number + 1);
      edge.id = {.from = entity.id,
                 .name = i == 0 ? "cites" : "mentions",
                 .to = doc_id_of("bench", fmt::format("{}", other))};
      mutations.emplace_back(index::PutEdge{.edge = std::move(edge)});
    }
    mutations.emplace_back(index::PutEntity{.entity = std::move(entity)});
  }

  std::vector<float> vector(std::uint64_t number) const {
    std::vector<float> values(kDimension);
    const std::uint64_t rows = vectors_.size() / (kDimension * sizeof(float));
    if (rows > 0) {
      // Not in the order of the file, in which words are sorted by frequency.
      const std::uint64_t row = number * 7'919 % rows;
      std::memcpy(values.data(), vectors_.data() + row * kDimension * sizeof(float),
                  kDimension * sizeof(float));
      // One of the vectors is zero and has no direction.
      if (std::ranges::any_of(values, [](float value) { return value != 0; })) return values;
    }
    Random random(number + 1'000'000'007);
    for (float& value : values) value = static_cast<float>(random.unit() - 0.5);
    return values;
  }

 private:
  static std::string word(std::uint64_t number) {
    static constexpr std::array<const char*, 16> kSyllables{"ba",  "ten", "ri", "mo", "sal", "ve",
                                                            "ku",  "din", "lo", "ga", "per", "ni",
                                                            "tra", "su",  "el", "co"};
    std::string made;
    for (number += 16; number > 0; number /= 16) made += kSyllables[number % 16];
    return made;
  }

  // Zipf's law: the n-th most frequent word occurs 1/n as often as the first.
  std::string text(Random& random, std::uint32_t words) const {
    std::string made;
    for (std::uint32_t i = 0; i < words; ++i) {
      const double rank = std::exp(random.unit() * std::log(static_cast<double>(kVocabulary)));
      made += vocabulary_[static_cast<std::size_t>(rank) - 1];
      made += i % 12 == 11 ? ". " : " ";
    }
    return made;
  }

  std::uint32_t words_;
  std::vector<std::string> vocabulary_;
  std::string vectors_;
};

// Batches per second of writing and syncing `bytes` each.
Result<double> device_limit(const fs::path& folder, std::uint64_t bytes) {
  constexpr int kBatches = 40;
  KIN_TRY(File file, File::create(folder / "limit"));
  const std::string batch(bytes, 'x');
  const double begin = now();
  for (int i = 0; i < kBatches; ++i) {
    KIN_RETURN_IF_ERROR(file.write(batch));
    KIN_RETURN_IF_ERROR(file.sync());
  }
  const double limit = kBatches / (now() - begin);
  fs::remove(folder / "limit");
  return limit;
}

// The report of the child.
struct Told {
  std::array<Figures::Slice, kSlices> slices{};
  std::uint64_t pending = 0;
  double peak_bytes = 0;
  bool real_vectors = false;
  bool done = false;
};

// The time that the source takes to make entities is not counted.
Result<Figures::Slice> fill_slice(Shard& shard, const Source& source, const ShardBench& bench,
                                  std::uint64_t from, std::uint64_t to) {
  Figures::Slice slice{.entities = to};
  double passed = 0;
  double used = 0;
  std::vector<index::Mutation> mutations;
  for (std::uint64_t at = from; at < to;) {
    mutations.clear();
    for (std::uint64_t i = 0; i < bench.batch && at < to; ++i) source.add(at++, mutations);
    const double start = now();
    const double processor = thread_seconds();
    KIN_TRY(const index::Applied applied, shard.apply(mutations));
    used += thread_seconds() - processor;
    const double took = now() - start;
    passed += took;
    slice.worst_milliseconds = std::max(slice.worst_milliseconds, 1e3 * took);
  }
  slice.inserts = static_cast<double>(to - from) / passed;
  slice.processor = 1e6 * used / static_cast<double>(to - from);
  return slice;
}

// Inserts per second into an empty shard without background work: the current speed of the machine.
// Neighbours on shared machines change it by half within a minute.
Result<double> empty_shard(const fs::path& folder, const Source& source, const ShardBench& bench) {
  constexpr std::uint64_t kEntities = 3'000;
  Result<double> inserts = 0.0;
  {
    KIN_TRY(const auto shard, Shard::open(folder / "empty", shard_options(bench)));
    KIN_TRY(const Figures::Slice slice, fill_slice(*shard, source, bench, 0, kEntities));
    inserts = slice.inserts;
  }
  fs::remove_all(folder / "empty");
  return inserts;
}

Status measure_limits(const fs::path& folder, const Source& source, const ShardBench& bench,
                      Figures::Slice& slice) {
  KIN_TRY(const double limit, device_limit(folder, bench.batch * (kOverhead + bench.words * 9)));
  slice.limit = limit * static_cast<double>(bench.batch);
  KIN_TRY(slice.empty, empty_shard(folder, source, bench));
  return Done{};
}

Result<Told> fill(const fs::path& folder, const ShardBench& bench) {
  const Source source(bench);
  KIN_TRY(const auto shard, Shard::open(folder / "shard", shard_options(bench)));
  std::atomic<bool> done = false;
  std::mutex stepping;  // held for a step, and while the machine is measured
  Status stepped = Done{};
  std::thread stepper([&] {
    give_way();
    while (!done) {
      std::unique_lock lock(stepping);
      const auto did = shard->step();
      lock.unlock();
      if (!did.ok()) {
        stepped = did.error();
        return;
      }
      // Without a pause the other thread might never get the lock.
      std::this_thread::sleep_for(std::chrono::microseconds(did->did_work() ? 10 : 1'000));
    }
  });
  Told told{.real_vectors = source.has_vectors()};
  Status filled = Done{};
  for (std::size_t i = 0; i < kSlices && filled.ok(); ++i) {
    auto slice = fill_slice(*shard, source, bench, bench.entities * i / kSlices,
                            bench.entities * (i + 1) / kSlices);
    if (slice.ok()) {
      told.slices[i] = *slice;
      const std::lock_guard lock(stepping);
      filled = measure_limits(folder, source, bench, told.slices[i]);
    } else {
      filled = slice.error();
    }
  }
  done = true;
  stepper.join();
  KIN_RETURN_IF_ERROR(filled);
  KIN_RETURN_IF_ERROR(stepped);
  told.peak_bytes = static_cast<double>(peak_resident_bytes());
  told.pending = shard->stats().spaces[0].vectors.pending;
  told.done = true;
  return told;
}

// Runs in a process that is killed with everything still open. The process is started before this
// one has any threads.
Result<Told> fill_and_kill(const fs::path& folder, const ShardBench& bench) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return system_error("make a pipe in", folder, errno);
  const pid_t child = fork();
  if (child < 0) return system_error("start a process for", folder, errno);
  if (child == 0) {
    close(ends[0]);
    const auto told = fill(folder, bench);
    if (told.ok() && write(ends[1], &*told, sizeof *told) == sizeof *told) kill(getpid(), SIGKILL);
    if (!told.ok()) fmt::print(stderr, "{}\n", told.error().message);
    _exit(1);
  }
  close(ends[1]);
  Told told;
  const ssize_t got = read(ends[0], &told, sizeof told);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (got == sizeof told && told.done) return told;
  return Error{Code::kInternal, "the shard could not be filled"};
}

Status reopen(const fs::path& folder, const ShardBench& bench, Figures& figures) {
  const std::vector<float> query = Source(bench).vector(bench.entities / 2);
  const double begin = now();
  KIN_TRY(const auto shard, Shard::open(folder / "shard", shard_options(bench)));
  const index::ShardView view = shard->view();
  KIN_TRY(const auto parsed, index::parse_query("ba ten rimo", view.text().options()));
  KIN_TRY(const auto texts, view.text().search(parsed));
  KIN_TRY(const auto* space, view.space(""));
  KIN_TRY(const auto vectors, view.nearest(*space, query, {}));
  figures.reopen_seconds = now() - begin;
  if (texts.hits.empty() || vectors.empty() || view.truth().counters().entities != bench.entities)
    return Error{Code::kInternal, "the shard does not answer as it should"};
  const index::ShardStats stats = shard->stats();
  figures.replayed = stats.last_lsn - stats.checkpoint_lsn;
  figures.steady_bytes = static_cast<double>(resident_bytes());
  return Done{};
}

}  // namespace

Result<ShardFigures> bench_shard(const ShardBench& bench) {
  KIN_TRY(const TemporaryFolder work, TemporaryFolder::create(bench.folder));
  Figures figures;
  figures.bench = bench;
  KIN_TRY(const Told told, fill_and_kill(work.path(), bench));
  figures.slices.assign(told.slices.begin(), told.slices.end());
  figures.pending = told.pending;
  figures.peak_bytes = told.peak_bytes;
  figures.real_vectors = told.real_vectors;
  figures.disk_bytes = static_cast<double>(bytes_in(work.path()));
  KIN_RETURN_IF_ERROR(reopen(work.path(), bench, figures));
  return figures;
}

std::string to_json(const ShardFigures& figures) {
  JsonWriter json(2);
  json.begin_object().field("bench", "shard").field("entities", figures.bench.entities);
  json.field("batch", figures.bench.batch).field("real_vectors", figures.real_vectors);
  json.key("slices").begin_array();
  for (const Figures::Slice& slice : figures.slices) {
    json.begin_object().field("entities", slice.entities);
    json.field("inserts_per_second", slice.inserts).field("limit_per_second", slice.limit);
    json.field("empty_shard_per_second", slice.empty);
    json.field("processor_microseconds", slice.processor);
    json.field("worst_batch_milliseconds", slice.worst_milliseconds).end();
  }
  json.end();
  json.field("pending_vectors", figures.pending);
  json.field("reopen_seconds", figures.reopen_seconds).field("replayed", figures.replayed);
  json.field("resident_bytes", figures.steady_bytes).field("peak_bytes", figures.peak_bytes);
  return json.field("disk_bytes", figures.disk_bytes).end().take();
}

std::string to_table(const ShardFigures& figures) {
  std::string table = fmt::format(
      "{} entities with a vector of {} numbers{}, {} words and two edges, in durable batches of "
      "{}\n",
      figures.bench.entities, kDimension, figures.real_vectors ? " (GloVe)" : "",
      figures.bench.words, figures.bench.batch);
  for (const Figures::Slice& slice : figures.slices)
    table += fmt::format(
        "    to {:>8}: {:>6.0f} inserts/s, {:.2f} of an empty shard's (device {:>7.0f}), {:.0f} µs "
        "of the writer's processor, a batch at most {:.0f} ms\n",
        slice.entities, slice.inserts, slice.inserts / slice.empty, slice.limit, slice.processor,
        slice.worst_milliseconds);
  const Figures::Slice& first = figures.slices.front();
  const Figures::Slice& last = figures.slices.back();
  table += fmt::format(
      "    the last tenth runs at {:.2f} of the first, as the machine was; {:.2f} measured by "
      "empty "
      "shards\n",
      last.inserts / first.inserts, last.inserts / last.empty / (first.inserts / first.empty));
  table += fmt::format("    vectors that still waited for their cell: {}\n", figures.pending);
  table += fmt::format("    after a kill: first answers in {:.2f} s, {} changes replayed\n",
                       figures.reopen_seconds, figures.replayed);
  table += fmt::format("    memory: {} after opening, {} at most while filled; disk: {}\n",
                       format_bytes(static_cast<std::uint64_t>(figures.steady_bytes)),
                       format_bytes(static_cast<std::uint64_t>(figures.peak_bytes)),
                       format_bytes(static_cast<std::uint64_t>(figures.disk_bytes)));
  return table;
}

}  // namespace kin::bench
