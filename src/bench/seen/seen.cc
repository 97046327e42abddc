#include "bench/seen/seen.h"

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "app/progress_line.h"
#include "app/words.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/huge_array.h"
#include "base/memory.h"
#include "bench/measure.h"
#include "bench/seen/engine.h"
#include "bench/seen/ids.h"

namespace kin::bench {
namespace {

namespace fs = std::filesystem;

// Measures the engine's calls alone, without generating ids and checking.
class Stopwatch {
 public:
  void start() { started_ = std::chrono::steady_clock::now(); }
  void stop() { sum_ += std::chrono::steady_clock::now() - started_; }
  double seconds() const { return sum_.count(); }

 private:
  std::chrono::steady_clock::time_point started_;
  std::chrono::duration<double> sum_{0};
};

// Bytes that this process has passed to write(), for any file; 0 where the system does not report
// it.
std::uint64_t bytes_written() {
  auto counters = File::open_to_read("/proc/self/io");
  std::string text(512, '\0');
  if (!counters || !counters->read(text.data(), text.size() - 1).ok()) return 0;
  const std::size_t at = text.find("wchar: ");
  return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at + 7, nullptr, 10);
}

// The run of one engine.
class Course {
 public:
  struct Surroundings {
    const std::atomic<bool>& stop;
    std::atomic<std::uint64_t>& done;  // ids, for the progress line
    fs::path folder;                   // of the engine's files
    std::uint64_t resident_before;
  };

  Course(SeenEngine& engine, const SeenBench& bench, const Surroundings& around)
      : engine_(engine), bench_(bench), around_(around), stream_(bench.seed, bench.repeats) {}

  Result<SeenEngineFigures> run(std::uint64_t ids) {
    figures_.ids = ids;
    const std::uint64_t written_before = bytes_written();
    KIN_RETURN_IF_ERROR(insert_all(ids));
    KIN_TRY(figures_.absent_at_once, median_of(&Course::one_by_one, Kind::kAbsent));
    Stopwatch watch;
    watch.start();
    KIN_RETURN_IF_ERROR(engine_.compact());
    watch.stop();
    figures_.compact_seconds = watch.seconds();
    figures_.written_bytes = bytes_written() - written_before;
    figures_.disk_bytes = bytes_in(around_.folder);
    KIN_TRY(figures_.absent, median_of(&Course::one_by_one, Kind::kAbsent));
    KIN_TRY(figures_.absent_in_batches, median_of(&Course::in_batches, Kind::kAbsent));
    KIN_TRY(figures_.present, median_of(&Course::one_by_one, Kind::kPresent));
    KIN_TRY(figures_.present_in_batches, median_of(&Course::in_batches, Kind::kPresent));
    note_memory();
    return figures_;
  }

 private:
  enum class Kind { kAbsent, kPresent };

  Status insert_all(std::uint64_t ids) {
    std::vector<std::uint64_t> batch(bench_.commit_every);
    std::vector<std::uint8_t> is_new(batch.size());
    std::vector<std::uint8_t> answers(batch.size());
    Stopwatch watch;
    for (std::uint64_t batches = 0; stream_.count() < ids; ++batches) {
      if (around_.stop) return Error{Code::kCancelled, "stopped"};
      const std::size_t size = std::min<std::uint64_t>(batch.size(), ids - stream_.count());
      const std::span some(batch.data(), size);
      const std::span expected(is_new.data(), size);
      const std::span got(answers.data(), size);
      stream_.next(some, expected);
      watch.start();
      KIN_RETURN_IF_ERROR(engine_.insert(some, got));
      watch.stop();
      for (std::size_t i = 0; i < size; ++i) figures_.wrong += got[i] != expected[i];
      figures_.operations += size;
      around_.done = stream_.count();
      if (batches % 64 == 0) note_memory();
    }
    note_memory();
    figures_.insert_seconds = watch.seconds();
    return Done{};
  }

  void note_memory() {
    figures_.memory_bytes = std::max(figures_.memory_bytes, engine_.memory_bytes());
    const std::uint64_t resident = resident_bytes();
    if (resident < around_.resident_before) return;
    figures_.resident_growth =
        std::max(figures_.resident_growth, resident - around_.resident_before);
  }

  std::vector<std::uint64_t> lookups(Kind kind) {
    std::vector<std::uint64_t> ids(std::min(bench_.lookups / 5 + 1, stream_.count()));
    for (std::uint64_t& id : ids)
      // Ids after the last inserted one were never inserted.
      id = kind == Kind::kAbsent ? stream_.id(stream_.count() + absent_++)
                                 : stream_.id(random_.below(stream_.count()));
    return ids;
  }

  // Several rounds: one right after many writes waits for background work they caused.
  Result<double> median_of(Result<double> (Course::*round)(Kind), Kind kind) {
    std::vector<double> seen(5);
    for (double& nanoseconds : seen) {
      KIN_TRY(nanoseconds, (this->*round)(kind));
    }
    return median(std::move(seen));
  }

  Result<double> one_by_one(Kind kind) {
    const std::vector<std::uint64_t> ids = lookups(kind);
    Stopwatch watch;
    watch.start();
    for (const std::uint64_t id : ids) {
      KIN_TRY(const bool found, engine_.contains(id));
      figures_.wrong += found != (kind == Kind::kPresent);
    }
    watch.stop();
    return watch.seconds() * 1e9 / static_cast<double>(ids.size());
  }

  Result<double> in_batches(Kind kind) {
    const std::vector<std::uint64_t> ids = lookups(kind);
    std::vector<std::uint8_t> found(bench_.commit_every);
    Stopwatch watch;
    for (std::size_t begin = 0; begin < ids.size(); begin += found.size()) {
      const std::size_t size = std::min(found.size(), ids.size() - begin);
      const std::span some(ids.data() + begin, size);
      const std::span answers(found.data(), size);
      watch.start();
      KIN_RETURN_IF_ERROR(engine_.contains(some, answers));
      watch.stop();
      for (const std::uint8_t answer : answers)
        figures_.wrong += answer != (kind == Kind::kPresent ? 1 : 0);
    }
    return watch.seconds() * 1e9 / static_cast<double>(ids.size());
  }

  SeenEngine& engine_;
  const SeenBench& bench_;
  Surroundings around_;
  IdStream stream_;
  Random random_{7};
  std::uint64_t absent_ = 0;
  SeenEngineFigures figures_;
};

double memory_read_ns(std::uint64_t bytes) {
  HugeArray<std::uint64_t> words(std::max<std::uint64_t>(1, bytes / sizeof(std::uint64_t)));
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = mix64(i);
  constexpr std::uint64_t kReads = 2'000'000;
  std::uint64_t last = 1;
  Stopwatch watch;
  watch.start();
  for (std::uint64_t i = 0; i < kReads; ++i)
    // Each read waits for the one before, as a look-up does.
    last = mix64(last + i + words[((last >> 32) * words.size()) >> 32]);
  watch.stop();
  // Uses the result, so that the compiler keeps the reads.
  return last == 0 ? 0 : watch.seconds() * 1e9 / static_cast<double>(kReads);
}

using MakeEngine = Result<std::unique_ptr<SeenEngine>> (*)(const SeenEngineOptions&);

struct Contestant {
  const char* name;
  MakeEngine make;
  std::uint64_t ids;
};

Result<std::pair<SeenEngineFigures, std::uint64_t>> let_run(const Contestant& contestant,
                                                            const SeenBench& bench,
                                                            const std::atomic<bool>& stop) {
  KIN_TRY(const TemporaryFolder folder, TemporaryFolder::create(bench.folder));
  ::malloc_trim(0);  // memory of earlier runs must not count
  ::sync();
  SeenEngineOptions options{.folder = folder.path() / contestant.name};
  if (bench.max_memory) {
    KIN_TRY(options.max_memory, parse_bytes(*bench.max_memory));
  }
  std::atomic<std::uint64_t> done{0};
  const app::ProgressLine line(
      [&](double seconds) {
        return fmt::format("{}  {} of {} ids  {} s", contestant.name, app::short_count(done),
                           app::short_count(contestant.ids), static_cast<std::uint64_t>(seconds));
      },
      true);
  const std::uint64_t resident_before = resident_bytes();
  KIN_TRY(const auto engine, contestant.make(options));
  Course course(
      *engine, bench,
      {.stop = stop, .done = done, .folder = options.folder, .resident_before = resident_before});
  KIN_TRY(const SeenEngineFigures figures, course.run(contestant.ids));
  return std::pair(figures, engine->filter_bytes());
}

}  // namespace

Result<SeenFigures> bench_seen(const SeenBench& bench, const std::atomic<bool>& stop) {
  SeenFigures figures;
  figures.repeats = bench.repeats;
  figures.commit_every = bench.commit_every;
  KIN_TRY(const auto seen, let_run({"seen set", make_seen_set_engine, bench.ids}, bench, stop));
  figures.seen = seen.first;
  figures.filter_bytes = seen.second;
  figures.memory_read = memory_read_ns(figures.filter_bytes);
  if (!bench.peer) return figures;
  const std::uint64_t peer_ids = bench.peer_ids > 0 ? bench.peer_ids : bench.ids;
  KIN_TRY(const auto peer, let_run({"RocksDB", make_rocksdb_engine, peer_ids}, bench, stop));
  figures.peer = peer.first;
  figures.peer_settings = kRocksDbSettings;
  return figures;
}

}  // namespace kin::bench
